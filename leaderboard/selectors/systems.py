"""Reads the model systems that are known by name, as the evaluation library's table states them."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from leaderboard.models import EmbeddingModel


@dataclass(frozen=True, slots=True)
class System:
    """One system. None says that a figure is not known for certain. The library checks the table and says more of it."""

    id: str
    title: str
    family: str
    encode_config: str
    dimension: int
    parameters: int | None
    licence: str | None
    gated: bool | None
    weights: str
    context_tokens: int | None
    image_pixels: int | None
    embeds: tuple[str, ...]
    conversion: str | None
    source: str
    notes: str


@lru_cache(maxsize=1)
def known_systems(file: Path) -> tuple[System, ...]:
    """The content of the file that the setting `KNOWN_SYSTEMS` names."""
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    return tuple(System(**entry | {"embeds": tuple(entry["embeds"])}) for entry in entries)


def repositories_on_boards() -> dict[str, str]:
    """The id of every model with a published run, by its id in small letters."""
    ids = EmbeddingModel.objects.filter(revisions__runs__is_published=True).distinct().values_list("repo_id", flat=True)
    return {repo_id.lower(): repo_id for repo_id in ids}
