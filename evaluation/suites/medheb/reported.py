"""The figures that MedHEB's authors report. They were not measured here and never stand among measured ones.

`reported.json` is their only source: one object with `suite`, `status`, `source`, `url` and `figures`, each with a
stable `id`, its `subject`, a `statement`, a `unit` and its `numbers`. The site reads the same file.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPORTED_FILE = Path(__file__).parent / "reported.json"


@dataclass(frozen=True, slots=True)
class ReportedFigure:
    """One statement of the authors; `numbers` are in `unit`: percent, points, ratio or tasks."""

    id: str
    subject: str
    statement: str
    unit: str
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ReportedFigures:
    """All of them, with where they stand."""

    suite: str
    status: str
    source: str
    url: str
    figures: tuple[ReportedFigure, ...]


@cache
def reported_figures() -> ReportedFigures:
    """The content of `reported.json`."""
    document = json.loads(REPORTED_FILE.read_text(encoding="utf-8"))
    figures = tuple(ReportedFigure(**figure | {"numbers": tuple(figure["numbers"])}) for figure in document["figures"])
    return ReportedFigures(**document | {"figures": figures})
