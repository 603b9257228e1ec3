"""The two frozen towers of lite-dual: EfficientNet-Lite0 for images and all-MiniLM-L6-v2 for texts.

Both are small enough for a CPU and pretrained on everyday data; what makes them one space is trained on top.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from efficientnet_lite_pytorch import EfficientNet
from PIL import Image
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from evaluation.embedders.loading import count_parameters, loading_faults
from evaluation.embedders.packaged import efficientnet_file, minilm_folder
from evaluation.embedders.safety.repository import read_object
from evaluation.types import FloatMatrix

IMAGE_FEATURES = 1280
TEXT_FEATURES = 384

_IMAGE_SIZE = 224
_IMAGE_MEAN, _IMAGE_SCALE = 127.0, 128.0
_MAX_TOKENS = 256
# Few images with their channels innermost: several times faster on a CPU than large batches in torch's usual layout.
_IMAGES_AT_ONCE = 4
_TEXTS_AT_ONCE = 64
_CLASSIFIER = "_fc."


@dataclass(frozen=True, slots=True)
class FrozenTowers:
    """Both networks in evaluation mode, and the tokenizer, as loaded on one device."""

    image_network: Any
    text_network: Any
    tokenizer: Tokenizer
    device: str

    @property
    def parameters(self) -> int:
        """How many numbers both networks hold, without ImageNet's classifier, which is not used."""
        classifier = count_parameters(self.image_network._fc)  # noqa: SLF001 - the package has no public name for it
        return count_parameters(self.image_network) + count_parameters(self.text_network) - classifier

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit-length features of RGB images, shape (len(images), 1280), float32."""
        rows = np.empty((len(images), IMAGE_FEATURES), dtype=np.float32)
        for start in range(0, len(images), _IMAGES_AT_ONCE):
            pixels = torch.from_numpy(np.stack([_pixels(image) for image in images[start : start + _IMAGES_AT_ONCE]]))
            pixels = pixels.to(self.device, memory_format=torch.channels_last)
            maps = self.image_network.extract_features(pixels)
            features = torch.nn.functional.normalize(maps.mean(dim=(2, 3)), dim=1)
            rows[start : start + len(pixels)] = features.cpu().numpy()
        return rows

    @torch.inference_mode()
    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Unit-length features of texts, shape (len(texts), 384), float32; texts are cut at 256 tokens."""
        rows = np.empty((len(texts), TEXT_FEATURES), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            tokens, mask = self.tokenized(texts[start : start + _TEXTS_AT_ONCE])
            features = pooled_text(self.text_network, tokens.to(self.device), mask.to(self.device))
            rows[start : start + len(tokens)] = features.cpu().numpy()
        return rows

    def tokenized(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids and mask of texts, each (len(texts), longest), on the CPU."""
        encoded = self.tokenizer.encode_batch(list(texts))
        ids = torch.tensor([entry.ids for entry in encoded])
        return ids, torch.tensor([entry.attention_mask for entry in encoded])

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with its marks, after the cut at 256."""
        counts: list[int] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            encoded = self.tokenizer.encode_batch(list(texts[start : start + _TEXTS_AT_ONCE]))
            counts.extend(sum(entry.attention_mask) for entry in encoded)
        return counts

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text with its marks is longer than 256 tokens."""
        return [bool(entry.overflowing) for entry in self.tokenizer.encode_batch(list(texts))]

    def image_weights(self) -> dict[str, torch.Tensor]:
        """The image network's tensors by name, without the classifier."""
        weights = self.image_network.state_dict()
        return {name: tensor for name, tensor in weights.items() if not name.startswith(_CLASSIFIER)}

    def text_weights(self) -> dict[str, torch.Tensor]:
        """The text network's tensors by name."""
        return dict(self.text_network.state_dict())


def pooled_text(network: Any, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Unit-length means of the last layer over the tokens of each text; (texts, longest) to (texts, 384)."""
    states = network(input_ids=tokens, attention_mask=mask).last_hidden_state
    weights = mask.unsqueeze(-1).to(states.dtype)
    return torch.nn.functional.normalize((states * weights).sum(dim=1) / weights.sum(dim=1), dim=1)


def load_pretrained_towers(*, device: str = "cpu") -> FrozenTowers:
    """The towers with the weights of the installed packages.

    Raises:
        ModelInvalid: a package's files are missing or changed.
    """
    path, folder = efficientnet_file(), minilm_folder()
    with loading_faults(path):
        image_weights = torch.load(path, map_location="cpu", weights_only=True)
    with loading_faults(folder):
        text_weights = load_file(folder / "model.safetensors")
    image_weights = {name: tensor for name, tensor in image_weights.items() if not name.startswith(_CLASSIFIER)}
    text_weights = {name: tensor for name, tensor in text_weights.items() if name != "embeddings.position_ids"}
    return build_towers(
        image_weights=image_weights,
        text_weights=text_weights,
        text_config=read_object(folder / "config.json"),
        folder=folder,
        device=device,
    )


def build_towers(
    *,
    image_weights: Mapping[str, torch.Tensor],
    text_weights: Mapping[str, torch.Tensor],
    text_config: Mapping[str, Any],
    folder: Path,
    device: str,
) -> FrozenTowers:
    """Networks holding exactly the given weights, with the tokenizer.json in `folder`.

    Raises:
        ModelInvalid: weights do not fit the networks, or the tokenizer cannot be read.
    """
    with loading_faults(folder):
        image_network = EfficientNet.from_name("efficientnet-lite0", num_classes=1)
        classifier = {f"{_CLASSIFIER}{name}": tensor for name, tensor in image_network._fc.state_dict().items()}  # noqa: SLF001 - as above
        image_network.load_state_dict({**image_weights, **classifier}, strict=True)
        text_network = BertModel(BertConfig.from_dict(dict(text_config)))
        text_network.load_state_dict(dict(text_weights), strict=True)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.enable_truncation(_MAX_TOKENS)
        tokenizer.enable_padding(pad_id=int(text_config["pad_token_id"]), pad_token="[PAD]")  # noqa: S106 - a word piece
    return FrozenTowers(
        image_network=image_network.float().eval().to(device, memory_format=torch.channels_last),
        text_network=text_network.float().eval().to(device),
        tokenizer=tokenizer,
        device=device,
    )


def _pixels(image: Image.Image) -> FloatMatrix:
    resized = image.resize((_IMAGE_SIZE, _IMAGE_SIZE), Image.Resampling.BICUBIC)
    values: FloatMatrix = (np.asarray(resized, dtype=np.float32) - _IMAGE_MEAN) / _IMAGE_SCALE
    return np.ascontiguousarray(values.transpose(2, 0, 1))
