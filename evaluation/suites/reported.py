"""Figures that a benchmark's authors report. They were not measured here and never stand among measured ones.

Each suite has one file of them: an object with `suite`, `status`, `source`, `url` and `figures`, each with a stable
`id`, its `subject`, a `statement`, a `unit` and its `numbers`. The site reads the same files.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ReportedFigure:
    """One statement of the authors; `numbers` are in `unit`: percent, points, ratio, score, or what is counted."""

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

    def lines(self) -> list[str]:
        """What a person reads: status and source, then a line a figure."""
        return [
            f"{self.status[0].upper()}{self.status[1:]} ({self.source}):",
            *(
                f"  {figure.subject}: {figure.statement}:"
                f" {', '.join(f'{number:g}' for number in figure.numbers)} ({figure.unit})"
                for figure in self.figures
            ),
        ]


@cache
def read_reported_figures(file: Path) -> ReportedFigures:
    """The content of a suite's file."""
    document = json.loads(file.read_text(encoding="utf-8"))
    figures = tuple(ReportedFigure(**figure | {"numbers": tuple(figure["numbers"])}) for figure in document["figures"])
    return ReportedFigures(**document | {"figures": figures})
