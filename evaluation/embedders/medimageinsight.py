"""MedImageInsight: DaViT for images, a bidirectional transformer of 16 layers for texts, 1024 numbers each.

A folder is what conversion makes of the official file: config.json (`model_type` "medboard-medimageinsight"),
model.safetensors and the tokenizer of CLIP. Source: Codella et al. 2024 (MedImageInsight); Ding et al. 2022 (DaViT).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn
from transformers import CLIPTokenizer

from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.loading import compute_dtype, count_parameters, dtype_name
from evaluation.embedders.networks.davit import build_davit
from evaluation.embedders.networks.from_tensors import (
    Tensors,
    below,
    count_numbered,
    extent,
    fill,
    read_tensors,
    unit_rows,
)
from evaluation.embedders.text_tokens import TextTokens, TokenTextSide, read_tokenizer
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily

MODEL_TYPE = "medboard-medimageinsight"

_PIXELS = 480
_MEAN = np.array((0.485, 0.456, 0.406), dtype=np.float32)
_DEVIATION = np.array((0.229, 0.224, 0.225), dtype=np.float32)
_HEAD_WIDTH = 64
_LAYER_NORM_EPSILON = 1e-12


class MedImageInsightImageNetwork(nn.Module):
    """Pictures (n, 3, 480, 480) to vectors (n, dimension)."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        self.encoder = build_davit(below(tensors, "encoder."))
        width, dimension = extent(tensors, "projection", 0), extent(tensors, "projection", 1)
        self.norm = nn.LayerNorm(width)
        self.projection = nn.Parameter(torch.zeros(width, dimension))

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """The mean of the last map comes before the layer norm."""
        pooled = self.encoder(pixels).last_hidden_state.mean(dim=(2, 3))
        vectors: torch.Tensor = self.norm(pooled) @ self.projection
        return vectors


class MedImageInsightTextNetwork(nn.Module):
    """Tokens to vectors (n, dimension). Every token sees every other one, padding excepted."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        words, width = extent(tensors, "tokens.weight", 0), extent(tensors, "tokens.weight", 1)
        self.tokens = nn.Embedding(words, width)
        self.positions = nn.Parameter(torch.zeros(extent(tensors, "positions", 0), width))
        layer = nn.TransformerEncoderLayer(
            width,
            max(1, width // _HEAD_WIDTH),
            dim_feedforward=extent(tensors, "encoder.layers.0.linear1.weight", 0),
            activation=_quick_gelu,
            layer_norm_eps=_LAYER_NORM_EPSILON,
            batch_first=True,
            norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(
            layer,
            count_numbered(tensors, "encoder.layers."),
            norm=nn.LayerNorm(width, eps=_LAYER_NORM_EPSILON),
            enable_nested_tensor=False,
        )
        self.projection = nn.Parameter(torch.zeros(width, extent(tensors, "projection", 1)))

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """`tokens` and `mask` are (n, length). The vector is read at the last unmasked token, the end mark.

        The authors look for the highest token number instead, which finds the same place in texts without marks.
        """
        embedded = self.tokens(tokens) + self.positions[: tokens.shape[1]]
        states = self.encoder(embedded, src_key_padding_mask=mask == 0)
        ends = states[torch.arange(len(states), device=states.device), mask.sum(dim=1) - 1]
        vectors: torch.Tensor = ends @ self.projection
        return vectors


class MedImageInsightTowers(TokenTextSide):
    """Both encoders; every vector has unit length."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        self._dtype, self._device = compute_dtype(device, config), device
        tensors = read_tensors(folder)
        image, text = below(tensors, "image."), below(tensors, "text.")
        placing: Any = {"folder": folder, "dtype": self._dtype, "device": device}
        self._image = fill(MedImageInsightImageNetwork(image), image, **placing)
        self._text = fill(MedImageInsightTextNetwork(text), text, **placing)
        self._tokens = TextTokens(
            read_tokenizer(CLIPTokenizer, folder, files=("vocab.json", "merges.txt")),
            max_tokens=config.whole("max_text_tokens"),
            device=device,
        )
        self.description = ModelDescription(
            family=EmbedderFamily.MEDIMAGEINSIGHT,
            architecture=MODEL_TYPE,
            dimension=extent(image, "projection", 1),
            parameters=count_parameters(self._image) + count_parameters(self._text),
            kinds=ALL_KINDS,
            encode_config=config.described(dtype=dtype_name(self._dtype)),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit vectors of images, shape (len(images), 1024)."""
        pixels = torch.from_numpy(np.stack([medimageinsight_pixels(image) for image in images]))
        return unit_rows(self._image(pixels.to(device=self._device, dtype=self._dtype)))


def load_medimageinsight(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a converted MedImageInsight folder.

    Raises:
        ModelInvalid: files are missing or damaged, or weights do not fit.
    """
    return DualEncoder(MedImageInsightTowers(folder, device=device, config=config))


def medimageinsight_pixels(image: Image.Image) -> FloatMatrix:
    """Colours of the picture at 480 x 480, by ImageNet's mean and deviation, shape (3, 480, 480)."""
    resized = image.resize((_PIXELS, _PIXELS), Image.Resampling.BICUBIC)
    values: FloatMatrix = (np.asarray(resized, dtype=np.float32) / np.float32(255) - _MEAN) / _DEVIATION
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def _quick_gelu(values: torch.Tensor) -> torch.Tensor:
    return values * torch.sigmoid(1.702 * values)
