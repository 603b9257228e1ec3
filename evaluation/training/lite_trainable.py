"""lite-dual as the trainer wants it: frozen towers with trained projections, and adapters on the text tower if asked for."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from evaluation.decoding import DecodedInput
from evaluation.embedders.dual_encoder import DualEncoder
from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.lite_dual import LiteDualTowers, build_lite_dual
from evaluation.embedders.lite_towers import TEXT_FEATURES, FrozenTowers, pooled_text
from evaluation.embedders.protocol import Embedder
from evaluation.inputs import EmbeddingInput
from evaluation.training.adapters import AdapterSettings, add_adapter
from evaluation.training.features import FeatureTable, images_of, parts_of_text
from evaluation.training.lite_network import Projections
from evaluation.training.remembered import KnownFeatures, RememberingTowers
from evaluation.training.trainable import Tensors
from evaluation.vocabulary import EmbedderFamily

TEXT_TOWER_MODULES = ("query", "key", "value")


class LiteTrainable:
    """A mean of parts, as the loaded model embeds: images and texts through their towers and maps, each of unit length.

    Features of frozen towers are looked up. With an adapter on the text tower, texts go through it each time.
    """

    def __init__(
        self,
        towers: FrozenTowers,
        table: FeatureTable,
        projections: Projections,
        *,
        facts: Mapping[str, Any],
        text_adapter: AdapterSettings | None = None,
        seed: int = 0,
        known: KnownFeatures | None = None,
    ) -> None:
        """`facts` go to the saved config.json, `seed` is of the adapter's start, `known` are features so far."""
        self._towers = towers
        self._table = table
        self._known = KnownFeatures() if known is None else known
        self._facts = facts
        self._adapted = None if text_adapter is None else add_adapter(towers.text_network, text_adapter, seed=seed)
        self.network = torch.nn.ModuleDict({"projections": projections})
        if self._adapted is not None:
            self.network["text_tower"] = self._adapted
        self._projections = projections
        self._image_rows = torch.from_numpy(table.image_rows)
        self._text_rows = torch.from_numpy(table.text_rows)

    @property
    def dimension(self) -> int:
        """Of the text tower's space."""
        return TEXT_FEATURES

    def read(self, item: EmbeddingInput) -> DecodedInput:
        """Without its images, whose features are known."""
        return DecodedInput(item)

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """Tokens of each text where the text tower is trained; features that are looked up count as one."""
        if self._adapted is None:
            return [1] * len(batch)
        return [max(count, 1) for count in self._towers.token_counts([decoded.source.text for decoded in batch])]

    def tensors(self, batch: Sequence[DecodedInput]) -> Tensors:
        """Features or tokens of the parts, and the input to which each belongs."""
        items = [decoded.source for decoded in batch]
        shown = [(row, self._table.images[images_of(item)]) for row, item in enumerate(items) if item.images]
        read = [(row, text) for row, item in enumerate(items) for text in parts_of_text(item)]
        texts = {text: number for number, text in enumerate(dict.fromkeys(text for _, text in read))}
        tensors = {
            "inputs": torch.arange(len(items)),
            "images": self._image_rows[[number for _, number in shown]],
            "image_owners": _whole([row for row, _ in shown]),
            "text_numbers": _whole([texts[text] for _, text in read]),
            "text_owners": _whole([row for row, _ in read]),
        }
        if self._adapted is None:
            tensors["texts"] = self._text_rows[[self._table.texts[text] for text in texts]]
        elif texts:
            tensors["ids"], tensors["mask"] = self._towers.tokenized(list(texts))
        return tensors

    def vectors(self, tensors: Tensors) -> torch.Tensor:
        """Unit-length means of the parts."""
        rows = torch.zeros(len(tensors["inputs"]), TEXT_FEATURES, device=tensors["inputs"].device)
        if len(tensors["images"]):
            rows = rows.index_add(0, tensors["image_owners"], self._projections.images(tensors["images"]))
        if len(tensors["text_numbers"]):
            features = (
                tensors["texts"]
                if self._adapted is None
                else pooled_text(self._adapted, tensors["ids"], tensors["mask"])
            )
            rows = rows.index_add(0, tensors["text_owners"], self._projections.texts(features)[tensors["text_numbers"]])
        return torch.nn.functional.normalize(rows, dim=1)

    def embedder(self) -> Embedder:
        """The model as it would be loaded."""
        image, text = self._projections.exported()
        config = encode_config(EmbedderFamily.LITE_DUAL)
        # Texts go through what was learned of their tower, so what it said of them is no longer so.
        known = self._known if self._adapted is None else KnownFeatures(images=self._known.images)
        towers = RememberingTowers(self._merged(), known)
        return DualEncoder(LiteDualTowers(towers, image_projection=image, text_projection=text, config=config))

    def save(self, folder: Path) -> None:
        """A whole lite-dual repository but for its card."""
        image, text = self._projections.exported()
        build_lite_dual(
            folder, towers=self._merged(), image_projection=image, text_projection=text, training=self._facts
        )

    def _merged(self) -> FrozenTowers:
        """The towers, with what was learned in the text tower's weights."""
        if self._adapted is None:
            return self._towers
        return replace(self._towers, text_network=copy.deepcopy(self._adapted).merge_and_unload().eval())


def _whole(numbers: Sequence[int]) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int64)
