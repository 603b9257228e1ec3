"""all-MiniLM-L6-v2 with all its weights trained, for our trainer in a benchmark."""

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer

from evaluation.decoding import DecodedInput
from evaluation.embedders.lite_towers import pooled_text
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.protocol import Embedder
from evaluation.inputs import EmbeddingInput
from evaluation.training.trainable import Tensors


class MiniLmTrainable:
    """The mean of the last layer, without dropout."""

    dimension = 384

    def __init__(self, *, most_tokens: int) -> None:
        config = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
        self.network = AutoModel.from_pretrained(minilm_folder(), **config)
        self._tokenizer = AutoTokenizer.from_pretrained(minilm_folder())
        self._most_tokens = most_tokens

    def read(self, item: EmbeddingInput) -> DecodedInput:
        """Texts alone."""
        return DecodedInput(item)

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """With marks, after the cut."""
        texts = [decoded.source.text for decoded in batch]
        return [len(ids) for ids in self._tokenizer(texts, truncation=True, max_length=self._most_tokens)["input_ids"]]

    def tensors(self, batch: Sequence[DecodedInput]) -> Tensors:
        """Token ids and mask."""
        texts = [decoded.source.text for decoded in batch]
        tokens = self._tokenizer(
            texts, padding=True, truncation=True, max_length=self._most_tokens, return_tensors="pt"
        )
        return {"ids": tokens["input_ids"], "mask": tokens["attention_mask"]}

    def vectors(self, tensors: Tensors) -> torch.Tensor:
        """Unit rows."""
        return pooled_text(self.network, tensors["ids"], tensors["mask"])

    def embedder(self) -> Embedder:
        """Not needed here."""
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        """Not needed here."""
        raise NotImplementedError
