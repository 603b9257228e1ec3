"""The ways in which a model can be encoded, as the site offers them."""

from collections.abc import Mapping
from typing import Any

from evaluation.embedders.encode_config import (
    EncodeConfig,
    default_encode_config,
    kinds_of_config,
    number_type,
    selectable_configs,
)
from evaluation.vocabulary import EmbedderFamily
from leaderboard.ports import EncodeConfigChoice


def encode_choices(family: EmbedderFamily, config: Mapping[str, Any]) -> tuple[EncodeConfigChoice, ...]:
    """Every config of the family, the model's default first. `config` is its parsed config.json.

    Two configs with the same settings under different names are one and the same to whoever chooses; the first stays.
    """
    default = default_encode_config(family, config)
    others = [found for found in selectable_configs(family) if found.name != default.name]
    distinct = {tuple(sorted(found.settings.items())): found for found in reversed([default, *others])}
    ordered = [default, *(found for found in others if found in distinct.values())]
    return tuple(_choice(found, default) for found in ordered)


def _choice(config: EncodeConfig, default: EncodeConfig) -> EncodeConfigChoice:
    is_default = config.name == default.name
    return EncodeConfigChoice(
        name=config.name,
        number_type=number_type(config),
        sha256="" if is_default else config.sha256,
        reads=tuple(kind.value for kind in kinds_of_config(config)),
        differences=() if is_default else _differences(config, default),
    )


def _differences(config: EncodeConfig, default: EncodeConfig) -> tuple[str, ...]:
    """A line for each setting that is not the default's."""
    names = [*config.settings, *(name for name in default.settings if name not in config.settings)]
    return tuple(
        f"{name.replace('_', ' ')}: {_said(config.settings.get(name))}"
        for name in names
        if config.settings.get(name) != default.settings.get(name)
    )


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not set" if value is None else str(value)
