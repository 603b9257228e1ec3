"""The eight public models whose scores say how hard a task is.

`baselines.tsv` names their hub repositories. The names are the benchmark's; which repository stands for a name is this
project's assignment where the benchmark does not say. MedEmb is no baseline: it was trained on the benchmark's sources.
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parent / "baselines.tsv"


def baseline_names() -> tuple[str, ...]:
    """The names of the baselines, each once."""
    return tuple(dict.fromkeys(_by_repository().values()))


def baseline_name(repository: str, adapter: str = "") -> str | None:
    """Which baseline a repository with this adapter (or none) is; None for every other model."""
    return _by_repository().get((repository.lower(), adapter.lower()))


def chosen_baselines(models: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """The baselines among the models of a board: name by key, from repository and adapter by key.

    Where several models are the same baseline (two commits, two encode configs), the first one stands for it, so that
    a later one moves nothing.
    """
    chosen: dict[str, str] = {}
    for key, (repository, adapter) in models.items():
        name = baseline_name(repository, adapter)
        if name is not None and name not in chosen.values():
            chosen[key] = name
    return chosen


@cache
def _by_repository() -> Mapping[tuple[str, str], str]:
    with _FILE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
    return {(row["repository"].lower(), row["adapter"].lower()): row["name"] for row in rows}
