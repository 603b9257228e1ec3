"""SigLIP, SigLIP 2 of fixed and of native resolution, and MedSigLIP."""

from collections.abc import Sequence
from pathlib import Path

import torch
from PIL import Image
from transformers import Siglip2Model, SiglipModel

from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.image_rows import pooled_image_rows
from evaluation.embedders.loading import (
    compute_dtype,
    count_parameters,
    dtype_name,
    load_image_processor,
    load_tokenizer,
    load_weights,
)
from evaluation.embedders.safety.repository import read_object
from evaluation.embedders.text_tokens import TextTokens, TokenCounts
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily

_MODEL_OF_TYPE = {"siglip": SiglipModel, "siglip2": Siglip2Model}


class SiglipTowers(TokenCounts):
    """The two towers of a SigLIP model.

    Texts are padded to the model's full length (64, or 16) and no mask is given, as in training: the text vector is
    read at the last position, so shorter padding or a mask gives another vector. All of them were trained on small
    letters. The tokenizer of SigLIP sees to that; the one that repositories of SigLIP 2 name leaves capitals.
    """

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        dtype = compute_dtype(device, config)
        model_class = _MODEL_OF_TYPE[read_object(folder / "config.json")["model_type"]]
        self._model = load_weights(model_class, folder, dtype=dtype, device=device)
        self._processor = load_image_processor(folder)
        self._device = device
        max_tokens = int(self._model.config.text_config.max_position_embeddings)
        self._tokens = TextTokens(
            load_tokenizer(folder),
            max_tokens=max_tokens,
            device=device,
            prepare=str.lower if config.flag("small_letters") else str.strip,
            always_full=True,
        )
        self.description = ModelDescription(
            family=EmbedderFamily.SIGLIP,
            architecture=type(self._model).__name__,
            dimension=int(self._model.config.text_config.projection_size),
            parameters=count_parameters(self._model),
            kinds=ALL_KINDS,
            encode_config=config.described(max_text_tokens=max_tokens, dtype=dtype_name(dtype)),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Pooled image vectors, shape (len(images), dimension)."""
        return pooled_image_rows(self._model, self._processor, images, device=self._device)

    @torch.inference_mode()
    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Pooled text vectors, shape (len(texts), dimension)."""
        inputs = self._tokens.tensors(texts)
        output = self._model.get_text_features(input_ids=inputs["input_ids"])
        rows: FloatMatrix = output.pooler_output.float().cpu().numpy()
        return rows


def load_siglip(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a SigLIP repository.

    Raises:
        ModelInvalid: files are missing, damaged or incomplete.
    """
    return DualEncoder(SiglipTowers(folder, device=device, config=config))
