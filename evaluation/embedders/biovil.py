"""BioViL and BioViL-T: chest radiographs through a ResNet-50, reports through CXR-BERT, 128 numbers each.

A folder is what conversion makes of the two official files: config.json (`model_type` "medboard-biovil"; `crop_pixels`
480 for BioViL, 448 for BioViL-T), model.safetensors and CXR-BERT's vocabulary. BioViL-T compares with an earlier image;
one image alone takes its learned stand-in for a missing one, and its temporal transformer is not used.
Source: Boecking et al. 2022; Bannur et al. 2023.
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
from evaluation.embedders.safety.repository import read_object
from evaluation.embedders.text_tokens import TextTokens, TokenTextSide, read_tokenizer
from evaluation.errors import InputUnsupported, ModelInvalid
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily

MODEL_TYPE = "medboard-biovil"
CROPS = (448, 480)

_SHORTER_SIDE = 512
_LAYER_NORM_EPSILON = 1e-12
_TAKEN_OFF = "!?."
_REFUSED_MARKS = ("[UNK]", "[SEP]", "[PAD]", "[CLS]")


class BiovilImageNetwork(nn.Module):
    """Pictures (n, 3, side, side) to the mean of their projected patches, (n, dimension)."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        self.encoder = build_resnet(below(tensors, "encoder."))
        hidden, patch = extent(tensors, "projector.0.weight", 0), extent(tensors, "projector.0.weight", 1)
        dimension = extent(tensors, "projector.3.weight", 0)
        self.projector = nn.Sequential(
            nn.Conv2d(patch, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU(), nn.Conv2d(hidden, dimension, 1)
        )
        self.reduction: nn.Conv2d | None = None
        if "reduction.weight" in tensors:
            width, channels = extent(tensors, "reduction.weight", 0), extent(tensors, "reduction.weight", 1)
            self.reduction = nn.Conv2d(channels, width, 1, bias=False)
            self.missing_earlier_image = nn.Parameter(torch.zeros(1, width, 1, 1))

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Every patch of one image is joined, in BioViL-T, by what stands for the change since an earlier image."""
        patches = self.encoder(pixels).last_hidden_state
        if self.reduction is not None:
            present = self.reduction(patches)
            patches = torch.cat([present, self.missing_earlier_image.expand_as(present)], dim=1)
        projected: torch.Tensor = self.projector(patches).mean(dim=(2, 3))
        return projected


class BiovilTextNetwork(nn.Module):
    """Tokens to the projected state of the first one, (n, dimension)."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        self.bert = build_bert(below(tensors, "bert."))
        dimension, width = extent(tensors, "head.0.weight", 0), extent(tensors, "head.0.weight", 1)
        self.head = nn.Sequential(
            nn.Linear(width, dimension),
            nn.GELU(),
            nn.LayerNorm(dimension, eps=_LAYER_NORM_EPSILON),
            nn.Linear(dimension, dimension),
        )

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """`tokens` and `mask` are (n, length)."""
        states = self.bert(input_ids=tokens, attention_mask=mask).last_hidden_state
        projected: torch.Tensor = self.head(states[:, 0])
        return projected


class BiovilTowers(TokenTextSide):
    """Both encoders; every vector has unit length. Texts that are too long are cut, where the authors' own code refuses."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        self._crop = _crop_pixels(folder)
        self._dtype, self._device = compute_dtype(device, config), device
        tensors = read_tensors(folder)
        image, text = below(tensors, "image."), below(tensors, "text.")
        placing: Any = {"folder": folder, "dtype": self._dtype, "device": device}
        self._image = fill(BiovilImageNetwork(image), image, **placing)
        self._text = fill(BiovilTextNetwork(text), text, **placing)
        self._tokens = TextTokens(
            read_tokenizer(BertTokenizer, folder, files=("vocab.txt",)),
            max_tokens=config.whole("max_text_tokens"),
            device=device,
            prepare=biovil_text,
        )
        self.description = ModelDescription(
            family=EmbedderFamily.BIOVIL,
            architecture=MODEL_TYPE,
            dimension=extent(text, "head.3.weight", 0),
            parameters=count_parameters(self._image) + count_parameters(self._text),
            kinds=ALL_KINDS,
            encode_config=config.described(crop_pixels=self._crop, dtype=dtype_name(self._dtype)),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit vectors of radiographs, shape (len(images), 128)."""
        pixels = torch.from_numpy(np.stack([biovil_pixels(image, self._crop) for image in images]))
        grey = pixels.to(device=self._device, dtype=self._dtype).unsqueeze(1).expand(-1, 3, -1, -1)
        return unit_rows(self._image(grey))


def load_biovil(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a converted BioViL or BioViL-T folder.

    Raises:
        ModelInvalid: files are missing or damaged, or weights do not fit.
    """
    return DualEncoder(BiovilTowers(folder, device=device, config=config))


def biovil_pixels(image: Image.Image, crop: int) -> FloatMatrix:
    """Grey values 0..1 of the middle square, shape (crop, crop).

    The darkest value becomes 0 and the brightest 255 before anything else, rounded down; a picture of one value is 0.
    """
    values = np.asarray(image, dtype=np.float64)
    values = values - values.min()
    stretched = (values / (values.max() or 1) * 255).astype(np.uint8)
    grey = Image.fromarray(stretched).convert("L")
    width, height = (int(_SHORTER_SIDE * side / min(grey.size)) for side in grey.size)
    grey = grey.resize((width, height), Image.Resampling.BILINEAR)
    left, top = round((width - crop) / 2), round((height - crop) / 2)
    middle = grey.crop((left, top, left + crop, top + crop))
    pixels: FloatMatrix = np.asarray(middle, dtype=np.float32) / np.float32(255)
    return pixels


def _crop_pixels(folder: Path) -> int:
    pixels = read_object(folder / "config.json").get("crop_pixels")
    if type(pixels) is not int or pixels not in CROPS:
        raise ModelInvalid("config.json: crop_pixels must be 480 (BioViL) or 448 (BioViL-T).")
    return pixels


def biovil_text(text: str) -> str:
    """The text without the marks ! ? . at its end.

    Raises:
        InputUnsupported: it holds a mark of the tokenizer other than the one that masks a word.
    """
    found = next((mark for mark in _REFUSED_MARKS if mark in text), None)
    if found is not None:
        raise InputUnsupported(f"The text {text[:40]!r} holds {found}, a mark of the model.")
    return text.rstrip(_TAKEN_OFF)
