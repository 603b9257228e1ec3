"""Encode configs: named, frozen answers to "how does this family turn an input into a vector?".

The first config of a family is its authors' own and is what runs use unless another is asked for. A config holds what
is chosen (prompts, pooling, limits, number type, how parts become one vector); what a repository itself decides, such
as its number of positions, is added when it is loaded. A config never changes under its name: a changed one gets a new
name, because results name it by its sha256.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from evaluation.embedders.dual_encoder import PARTS_RULE
from evaluation.errors import ModelUnsupported
from evaluation.manifest import canonical_sha256
from evaluation.vocabulary import EmbedderFamily, InputKind

Setting = str | int | float | bool

DEFAULT = "default"
CHEXZERO = "chexzero"
BFLOAT16, FLOAT32 = "bfloat16", "float32"


@dataclass(frozen=True, slots=True)
class EncodeConfig:
    """One way to encode. `settings` holds everything of it that changes a vector; keys are whole words."""

    name: str
    family: EmbedderFamily
    settings: Mapping[str, Setting]

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    @property
    def sha256(self) -> str:
        """64 hexadecimal digits of its content: the same name with other settings has another."""
        return canonical_sha256({"name": self.name, "family": self.family, "settings": dict(self.settings)})

    def text(self, key: str) -> str:
        """A setting that is a text.

        Raises:
            TypeError: it is something else: a mistake in the registry below.
        """
        value = self.settings[key]
        if not isinstance(value, str):
            raise TypeError(f"{self.family}/{self.name}: {key} is {value!r}, not a text")
        return value

    def whole(self, key: str) -> int:
        """A setting that is a whole number.

        Raises:
            TypeError: it is something else: a mistake in the registry below.
        """
        value = self.settings[key]
        if type(value) is not int:
            raise TypeError(f"{self.family}/{self.name}: {key} is {value!r}, not a whole number")
        return value

    def flag(self, key: str) -> bool:
        """A setting that is true or false.

        Raises:
            TypeError: it is something else: a mistake in the registry below.
        """
        value = self.settings[key]
        if not isinstance(value, bool):
            raise TypeError(f"{self.family}/{self.name}: {key} is {value!r}, neither true nor false")
        return value

    def described(self, **derived: Setting) -> dict[str, Setting]:
        """What a description says of an embedder that encodes so: name, settings, and what its repository decided.

        Raises:
            ValueError: a derived fact has the name of a setting, so one of the two would be lost.
        """
        if shared := derived.keys() & (self.settings.keys() | {"name"}):
            raise ValueError(f"{self.family}/{self.name}: {', '.join(sorted(shared))} is both a setting and derived")
        return {"name": self.name, **self.settings, **derived}


def encode_config(family: EmbedderFamily, name: str = "") -> EncodeConfig:
    """The named config of a family; "" is its first, the authors' own.

    Raises:
        ModelUnsupported: the family has no config of that name; the message names those that it has.
    """
    configs = selectable_configs(family)
    found = next((config for config in configs if name in ("", config.name)), None)
    if found is None:
        known = ", ".join(config.name for config in configs)
        raise ModelUnsupported(f"The family {family} has no encode config {name!r}; choose from {known}.")
    return found


def number_type(config: EncodeConfig) -> str:
    """The number type in which a config computes on a GPU; a family without weights has float32."""
    return str(config.settings.get("gpu_dtype", FLOAT32))


def kinds_of_config(config: EncodeConfig) -> tuple[InputKind, ...]:
    """What a model embeds that is encoded so, as its description says once it is loaded; known before it is."""
    if config.family is EmbedderFamily.SENTENCE_TRANSFORMERS:
        return (InputKind.TEXT,)
    if config.family is EmbedderFamily.MERLIN:
        return (InputKind.TEXT, InputKind.VOLUME) if "text" in config.settings else (InputKind.VOLUME,)
    return tuple(InputKind)


def selectable_configs(family: EmbedderFamily) -> tuple[EncodeConfig, ...]:
    """Every config that can be asked for: the registered ones, then those in bfloat16 once more in float32.

    A config never gets a shorter number type than its authors' own.
    """
    registered = ENCODE_CONFIGS[family]
    return (*registered, *(_in_float32(config) for config in registered if number_type(config) == BFLOAT16))


def _in_float32(config: EncodeConfig) -> EncodeConfig:
    settings = {**config.settings, "gpu_dtype": FLOAT32}
    return EncodeConfig(f"{config.name}-{FLOAT32}", config.family, settings)


def default_encode_config(family: EmbedderFamily, config: Mapping[str, Any]) -> EncodeConfig:
    """The config that a model is encoded with where none is asked for: the system's own, else the family's first.

    Args:
        family: the model's.
        config: its parsed config.json; a converted folder names its system there.
    """
    system = config.get("system")
    return next((found for found in ENCODE_CONFIGS[family] if found.name == system), ENCODE_CONFIGS[family][0])


def encode_config_by_sha256(family: EmbedderFamily, sha256: str) -> EncodeConfig:
    """The config of a family with this content; "" is its first.

    Raises:
        ModelUnsupported: none has it: it was asked for from a version of this program that had it.
    """
    found = next((config for config in selectable_configs(family) if sha256 in ("", config.sha256)), None)
    if found is None:
        raise ModelUnsupported(
            f"The family {family} has no encode config {sha256[:12]} any more; submit the model again with another."
        )
    return found


def _registered(family: EmbedderFamily, **settings: Mapping[str, Setting]) -> tuple[EncodeConfig, ...]:
    return tuple(EncodeConfig(name.replace("_", "-"), family, values) for name, values in settings.items())


_PARTS: Mapping[str, Setting] = {"parts": PARTS_RULE}
_TWO_TOWERS: Mapping[str, Setting] = {**_PARTS, "resize": "pillow", "gpu_dtype": BFLOAT16}

_CLIP: Mapping[str, Setting] = {**_TWO_TOWERS, "text_padding": "longest, masked"}
_SIGLIP: Mapping[str, Setting] = {**_TWO_TOWERS, "text_padding": "full length, no mask"}
_BLIP2: Mapping[str, Setting] = {
    **_TWO_TOWERS,
    "image_pooling": "mean of the query vectors, each of unit length, then unit length",
    "text_pooling": "first token, then unit length",
    "text_padding": "longest, masked",
    "max_text_tokens": 64,
}
_QWEN_VL: Mapping[str, Setting] = {
    "pooling": "last unmasked token, then unit length",
    "max_text_tokens": 8_192,
    "resize": "pillow",
    "gpu_dtype": BFLOAT16,
}
_QWEN3_VL: Mapping[str, Setting] = {
    **_QWEN_VL,
    "default_instruction": "Represent the user's input.",
    "content": "images in order, or a volume, then the text",
    "min_pixels": 4_096,
    "max_pixels": 1_843_200,
    "max_slice_pixels": 786_432,
    "max_total_pixels": 7_864_320,
}
_QWEN2_VL: Mapping[str, Setting] = {
    **_QWEN_VL,
    "content": "marks of images or a video, then the instruction, then the text, without a chat template",
    "min_pixels": 4 * 28 * 28,
    "max_pixels": 1_280 * 28 * 28,
    "max_slice_pixels": 360 * 420,
}
_RZEN_EMBED: Mapping[str, Setting] = {
    **_QWEN_VL,
    "system": "You are a helpful assistant.",
    "content": "images in order, the instruction and the text with nothing between, in a chat template that the "
    "end-of-text mark closes after the answer's opening mark",
    "positions": "sequential",
    "min_pixels": 256 * 28 * 28,
    "max_pixels": 1_280 * 28 * 28,
    "min_frame_pixels": 160 * 28 * 28,
    "max_frame_pixels": 180 * 28 * 28,
    "max_text_tokens": 2_000,
}
_LITE_DUAL: Mapping[str, Setting] = {
    **_PARTS,
    "image_tower": "EfficientNet-Lite0, 224 px without crop, Pillow bicubic, (x - 127) / 128, mean of the last map, unit length",
    "text_tower": "all-MiniLM-L6-v2, masked mean of the last layer, unit length",
    "projection": "linear, then unit length",
    "max_text_tokens": 256,
    "gpu_dtype": FLOAT32,
}

_UNIT_TOWERS: Mapping[str, Setting] = {
    **_PARTS,
    "towers": "each gives unit length",
    "text_padding": "longest, masked",
    "resize": "pillow",
    "gpu_dtype": BFLOAT16,
}
_BIOVIL: Mapping[str, Setting] = {
    **_UNIT_TOWERS,
    "image": "grey from darkest to brightest as 0..255, shorter side 512 bilinear, middle square, 0..1, no mean",
    "image_pooling": "projected patches, averaged; no earlier image",
    "text": "marks ! ? . at the end taken off; first token",
    "max_text_tokens": 512,
}
_MEDIMAGEINSIGHT: Mapping[str, Setting] = {
    **_UNIT_TOWERS,
    "image": "480 px bicubic without crop, ImageNet mean and deviation",
    "image_pooling": "mean of the last map, layer norm",
    "text_pooling": "last unmasked token",
    "max_text_tokens": 77,
}
_OPEN_CLIP: Mapping[str, Setting] = {**_UNIT_TOWERS, "text": "letters mended, HTML read, spaces made one"}
_PMC_CLIP: Mapping[str, Setting] = {
    **_UNIT_TOWERS,
    "image": "224 px bicubic of the shorter side, middle square, mean and deviation of CLIP",
    "image_pooling": "attention in heads of 64",
    "text_padding": "full length, no mask",
    "text_pooling": "first token, projected",
    "max_text_tokens": 77,
}
_MEDCLIP: Mapping[str, Setting] = {
    **_UNIT_TOWERS,
    "image": "grey, black around to a square of at least 224, 224 px bicubic, mean 0.5863, deviation 0.2795",
    "text_pooling": "states after layers 1, 2 and the last, averaged over the tokens of the text",
    "max_text_tokens": 77,
}
_CHEXZERO: Mapping[str, Setting] = {
    **_CLIP,
    "image": "within 320 px Lanczos, black around, grey, mean 101.48761 and deviation 83.43944 of 0..255, then 224 px",
    "resize": "pillow, then bicubic without smoothing",
    "text": "cut at the most tokens; the authors' code refuses longer texts",
}
_MERLIN_VOLUME: Mapping[str, Setting] = {
    "volume": "right, front, head; 1.5 x 1.5 x 3 mm linear; -1000..1000 as 0..1; middle 224 x 224 x 160, zeros around",
    "gpu_dtype": BFLOAT16,
}
_MERLIN: Mapping[str, Setting] = {
    **_PARTS,
    **_MERLIN_VOLUME,
    "image_pooling": "mean of the last map, contrastive head, unit length",
    "text": "lower case, words and signs apart; first token, projected, unit length",
    "max_text_tokens": 1_024,
}
_MERLIN_FEATURES: Mapping[str, Setting] = {**_MERLIN_VOLUME, "image_pooling": "mean of the last map, unit length"}

ENCODE_CONFIGS: Mapping[EmbedderFamily, tuple[EncodeConfig, ...]] = MappingProxyType(
    {
        EmbedderFamily.CLIP: _registered(EmbedderFamily.CLIP, default=_CLIP, chexzero=_CHEXZERO),
        EmbedderFamily.SIGLIP: _registered(
            EmbedderFamily.SIGLIP,
            default={**_SIGLIP, "small_letters": True},
            letters_as_given={**_SIGLIP, "small_letters": False},
        ),
        EmbedderFamily.BLIP2: _registered(EmbedderFamily.BLIP2, mean_of_queries=_BLIP2),
        EmbedderFamily.QWEN3_VL: _registered(
            EmbedderFamily.QWEN3_VL,
            default={**_QWEN3_VL, "volumes_as_videos": True, "min_frame_pixels": 131_072},
            slices_as_images={**_QWEN3_VL, "volumes_as_videos": False},
        ),
        EmbedderFamily.QWEN2_VL: _registered(
            EmbedderFamily.QWEN2_VL,
            default={**_QWEN2_VL, "vision_start_and_end": False, "positions": "sequential"},
            medheb_release={**_QWEN2_VL, "vision_start_and_end": True, "positions": "by time, row and column"},
        ),
        EmbedderFamily.RZEN_EMBED: _registered(EmbedderFamily.RZEN_EMBED, default=_RZEN_EMBED),
        EmbedderFamily.OPEN_CLIP: _registered(EmbedderFamily.OPEN_CLIP, default=_OPEN_CLIP),
        EmbedderFamily.MEDIMAGEINSIGHT: _registered(EmbedderFamily.MEDIMAGEINSIGHT, default=_MEDIMAGEINSIGHT),
        EmbedderFamily.BIOVIL: _registered(EmbedderFamily.BIOVIL, default=_BIOVIL),
        EmbedderFamily.MEDCLIP: _registered(EmbedderFamily.MEDCLIP, default=_MEDCLIP),
        EmbedderFamily.MERLIN: _registered(
            EmbedderFamily.MERLIN, default=_MERLIN, image_features=_MERLIN_FEATURES, astra_ct=_MERLIN_FEATURES
        ),
        EmbedderFamily.PMC_CLIP: _registered(EmbedderFamily.PMC_CLIP, default=_PMC_CLIP),
        EmbedderFamily.UNIMED_CLIP: _registered(EmbedderFamily.UNIMED_CLIP, default=_OPEN_CLIP),
        EmbedderFamily.SENTENCE_TRANSFORMERS: _registered(
            EmbedderFamily.SENTENCE_TRANSFORMERS, default={**_PARTS, "gpu_dtype": FLOAT32}
        ),
        EmbedderFamily.LITE_DUAL: _registered(EmbedderFamily.LITE_DUAL, default=_LITE_DUAL),
        EmbedderFamily.CHANCE: _registered(
            EmbedderFamily.CHANCE, default={"vector": "standard normal numbers drawn from the sha256 of the content"}
        ),
    }
)
