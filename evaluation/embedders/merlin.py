"""MERLIN: CT volumes through an inflated ResNet-152, reports through Clinical-Longformer.

A folder is what conversion makes of the official checkpoint: config.json (`model_type` "medboard-merlin"),
model.safetensors with the checkpoint's own names, and the tokenizer of Clinical-Longformer. A folder of an image
encoder alone (the same network without head and texts) gives image features only.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import LongformerConfig, LongformerModel, RobertaTokenizer

from evaluation.decoding.resampling import centred, resample, windowed
from evaluation.decoding.volumes import FloatGrid, Volume
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.loading import compute_dtype, count_parameters, dtype_name, loading_faults
from evaluation.embedders.networks.from_tensors import (
    Tensors,
    below,
    count_numbered,
    extent,
    fill,
    read_tensors,
    unit_rows,
)
from evaluation.embedders.networks.inflated_resnet import build_inflated_resnet
from evaluation.embedders.text_tokens import TextTokens, TokenTextSide, read_tokenizer
from evaluation.embedders.volume_encoder import VolumeEncoder
from evaluation.errors import InputUnsupported, ModelInvalid
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily, InputKind

MODEL_TYPE = "medboard-merlin"
IMAGE_PREFIX = "encode_image.i3_resnet."
HEAD_PREFIX = IMAGE_PREFIX + "contrastive_head."
TEXT_PREFIX, TEXT_HEAD_PREFIX = "encode_text.text_encoder.", "encode_text.linear_layer."

SPACING = (1.5, 1.5, 3.0)
SHAPE = (224, 224, 160)
LOW, HIGH = -1000.0, 1000.0
IMAGE_FEATURES = "image-features"

_HEAD_WIDTH = 64
_ATTENTION_WINDOW = 512
_PADDING_TOKEN = 1
_LAYER_NORM_EPSILON = 1e-5
_WORDS = re.compile(r"\w+|[^\w\s]+")


class MerlinTowers(TokenTextSide):
    """Both encoders with their projections; every vector has unit length."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        tensors = read_tensors(folder)
        self._dtype, self._device = compute_dtype(device, config), device
        image = {
            name: t for name, t in below(tensors, IMAGE_PREFIX).items() if not name.startswith("contrastive_head.")
        }
        # With its channels innermost it takes a third less time on a CPU.
        self._image = self._filled(folder, build_inflated_resnet(image), image).to(memory_format=torch.channels_last_3d)
        self._head: Any = None
        self._text: Any = None
        if "text" in config.settings:
            self._load_joint_space(folder, tensors, config)
        parts = [part for part in (self._image, self._head, self._text) if part is not None]
        self.description = ModelDescription(
            family=EmbedderFamily.MERLIN,
            architecture=MODEL_TYPE,
            dimension=self._image.features if self._head is None else self._head.out_channels,
            parameters=sum(count_parameters(part) for part in parts),
            kinds=(InputKind.VOLUME,) if self._text is None else (InputKind.TEXT, InputKind.VOLUME),
            encode_config=config.described(dtype=dtype_name(self._dtype)),
        )

    @torch.inference_mode()
    def volume_features(self, volume: Volume) -> NDArray[np.float32]:
        """The vector of one volume, shape (dimension,)."""
        grid = torch.from_numpy(merlin_grid(volume)).unsqueeze(0).to(device=self._device, dtype=self._dtype)
        features = self._image(grid)
        if self._head is not None:
            features = self._head(features[:, :, None, None, None]).flatten(1)
        row: NDArray[np.float32] = unit_rows(features)[0]
        return row

    @torch.inference_mode()
    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Projected states of the first token, shape (len(texts), dimension).

        Raises:
            InputUnsupported: image features alone were loaded, which have no place for an instruction.
        """
        if self._text is None:
            raise InputUnsupported(f"The text {texts[0][:40]!r} cannot be embedded with {IMAGE_FEATURES}.")
        inputs = self._tokens.tensors(texts)
        output = self._text["encoder"](input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        return unit_rows(self._text["projection"](output.last_hidden_state[:, 0]))

    def _load_joint_space(self, folder: Path, tensors: Tensors, config: EncodeConfig) -> None:
        head, text, projection = (below(tensors, prefix) for prefix in (HEAD_PREFIX, TEXT_PREFIX, TEXT_HEAD_PREFIX))
        if not (head and text and projection):
            raise ModelInvalid(
                f"{folder.name} holds an image encoder without texts; choose the encode config {IMAGE_FEATURES}."
            )
        width, dimension = extent(projection, "weight", 1), extent(projection, "weight", 0)
        self._head = self._filled(folder, torch.nn.Conv3d(self._image.features, dimension, 1), head)
        self._text = torch.nn.ModuleDict(
            {
                "encoder": self._filled(folder, build_longformer(text), text),
                "projection": self._filled(folder, torch.nn.Linear(width, dimension), projection),
            }
        )
        self._tokens = TextTokens(
            read_tokenizer(RobertaTokenizer, folder, files=("vocab.json", "merges.txt")),
            max_tokens=config.whole("max_text_tokens"),
            device=self._device,
            prepare=merlin_text,
        )

    def _filled(self, folder: Path, network: torch.nn.Module, tensors: Tensors) -> Any:
        return fill(network, tensors, folder=folder, dtype=self._dtype, device=self._device)


def load_merlin(folder: Path, *, device: str, config: EncodeConfig) -> VolumeEncoder:
    """Load a converted MERLIN folder.

    Raises:
        ModelInvalid: files are missing or damaged, or weights do not fit.
    """
    return VolumeEncoder(MerlinTowers(folder, device=device, config=config))


def merlin_grid(volume: Volume) -> FloatGrid:
    """What the image encoder sees: 224 x 224 x 160 voxels of 1.5 x 1.5 x 3 mm, -1000..1000 mapped to 0..1.

    Around a smaller volume it is 0, which is air.
    """
    return centred(windowed(resample(volume, SPACING).values, LOW, HIGH), SHAPE)


def merlin_text(text: str) -> str:
    """Lower case, with a space between words and runs of other signs."""
    return " ".join(_WORDS.findall(text.lower()))


def build_longformer(tensors: Tensors) -> LongformerModel:
    """Clinical-Longformer without its pooler, which has no part in a vector; no token has global attention.

    Raises:
        ModelInvalid: a tensor is missing.
    """
    layers = count_numbered(tensors, "encoder.layer.")
    width = extent(tensors, "embeddings.word_embeddings.weight", 1)
    config = LongformerConfig(
        vocab_size=extent(tensors, "embeddings.word_embeddings.weight", 0),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // _HEAD_WIDTH),
        intermediate_size=extent(tensors, "encoder.layer.0.intermediate.dense.weight", 0),
        max_position_embeddings=extent(tensors, "embeddings.position_embeddings.weight", 0),
        type_vocab_size=extent(tensors, "embeddings.token_type_embeddings.weight", 0),
        attention_window=[_ATTENTION_WINDOW] * layers,
        pad_token_id=_PADDING_TOKEN,
        layer_norm_eps=_LAYER_NORM_EPSILON,
    )
    with loading_faults(Path("the text encoder")):
        return LongformerModel(config, add_pooling_layer=False)
