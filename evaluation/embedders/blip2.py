"""BLIP-2 with its image-text contrastive heads.

An image has one vector a query (32), a text one, and the authors' score is the largest of the 32 products. That score
is not one of two vectors, and it says nothing of two images or of a text beside an image; one vector an image is what
the MedHEB release ranks by.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from PIL import Image
from transformers import Blip2ForImageTextRetrieval

from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
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

_unit = torch.nn.functional.normalize


class Blip2Towers(TokenCounts):
    """The two ways through the querying transformer: image queries that look at an image, and a text on its own."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        dtype = compute_dtype(device, config)
        self._model = load_weights(Blip2ForImageTextRetrieval, folder, dtype=dtype, device=device)
        self._processor = load_image_processor(folder)
        self._device = device
        max_tokens = config.whole("max_text_tokens")
        self._tokens = TextTokens(load_tokenizer(folder), max_tokens=max_tokens, device=device)
        self.description = ModelDescription(
            family=config.family,
            architecture=type(self._model).__name__,
            dimension=int(self._model.config.image_text_hidden_size),
            parameters=count_parameters(self._model),
            kinds=ALL_KINDS,
            encode_config=config.described(dtype=dtype_name(dtype)),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Means of the query vectors, of unit length, shape (len(images), dimension)."""
        model = self._model
        pixels = self._processor(images=list(images), return_tensors="pt")["pixel_values"]
        seen = model.vision_model(pixel_values=pixels.to(self._device, model.vision_model.dtype)).last_hidden_state
        queries = model.qformer(
            query_embeds=model.query_tokens.expand(len(images), -1, -1),
            encoder_hidden_states=seen.to(model.qformer.dtype),
        ).last_hidden_state
        vectors = _unit(model.vision_projection(queries.to(model.vision_projection.weight.dtype)).float(), dim=-1)
        rows: FloatMatrix = _unit(vectors.mean(dim=1), dim=-1).cpu().numpy()
        return rows

    @torch.inference_mode()
    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Projected first tokens, of unit length, shape (len(texts), dimension)."""
        model = self._model
        inputs = self._tokens.tensors(texts)
        states = model.qformer(
            query_embeds=model.embeddings(input_ids=inputs["input_ids"]),
            query_length=0,
            attention_mask=inputs["attention_mask"],
        ).last_hidden_state
        first = states[:, 0].to(model.text_projection.weight.dtype)
        rows: FloatMatrix = _unit(model.text_projection(first).float(), dim=-1).cpu().numpy()
        return rows


def load_blip2(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a BLIP-2 repository for image-text retrieval.

    Raises:
        ModelInvalid: files are missing, damaged or incomplete, or the model has no heads for retrieval.
    """
    return DualEncoder(Blip2Towers(folder, device=device, config=config))
