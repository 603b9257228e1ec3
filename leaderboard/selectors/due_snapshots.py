"""Which suites need new statistics, or new boards from the statistics that they have."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from leaderboard.models import BoardSnapshot, BoardTable, Run, Task
from leaderboard.selectors.board_layout import LAYOUT
from leaderboard.selectors.catalogue import LISTED
from leaderboard.selectors.known_training import KnownTraining, training_digest, training_of_runs


def suites_to_build() -> list[int]:
    """Live suites whose statistics do not cover exactly what is published and installed, or lack boards.

    Boards of another layout than the present one do not count. Three queries.
    """
    runs = _grouped(Run.objects.filter(LISTED, suite__is_live=True).values_list("suite_id", "pk"))
    tasks = _grouped(Task.objects.filter(suite__is_live=True, is_installed=True).values_list("suite_id", "name"))
    built = {
        suite_id: (set(covered), set(names))
        for suite_id, covered, names in BoardSnapshot.objects.filter(
            Exists(BoardTable.objects.filter(snapshot=OuterRef("pk"), layout=LAYOUT)),
            is_current=True,
            suite__is_live=True,
        ).values_list("suite_id", "runs", "tasks")
    }
    due = [suite_id for suite_id in runs if built.get(suite_id) != (runs[suite_id], tasks.get(suite_id, set()))]
    return sorted([*due, *(built.keys() - runs.keys())])


def suites_to_mark() -> list[int]:
    """Live suites whose boards say something else of training data than what is known now. Eight queries."""
    found = BoardSnapshot.objects.filter(is_current=True, suite__is_live=True)
    snapshots = list(found.order_by("suite_id").values_list("suite_id", "runs", "training_data"))
    known = training_of_runs({run for _, runs, _ in snapshots for run in runs})
    return [
        suite_id for suite_id, runs, digest in snapshots if runs and digest != training_digest(_of_runs(known, runs))
    ]


def _of_runs(known: Mapping[UUID, KnownTraining], runs: Collection[UUID]) -> dict[UUID, KnownTraining]:
    return {run: known[run] for run in runs if run in known}


def _grouped(rows: Any) -> dict[int, set[Any]]:
    found: dict[int, set[Any]] = {}
    for suite_id, member in rows:
        found.setdefault(suite_id, set()).add(member)
    return found
