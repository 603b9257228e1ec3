"""CLIP models of transformers."""

from collections.abc import Sequence
from pathlib import Path

import torch
from PIL import Image
from transformers import CLIPModel

from evaluation.embedders.chexzero import ChexzeroProcessor
from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.embedders.encode_config import CHEXZERO, EncodeConfig
from evaluation.embedders.image_rows import pooled_image_rows
from evaluation.embedders.loading import (
    compute_dtype,
    count_parameters,
    dtype_name,
    load_image_processor,
    load_tokenizer,
    load_weights,
)
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily


class ClipTowers:
    """The two towers of a CLIP model with their projections; texts are cut at the model's positions (77)."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        dtype = compute_dtype(device, config)
        self._model = load_weights(CLIPModel, folder, dtype=dtype, device=device)
        self._tokenizer = load_tokenizer(folder)
        self._processor = ChexzeroProcessor() if config.name == CHEXZERO else load_image_processor(folder)
        self._device = device
        self._max_tokens = int(self._model.config.text_config.max_position_embeddings)
        self.description = ModelDescription(
            family=EmbedderFamily.CLIP,
            architecture=type(self._model).__name__,
            dimension=int(self._model.config.projection_dim),
            parameters=count_parameters(self._model),
            kinds=ALL_KINDS,
            encode_config=config.described(max_text_tokens=self._max_tokens, dtype=dtype_name(dtype)),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Projected image vectors, shape (len(images), dimension)."""
        return pooled_image_rows(self._model, self._processor, images, device=self._device)

    @torch.inference_mode()
    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Projected text vectors, shape (len(texts), dimension)."""
        inputs = self._tokenizer(
            list(texts), padding="longest", truncation=True, max_length=self._max_tokens, return_tensors="pt"
        ).to(self._device)
        output = self._model.get_text_features(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        rows: FloatMatrix = output.pooler_output.float().cpu().numpy()
        return rows

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with its marks, after the cut."""
        tokens = self._tokenizer(list(texts), truncation=True, max_length=self._max_tokens)
        return [len(ids) for ids in tokens["input_ids"]]

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text with its marks is longer than the model's positions."""
        tokens = self._tokenizer(list(texts), verbose=False)["input_ids"]
        return [len(ids) > self._max_tokens for ids in tokens]


def load_clip(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a CLIP repository.

    Raises:
        ModelInvalid: files are missing, damaged or incomplete.
    """
    return DualEncoder(ClipTowers(folder, device=device, config=config))
