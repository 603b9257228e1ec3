"""PMC-CLIP: CLIP's ResNet-50 for images, BiomedBERT for texts, 768 numbers each.

A folder is what conversion makes of the official file: config.json (`model_type` "medboard-pmc-clip"),
model.safetensors and BiomedBERT's vocabulary. Texts are padded to 77 tokens and no mask is given, as in training.
Source: Lin et al. 2023; https://github.com/WeixiongLin/PMC-CLIP.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import nn
from transformers import BertTokenizer

from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.loading import compute_dtype, count_parameters, dtype_name
from evaluation.embedders.networks.bert import build_bert
from evaluation.embedders.networks.from_tensors import Tensors, below, extent, fill, read_tensors, unit_rows
from evaluation.embedders.networks.modified_resnet import ModifiedResNet
from evaluation.embedders.squares import Squares
from evaluation.embedders.text_tokens import TextTokens, TokenTextSide, read_tokenizer
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily

MODEL_TYPE = "medboard-pmc-clip"

_DOWNSAMPLING = 32


class PmcClipTextNetwork(nn.Module):
    """Tokens to the projected state of the first one, (n, dimension)."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        self.encoder = build_bert(below(tensors, "encoder."))
        self.projection = nn.Parameter(torch.zeros(extent(tensors, "projection", 0), extent(tensors, "projection", 1)))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """`tokens` is (n, length); every token sees every other one, padding too."""
        states = self.encoder(input_ids=tokens, attention_mask=torch.ones_like(tokens)).last_hidden_state
        vectors: torch.Tensor = states[:, 0] @ self.projection
        return vectors


class PmcClipTowers(TokenTextSide):
    """Both encoders; every vector has unit length."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        self._dtype, self._device = compute_dtype(device, config), device
        tensors = read_tensors(folder)
        image, text = below(tensors, "image."), below(tensors, "text.")
        placing: Any = {"folder": folder, "dtype": self._dtype, "device": device}
        self._image = fill(ModifiedResNet(image), image, **placing)
        self._text = fill(PmcClipTextNetwork(text), text, **placing)
        places = extent(image, "attnpool.positional_embedding", 0) - 1
        self._squares = Squares(pixels=_DOWNSAMPLING * round(places**0.5))
        self._tokens = TextTokens(
            read_tokenizer(BertTokenizer, folder, files=("vocab.txt",)),
            max_tokens=config.whole("max_text_tokens"),
            device=device,
            always_full=True,
        )
        self.description = ModelDescription(
            family=EmbedderFamily.PMC_CLIP,
            architecture=MODEL_TYPE,
            dimension=extent(text, "projection", 1),
            parameters=count_parameters(self._image) + count_parameters(self._text),
            kinds=ALL_KINDS,
            encode_config=config.described(image_pixels=self._squares.pixels, dtype=dtype_name(self._dtype)),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit vectors of images, shape (len(images), 768)."""
        return unit_rows(self._image(self._squares.tensors(images).to(device=self._device, dtype=self._dtype)))

    @torch.inference_mode()
    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Unit vectors of texts, shape (len(texts), 768)."""
        return unit_rows(self._text(self._tokens.tensors(texts)["input_ids"]))


def load_pmc_clip(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a converted PMC-CLIP.

    Raises:
        ModelInvalid: files are missing or damaged, or weights do not fit.
    """
    return DualEncoder(PmcClipTowers(folder, device=device, config=config))
