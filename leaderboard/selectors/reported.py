"""Reads the figures that a benchmark's authors report. They were not measured here and stand on the methods page alone."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ReportedFigure:
    """One statement of the authors; `numbers` are in `unit`: percent, points, ratio, score, or what is counted."""

    subject: str
    statement: str
    unit: str
    numbers: tuple[float, ...]

    @property
    def shown(self) -> str:
        """The numbers in words, a ratio or a score without its unit."""
        numbers = " / ".join(f"{number:g}" for number in self.numbers)
        return numbers if self.unit in {"ratio", "score"} else f"{numbers} {self.unit}"


@dataclass(frozen=True, slots=True)
class ReportedFigures:
    """All of them, with where they stand."""

    status: str
    source: str
    url: str
    figures: tuple[ReportedFigure, ...]


@lru_cache(maxsize=2)
def reported_figures(file: Path) -> ReportedFigures:
    """The content of a file that the setting `REPORTED_FIGURES` or `PROBING_REPORTED_FIGURES` names."""
    document = json.loads(file.read_text(encoding="utf-8"))
    return ReportedFigures(
        status=document["status"],
        source=document["source"],
        url=document["url"],
        figures=tuple(
            ReportedFigure(figure["subject"], figure["statement"], figure["unit"], tuple(figure["numbers"]))
            for figure in document["figures"]
        ),
    )
