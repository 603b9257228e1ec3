"""lite-dual: two frozen everyday towers, each through a trained linear projection into one space.

A repository is one folder: config.json (`model_type` "medboard-lite-dual", the text network's configuration and notes
on the training), model.safetensors (both towers and both projections) and tokenizer.json.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.lite_towers import IMAGE_FEATURES, TEXT_FEATURES, FrozenTowers, build_towers
from evaluation.embedders.loading import loading_faults
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.safety.repository import read_object
from evaluation.errors import ModelInvalid
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily

MODEL_TYPE = "medboard-lite-dual"

_IMAGE_PREFIX, _TEXT_PREFIX = "image_tower.", "text_tower."


@dataclass(frozen=True, slots=True)
class LinearProjection:
    """`weight @ features + bias`: weight (dimension, features) and bias (dimension,), float32."""

    weight: FloatMatrix
    bias: FloatMatrix

    def __call__(self, features: FloatMatrix) -> FloatMatrix:
        """Project rows of features and scale them to unit length, shape (n, dimension)."""
        rows = features @ self.weight.T + self.bias
        unit: FloatMatrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class FeatureTowers(Protocol):
    """What gives the features that are projected."""

    @property
    def parameters(self) -> int:
        """How many numbers both networks hold."""
        ...

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit-length features, shape (len(images), 1280)."""
        ...

    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Unit-length features, shape (len(texts), 384)."""
        ...

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, after the cut."""
        ...

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than what is read."""
        ...


class LiteDualTowers:
    """Both towers with their projections; every image and text vector has unit length."""

    def __init__(
        self,
        towers: FeatureTowers,
        *,
        image_projection: LinearProjection,
        text_projection: LinearProjection,
        config: EncodeConfig,
    ) -> None:
        self._towers = towers
        self._image_projection = image_projection
        self._text_projection = text_projection
        projections = (image_projection, text_projection)
        self.description = ModelDescription(
            family=EmbedderFamily.LITE_DUAL,
            architecture=MODEL_TYPE,
            dimension=len(image_projection.bias),
            parameters=towers.parameters + sum(part.weight.size + part.bias.size for part in projections),
            kinds=ALL_KINDS,
            encode_config=config.described(dtype="float32"),
        )

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Projected image vectors, shape (len(images), dimension)."""
        return self._image_projection(self._towers.image_features(images))

    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Projected text vectors, shape (len(texts), dimension)."""
        return self._text_projection(self._towers.text_features(texts))

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with its marks, after the cut."""
        return self._towers.token_counts(texts)

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the text tower reads."""
        return self._towers.cuts(texts)


def build_lite_dual(
    folder: Path,
    *,
    towers: FrozenTowers,
    image_projection: LinearProjection,
    text_projection: LinearProjection,
    training: Mapping[str, Any],
) -> None:
    """Write a lite-dual repository; the same values give the same bytes.

    Args:
        folder: made if it does not exist.
        towers: from `load_pretrained_towers`.
        image_projection: weight (dimension, 1280), bias (dimension,).
        text_projection: weight (dimension, 384), bias (dimension,).
        training: facts about the training for config.json (data, seed, steps); JSON values.

    Raises:
        ValueError: a projection has the wrong shape.
    """
    _require_shapes(image_projection, text_projection)
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": MODEL_TYPE,
        "dimension": len(image_projection.bias),
        "text_config": read_object(minilm_folder() / "config.json"),
        "training": dict(training),
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    shutil.copyfile(minilm_folder() / "tokenizer.json", folder / "tokenizer.json")
    tensors = {_IMAGE_PREFIX + name: tensor for name, tensor in towers.image_weights().items()}
    tensors |= {_TEXT_PREFIX + name: tensor for name, tensor in towers.text_weights().items()}
    for name, projection in (("image_projection", image_projection), ("text_projection", text_projection)):
        tensors[f"{name}.weight"] = torch.from_numpy(np.ascontiguousarray(projection.weight, dtype=np.float32))
        tensors[f"{name}.bias"] = torch.from_numpy(np.ascontiguousarray(projection.bias, dtype=np.float32))
    save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")


def load_lite_dual(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a lite-dual repository.

    Raises:
        ModelInvalid: files are missing or damaged, or weights do not fit.
    """
    document = read_object(folder / "config.json")
    text_config = document.get("text_config")
    if not isinstance(text_config, dict):
        raise ModelInvalid("config.json: text_config must be an object with the text network's configuration.")
    with loading_faults(folder):
        tensors = load_file(folder / "model.safetensors")
        projections = [
            LinearProjection(tensors[f"{name}.weight"].numpy(), tensors[f"{name}.bias"].numpy())
            for name in ("image_projection", "text_projection")
        ]
        _require_shapes(*projections)
    towers = build_towers(
        image_weights=_with_prefix(tensors, _IMAGE_PREFIX),
        text_weights=_with_prefix(tensors, _TEXT_PREFIX),
        text_config=text_config,
        folder=folder,
        device=device,
    )
    image_projection, text_projection = projections
    return DualEncoder(
        LiteDualTowers(towers, image_projection=image_projection, text_projection=text_projection, config=config)
    )


def _with_prefix(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _require_shapes(image_projection: LinearProjection, text_projection: LinearProjection) -> None:
    dimension = len(image_projection.bias)
    for name, projection, features in (
        ("image", image_projection, IMAGE_FEATURES),
        ("text", text_projection, TEXT_FEATURES),
    ):
        if projection.weight.shape != (dimension, features) or projection.bias.shape != (dimension,):
            found = f"{projection.weight.shape} with a bias {projection.bias.shape}"
            raise ValueError(f"the {name} projection is {found}; ({dimension}, {features}) is needed")
