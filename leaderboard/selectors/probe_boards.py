"""Reads the statistics of probing suites."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from leaderboard.models import BoardSnapshot
from leaderboard.models.vocabulary import OWN_MODALITIES, Level, Modality
from leaderboard.selectors.probe_rows import (
    BlindBaseline,
    Ceiling,
    ClosedQuestions,
    MissingAttribute,
    NegationCount,
    ProbeCell,
    ProbeCheck,
    ProtocolAgreement,
    ProtocolStanding,
    SampleSize,
    StyleSpread,
    StyleSummary,
    Subgroup,
    SubgroupGap,
)
from leaderboard.selectors.snapshots import Snapshot, current_snapshot, installed_tasks, published_run_ids

CACHED_BOARDS = 8
OTHER_SET_MARK = "@"
"""In a task's name, what stands before the data set where a modality has a second one."""

TABLES: Mapping[str, type[Any]] = {
    "cells": ProbeCell,
    "ceilings": Ceiling,
    "styles": StyleSpread,
    "negation": NegationCount,
    "subgroups": Subgroup,
    "subgroup_gaps": SubgroupGap,
    "missing_attributes": MissingAttribute,
    "sample_size": SampleSize,
    "closed_questions": ClosedQuestions,
    "protocols": ProtocolStanding,
    "agreements": ProtocolAgreement,
    "checks": ProbeCheck,
    "blind_baselines": BlindBaseline,
}
"""The tables of the document that hold rows, and what a row of each is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where cells are measured: a modality on one data set. `is_main`: the modality's first data set."""

    modality: str
    dataset: str
    is_main: bool

    @property
    def key(self) -> str:
        """Its name in addresses and headers: the modality, with the data set where it is not the first."""
        return self.modality if self.is_main else f"{self.modality}-{self.dataset}"

    @property
    def title(self) -> str:
        """The modality's words, with the data set where it is not the modality's first."""
        words = Modality(self.modality).label
        return words if self.is_main else f"{words} ({self.dataset})"

    @property
    def is_counted(self) -> bool:
        """Whether figures over modalities include it: MedTEC's own modalities, each once."""
        return self.is_main and self.modality not in OWN_MODALITIES


@dataclass(frozen=True, slots=True)
class ProbeContent:
    """A snapshot's document. `models` are ids of runs."""

    resamples: int
    seed: int
    models: tuple[str, ...]
    style_summary: StyleSummary
    cells: tuple[ProbeCell, ...]
    ceilings: tuple[Ceiling, ...]
    styles: tuple[StyleSpread, ...]
    negation: tuple[NegationCount, ...]
    subgroups: tuple[Subgroup, ...]
    subgroup_gaps: tuple[SubgroupGap, ...]
    missing_attributes: tuple[MissingAttribute, ...]
    sample_size: tuple[SampleSize, ...]
    closed_questions: tuple[ClosedQuestions, ...]
    protocols: tuple[ProtocolStanding, ...]
    agreements: tuple[ProtocolAgreement, ...]
    checks: tuple[ProbeCheck, ...]
    blind_baselines: tuple[BlindBaseline, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """Where cells are measured, in the order of the modalities, a modality's first data set before others."""
        found = {(cell.modality, cell.dataset): OTHER_SET_MARK not in cell.task for cell in self.cells}
        order = Modality.values
        return tuple(
            Place(modality, dataset, is_main)
            for (modality, dataset), is_main in sorted(
                found.items(), key=lambda item: (order.index(item[0][0]), not item[1], item[0][1])
            )
        )

    def main_cells(self, *, model: str, place: Place) -> dict[str, ProbeCell]:
        """The main cells of one model in one place, by level, the coarsest first."""
        found = {cell.level: cell for cell in self.cells_of(model=model, place=place) if cell.is_main}
        return {level: found[level] for level in Level.values if level in found}

    def cells_of(self, *, model: str, place: Place | None = None) -> tuple[ProbeCell, ...]:
        """Every cell of one model, in one place if it is given."""
        return tuple(
            cell
            for cell in self.cells
            if cell.model == model
            and (place is None or (cell.modality, cell.dataset) == (place.modality, place.dataset))
        )

    def in_place(self, place: Place) -> "ProbeContent":
        """The same with one place's groups of people and sample sizes alone."""

        def here(rows: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(row for row in rows if (row.modality, row.dataset) == (place.modality, place.dataset))

        names = ("subgroups", "subgroup_gaps", "missing_attributes", "sample_size")
        return replace(self, **{name: here(getattr(self, name)) for name in names})

    def ceiling(self, *, model: str, place: Place) -> Ceiling | None:
        """Where a model stops in one place; None where it has no cell there."""
        wanted = (model, place.modality, place.dataset)
        return next((row for row in self.ceilings if (row.model, row.modality, row.dataset) == wanted), None)


@dataclass(frozen=True, slots=True)
class ProbeStatistics(Snapshot):
    """The statistics of a probing suite."""

    content: ProbeContent


def probe_statistics(suite_id: int) -> ProbeStatistics | None:
    """The current statistics of a probing suite, if there are any. At most four queries."""
    found = current_snapshot(suite_id, run_ids=published_run_ids(suite_id), tasks=installed_tasks(suite_id))
    if found is None:
        return None
    return ProbeStatistics(found.pk, found.built_at, found.is_fresh, found.left_out, _content(found.pk))


@dataclass(frozen=True, slots=True)
class CellDifference:
    """The DS of one run minus that of another; `level` is empty for the mean over the `n_cells` main cells of both."""

    modality: str
    dataset: str
    level: str
    value: float
    lower: float | None
    upper: float | None
    n_cells: int

    @property
    def is_separated(self) -> bool:
        """Whether there is an interval and it leaves zero out."""
        return self.lower is not None and self.upper is not None and (self.lower > 0 or self.upper < 0)

    @property
    def reversed(self) -> "CellDifference":
        """The same difference seen from the other run."""
        lower, upper = (None if end is None else -end for end in (self.upper, self.lower))
        return replace(self, value=-self.value, lower=lower, upper=upper)


def cell_differences(snapshot_id: int, run: str, other: str) -> tuple[CellDifference, ...]:
    """Run minus other in each place and main cell; empty where the snapshot has not compared them. One query."""
    document = BoardSnapshot.objects.values_list("differences", flat=True).get(pk=snapshot_id)
    numbers = {model: number for number, model in enumerate(document.get("models", ()))}
    if run not in numbers or other not in numbers:
        return ()
    first, second = numbers[run], numbers[other]
    found = [CellDifference(*rest) for a, b, *rest in document["rows"] if {a, b} == {first, second}]
    return tuple(found) if first < second else tuple(difference.reversed for difference in found)


def of_model(rows: Iterable[Any], model: str) -> tuple[Any, ...]:
    """The rows of a table that speak of one model."""
    return tuple(row for row in rows if row.model == model)


@lru_cache(maxsize=CACHED_BOARDS)
def _content(pk: int) -> ProbeContent:
    """The document of a snapshot, which never changes once it is stored."""
    return probe_content(BoardSnapshot.objects.values_list("content", flat=True).get(pk=pk))


def probe_content(document: Mapping[str, Any]) -> ProbeContent:
    """A stored document of `probe_board.schema.json`."""
    tables = {name: tuple(_row(kind, row) for row in document[name]) for name, kind in TABLES.items()}
    return ProbeContent(
        resamples=document["resamples"],
        seed=document["seed"],
        models=tuple(document["models"]),
        style_summary=StyleSummary(**document["style_summary"]),
        **tables,
    )


def _row(kind: type[Any], document: Mapping[str, Any]) -> Any:
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in document.items()})
