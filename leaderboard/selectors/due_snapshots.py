"""Which suites need new statistics."""

from typing import Any

from django.db.models import Exists, OuterRef

from leaderboard.models import BoardSnapshot, BoardTable, Run, Task
from leaderboard.selectors.board_layout import LAYOUT
from leaderboard.selectors.catalogue import LISTED


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


def _grouped(rows: Any) -> dict[int, set[Any]]:
    found: dict[int, set[Any]] = {}
    for suite_id, member in rows:
        found.setdefault(suite_id, set()).add(member)
    return found
