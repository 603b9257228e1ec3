"""open_clip_config.json: what it says of a network, where it is one of those that are built here.

Only what is known to change nothing, or is known and handled, is accepted: a key that is not known may mean another
network with the same tensors. Source: https://github.com/mlfoundations/open_clip, `model.py` and `transform.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from PIL import Image

from evaluation.embedders.safety.repository import OPEN_CLIP_CONFIG as CONFIG_NAME
from evaluation.embedders.safety.repository import read_object
from evaluation.embedders.squares import CLIP_DEVIATION, CLIP_MEAN, Channels, Squares
from evaluation.errors import ModelInvalid, ModelUnsupported

_MAX_PIXELS = 2_048
_MAX_TOKENS = 8_192
_CHANNELS = 3
_RESAMPLINGS = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR}

# Read from the tensors, or of training alone.
_WITHOUT_EFFECT = {
    "model_cfg": {"embed_dim", "custom_text", "init_logit_scale", "init_logit_bias"},
    "vision_cfg": {"layers", "width", "patch_size", "mlp_ratio", "patch_dropout", "timm_model_pretrained", "timm_drop"},
    "text_cfg": {"vocab_size", "width", "layers", "mlp_ratio", "hf_tokenizer_name", "hf_model_pretrained"},
    "preprocess_cfg": {"size", "fill_color"},
}
_HANDLED = {
    "model_cfg": {"vision_cfg", "text_cfg", "quick_gelu"},
    "vision_cfg": {"image_size", "head_width", "timm_model_name", "timm_pool", "timm_proj"},
    "text_cfg": {"context_length", "heads", "hf_model_name", "hf_pooler_type", "hf_proj_type"},
    "preprocess_cfg": {"mean", "std", "mode", "interpolation", "resize_mode"},
}
_TIMM_MODEL = re.compile(r"vit_(?:tiny|small|base|large)_patch(?:8|14|16|32)_(?:224|384)")
_BERT = re.compile(r"(?:.*[-/_])?(?:[A-Za-z]*med|clinical|bio|sci|)bert(?:[-_].*)?", re.IGNORECASE)


class ImageTower(StrEnum):
    """Which network sees images."""

    CLIP = "clip"
    TIMM = "timm"


class TextTower(StrEnum):
    """Which network reads texts."""

    CLIP = "clip"
    BERT = "bert"


@dataclass(frozen=True, slots=True)
class OpenClipLayout:
    """What the loader has to know beside the tensors."""

    image_tower: ImageTower
    text_tower: TextTower
    activation: str
    image_head_width: int
    text_heads: int
    max_text_tokens: int
    squares: Squares


def read_layout(folder: Path) -> OpenClipLayout:
    """What the configuration of a repository says.

    Raises:
        ModelInvalid: it is missing, damaged or out of range.
        ModelUnsupported: the network is not one that is built here; the message names the setting.
    """
    return layout_of(read_object(folder / CONFIG_NAME))


def layout_of(document: Mapping[str, Any]) -> OpenClipLayout:
    """What a parsed configuration says; errors as above."""
    model, preprocessing = _part(document, "model_cfg"), _part(document, "preprocess_cfg")
    vision, text = _part(model, "vision_cfg"), _part(model, "text_cfg")
    parts = {"model_cfg": model, "vision_cfg": vision, "text_cfg": text, "preprocess_cfg": preprocessing}
    for name, part in parts.items():
        _require_known(name, part)
    quick = model.get("quick_gelu", False)
    _require("quick_gelu", quick, (True, False))
    return OpenClipLayout(
        image_tower=_image_tower(vision),
        text_tower=_text_tower(text),
        activation="quick_gelu" if quick else "gelu",
        image_head_width=_whole(vision, "head_width", 64, most=1_024),
        text_heads=_whole(text, "heads", 8, most=1_024),
        max_text_tokens=_whole(text, "context_length", 77, most=_MAX_TOKENS),
        squares=_squares(vision, preprocessing),
    )


def _image_tower(vision: Mapping[str, Any]) -> ImageTower:
    name = vision.get("timm_model_name")
    if name is None:
        return ImageTower.CLIP
    if not isinstance(name, str) or not _TIMM_MODEL.fullmatch(name):
        raise ModelUnsupported(
            f"{CONFIG_NAME}: timm_model_name {name!r} cannot be loaded; plain transformers such as vit_base_patch16_224 can."
        )
    _require("timm_pool", vision.get("timm_pool", "avg"), ("", "token"))
    _require("timm_proj", vision.get("timm_proj", "linear"), ("linear",))
    return ImageTower.TIMM


def _text_tower(text: Mapping[str, Any]) -> TextTower:
    name = text.get("hf_model_name")
    if name is None:
        return TextTower.CLIP
    if not isinstance(name, str) or not _BERT.fullmatch(name):
        raise ModelUnsupported(f"{CONFIG_NAME}: hf_model_name {name!r} cannot be loaded; BERT encoders can.")
    _require("hf_pooler_type", text.get("hf_pooler_type"), ("cls_last_hidden_state_pooler",))
    _require("hf_proj_type", text.get("hf_proj_type"), ("mlp", "linear", None))
    return TextTower.BERT


def _squares(vision: Mapping[str, Any], preprocessing: Mapping[str, Any]) -> Squares:
    _require("mode", preprocessing.get("mode", "RGB"), ("RGB",))
    resize, resampling = preprocessing.get("resize_mode", "shortest"), preprocessing.get("interpolation", "bicubic")
    _require("resize_mode", resize, ("shortest", "squash"))
    _require("interpolation", resampling, tuple(_RESAMPLINGS))
    return Squares(
        pixels=_whole(vision, "image_size", 224, most=_MAX_PIXELS),
        mean=_channels(preprocessing, "mean", CLIP_MEAN),
        deviation=_channels(preprocessing, "std", CLIP_DEVIATION),
        resampling=_RESAMPLINGS[resampling],
        crops=resize == "shortest",
    )


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = document.get(name, {} if name == "preprocess_cfg" else None)
    if not isinstance(part, Mapping):
        raise ModelInvalid(f"{CONFIG_NAME} has no object {name!r}; save the model again.")
    return part


def _require_known(name: str, part: Mapping[str, Any]) -> None:
    unknown = sorted(key for key in part.keys() - _WITHOUT_EFFECT[name] - _HANDLED[name] if part[key] is not None)
    if unknown:
        raise ModelUnsupported(f"{CONFIG_NAME}: {name} sets {', '.join(unknown)}, which is not handled.")


def _require(key: str, value: Any, known: tuple[Any, ...]) -> None:
    # By type too: 1 equals True, and a list is in no tuple of strings.
    if not any(type(value) is type(choice) and value == choice for choice in known):
        raise ModelUnsupported(
            f"{CONFIG_NAME}: {key} {value!r} is not handled; {' or '.join(repr(choice) for choice in known)} is."
        )


def _whole(part: Mapping[str, Any], key: str, default: int, *, most: int) -> int:
    value = part.get(key, default)
    if type(value) is not int or not 1 <= value <= most:
        raise ModelInvalid(f"{CONFIG_NAME}: {key} is {value!r}; a whole number from 1 to {most:,} is needed.")
    return value


def _channels(part: Mapping[str, Any], key: str, default: Channels) -> Channels:
    values = part.get(key)
    if values is None:
        return default
    are_numbers = isinstance(values, list) and all(type(value) in (int, float) for value in values)
    if not are_numbers or len(values) != _CHANNELS or (key == "std" and min(values) <= 0):
        raise ModelInvalid(f"{CONFIG_NAME}: {key} is {values!r}; three numbers are needed.")
    red, green, blue = (float(value) for value in values)
    return red, green, blue
