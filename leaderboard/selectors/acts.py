"""Reads the log of administrative acts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from leaderboard.models import Act

ACTS_SHOWN = 50
"""Acts on one page."""


@dataclass(frozen=True, slots=True)
class ActFilter:
    """Which acts are wanted; what is empty filters nothing. `since` and `until` are whole days in UTC."""

    kind: str = ""
    actor: str = ""
    words: str = ""
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class ActRow:
    """One line of the log."""

    at: datetime
    actor: str
    kind: str
    kind_title: str
    subject: str
    run_id: UUID | None
    repo_id: str
    reason: str
    details: dict[str, Any]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The details as words: a name, which says where it stands, and its value."""
        return list(_facts(self.details))


@dataclass(frozen=True, slots=True)
class ActsPage:
    """A page of the log, the newest first."""

    rows: tuple[ActRow, ...]
    n_acts: int
    page: int
    n_pages: int


def acts_page(wanted: ActFilter, *, page: int) -> ActsPage:
    """A page of the wanted acts. A page beyond the last one is the last."""
    found = _filtered(wanted)
    n_acts = found.count()
    n_pages = max(1, -(-n_acts // ACTS_SHOWN))
    page = min(max(1, page), n_pages)
    first = (page - 1) * ACTS_SHOWN
    return ActsPage(tuple(_row(act) for act in found[first : first + ACTS_SHOWN]), n_acts, page, n_pages)


def acts(wanted: ActFilter) -> Iterator[ActRow]:
    """All wanted acts, the newest first, read as they are asked for."""
    return (_row(act) for act in _filtered(wanted).iterator(chunk_size=1000))


def _filtered(wanted: ActFilter) -> QuerySet[Act]:
    found = Act.objects.all()
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    if wanted.actor:
        found = found.filter(actor__iexact=wanted.actor)
    if wanted.words:
        found = found.filter(Q(subject__icontains=wanted.words) | Q(reason__icontains=wanted.words))
    if wanted.since:
        found = found.filter(at__date__gte=wanted.since)
    if wanted.until:
        found = found.filter(at__date__lte=wanted.until)
    return found


def _facts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """What a value that holds others holds, name by name; nothing is said of what is empty."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _facts(inner, f"{name} {key}".strip().replace("_", " "))
    elif isinstance(value, list):
        for inner in value:
            yield from _facts(inner, name)
    else:
        yield name, "none" if value is None else str(value)


def _row(act: Act) -> ActRow:
    return ActRow(
        at=act.at,
        actor=act.actor,
        kind=act.kind,
        kind_title=act.get_kind_display(),
        subject=act.subject,
        run_id=act.run_id,
        repo_id=act.repo_id,
        reason=act.reason,
        details=act.details,
    )
