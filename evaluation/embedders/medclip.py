"""MedCLIP: Swin-tiny or ResNet-50 for radiographs, Bio_ClinicalBERT for texts, 512 numbers each.

A folder is what conversion makes of the official file: config.json (`model_type` "medboard-medclip"),
model.safetensors and Bio_ClinicalBERT's vocabulary. The authors' code takes the mean over padding too, so its vector of
a text depends on what else is in the batch; here each text is taken as in a batch of its own.
Source: Wang et al. 2022; https://github.com/RyanWangZf/MedCLIP.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn
from transformers import BertTokenizer

from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.loading import compute_dtype, count_parameters, dtype_name
from evaluation.embedders.networks.bert import build_bert
from evaluation.embedders.networks.from_tensors import Tensors, below, extent, fill, read_tensors, unit_rows
from evaluation.embedders.networks.resnet import build_resnet
from evaluation.embedders.networks.swin import build_swin
from evaluation.embedders.text_tokens import TextTokens, TokenTextSide, read_tokenizer
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily

MODEL_TYPE = "medboard-medclip"

_PIXELS = 224
_MEAN, _DEVIATION = np.float32(0.5862785803043838), np.float32(0.27950088968644304)
_READ_LAYERS = (1, 2, -1)
_RESNET_STEM = "encoder.embedder.embedder.convolution.weight"


class MedclipImageNetwork(nn.Module):
    """Pictures (n, 3, 224, 224) to the projected mean of all places, (n, dimension)."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        build: Any = build_resnet if _RESNET_STEM in tensors else build_swin
        self.encoder = build(below(tensors, "encoder."))
        self.projection = _projection(tensors)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Both encoders of transformers pool in the same way."""
        vectors: torch.Tensor = self.projection(self.encoder(pixels).pooler_output.flatten(1))
        return vectors


class MedclipTextNetwork(nn.Module):
    """Tokens to the projected mean of three layers' states, (n, dimension)."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        self.encoder = build_bert(below(tensors, "encoder."))
        self.projection = _projection(tensors)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The mean is over the tokens of a text with its marks, padding excepted."""
        layers = self.encoder(input_ids=tokens, attention_mask=mask, output_hidden_states=True).hidden_states
        states = torch.stack([layers[number] for number in _READ_LAYERS]).mean(dim=0)
        weights = mask.to(states.dtype).unsqueeze(2)
        vectors: torch.Tensor = self.projection((states * weights).sum(dim=1) / weights.sum(dim=1))
        return vectors


class MedclipTowers(TokenTextSide):
    """Both encoders; every vector has unit length."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        self._dtype, self._device = compute_dtype(device, config), device
        tensors = read_tensors(folder)
        image, text = below(tensors, "image."), below(tensors, "text.")
        placing: Any = {"folder": folder, "dtype": self._dtype, "device": device}
        self._image = fill(MedclipImageNetwork(image), image, **placing)
        self._text = fill(MedclipTextNetwork(text), text, **placing)
        self._tokens = TextTokens(
            read_tokenizer(BertTokenizer, folder, files=("vocab.txt",)),
            max_tokens=config.whole("max_text_tokens"),
            device=device,
        )
        self.description = ModelDescription(
            family=EmbedderFamily.MEDCLIP,
            architecture=f"{MODEL_TYPE}: {'ResNet' if _RESNET_STEM in image else 'Swin'}",
            dimension=extent(text, "projection.weight", 0),
            parameters=count_parameters(self._image) + count_parameters(self._text),
            kinds=ALL_KINDS,
            encode_config=config.described(dtype=dtype_name(self._dtype)),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit vectors of radiographs, shape (len(images), 512)."""
        pixels = torch.from_numpy(np.stack([medclip_pixels(image) for image in images]))
        grey = pixels.to(device=self._device, dtype=self._dtype).unsqueeze(1).expand(-1, 3, -1, -1)
        return unit_rows(self._image(grey))


def load_medclip(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a converted MedCLIP.

    Raises:
        ModelInvalid: files are missing or damaged, or weights do not fit.
    """
    return DualEncoder(MedclipTowers(folder, device=device, config=config))


def medclip_pixels(image: Image.Image) -> FloatMatrix:
    """Grey values, shape (224, 224): black around the picture to a square of at least 224, resized, standardised."""
    width, height = image.size
    side = max(_PIXELS, width, height)
    square = Image.new("L", (side, side), 0)
    square.paste(image.convert("L"), ((side - width) // 2, (side - height) // 2))
    values = np.asarray(square.resize((_PIXELS, _PIXELS), Image.Resampling.BICUBIC), dtype=np.float32)
    pixels: FloatMatrix = (values / np.float32(255) - _MEAN) / _DEVIATION
    return pixels


def _projection(tensors: Tensors) -> nn.Linear:
    dimension, width = (extent(tensors, "projection.weight", axis) for axis in (0, 1))
    return nn.Linear(width, dimension, bias=False)
