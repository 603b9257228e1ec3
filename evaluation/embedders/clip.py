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
from evaluation.embedders.text_tokens import TextTokens, TokenCounts
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily


class ClipTowers(TokenCounts):
    """The two towers of a CLIP model with their projections; texts are cut at the model's positions (77)."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        dtype = compute_dtype(device, config)
        self._model = load_weights(CLIPModel, folder, dtype=dtype, device=device)
        self._processor = ChexzeroProcessor() if config.name == CHEXZERO else load_image_processor(folder)
        self._device = device
        max_tokens = int(self._model.config.text_config.max_position_embeddings)
        self._tokens = TextTokens(load_tokenizer(folder), max_tokens=max_tokens, device=device)
        self.description = ModelDescription(
            family=EmbedderFamily.CLIP,
            architecture=type(self._model).__name__,
            dimension=int(self._model.config.projection_dim),
            parameters=count_parameters(self._model),
            kinds=ALL_KINDS,
            encode_config=config.described(max_text_tokens=max_tokens, dtype=dtype_name(dtype)),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Projected image vectors, shape (len(images), dimension)."""
        return pooled_image_rows(self._model, self._processor, images, device=self._device)

    @torch.inference_mode()
    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Projected text vectors, shape (len(texts), dimension)."""
        inputs = self._tokens.tensors(texts)
        output = self._model.get_text_features(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        rows: FloatMatrix = output.pooler_output.float().cpu().numpy()
        return rows


def load_clip(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a CLIP repository.

    Raises:
        ModelInvalid: files are missing, damaged or incomplete.
    """
    return DualEncoder(ClipTowers(folder, device=device, config=config))
