"""Reads what is known of the data that models were trained on, and which tasks that contaminates.

A cell (a model on a task) is contaminated when a source data set of the task was among the model's training data: its
submitter declared it, or an administrator found it. An administrator's finding overrules a declaration either way.
"""

import csv
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from leaderboard.models import ModelRevision, Submission, Task, TrainingDataMark
from leaderboard.models.vocabulary import Domain, TrainingDataStatement, TrainingVerdict

OTHER_SOURCES = "Other suites of this board"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A source data set. `group` is the domain that it is listed under, `note` what it shares with others."""

    name: str
    group: str
    modality: str
    note: str
    n_tasks: int


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """A data set that a model was trained on, by whose word ("declared" or "found") and why.

    `tasks` are the names of the tasks of a suite that are made from it.
    """

    dataset: str
    by: str
    reason: str
    tasks: tuple[str, ...]


def known_datasets() -> tuple[Dataset, ...]:
    """The data sets that can be declared: those of the catalogue, then those of other live suites. One query."""
    counts: dict[str, int] = {}
    for names in Task.objects.filter(suite__is_live=True).values_list("datasets", flat=True):
        for name in set(names):
            counts[name] = counts.get(name, 0) + 1
    listed = _catalogue(settings.DATASETS_TABLE)
    catalogue = [Dataset(name, *facts, n_tasks=counts.get(name, 0)) for name, facts in listed.items()]
    others = sorted(counts.keys() - listed.keys(), key=str.lower)
    return (*catalogue, *(Dataset(name, OTHER_SOURCES, "", "", counts[name]) for name in others))


@lru_cache(maxsize=2)
def _catalogue(file: Path) -> dict[str, tuple[str, str, str]]:
    """Group, modality and note of each data set of the catalogue, by its name, ordered by group."""
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
    rows.sort(key=lambda row: Domain.values.index(row["domain_ours"]))
    return {
        row["name_in_source"]: (
            Domain(row["domain_ours"]).label,
            row["modality"].strip(),
            row["overlap_and_leakage_notes"].strip(),
        )
        for row in rows
    }


def training_datasets(revision_ids: Collection[int]) -> dict[int, frozenset[str]]:
    """The data sets that each revision was trained on, as far as is known. Three queries.

    Declarations count from when a result of the submission was published, so that nobody can mark a model by a
    submission that comes to nothing.
    """
    models = dict(ModelRevision.objects.filter(pk__in=revision_ids).values_list("pk", "model_id"))
    found: dict[int, set[str]] = {revision: set() for revision in models}
    declared = _counting(revision_ids).exclude(declared_training_data=[])
    for revision, names in declared.values_list("revision_id", "declared_training_data"):
        found[revision] |= set(names)
    marks = _marks(models.values())
    for revision, model in models.items():
        for dataset, verdict in marks.get(model, {}).items():
            (found[revision].add if verdict == TrainingVerdict.TRAINED else found[revision].discard)(dataset)
    return {revision: frozenset(names) for revision, names in found.items()}


def training_statements(revision_ids: Collection[int]) -> dict[int, TrainingDataStatement]:
    """What the submitters of each revision declared; of several statements the one that says most. One query.

    A revision that nobody declared anything of is missing.
    """
    found: dict[int, TrainingDataStatement] = {}
    for revision, stated in _counting(revision_ids).values_list("revision_id", "training_data"):
        statement = TrainingDataStatement(stated)
        found[revision] = max(found.get(revision, statement), statement, key=_SAYS_MORE.index)
    return found


_SAYS_MORE = (TrainingDataStatement.UNKNOWN, TrainingDataStatement.NONE, TrainingDataStatement.LISTED)
"""The statements, from the one that says least."""


def _counting(revision_ids: Collection[int]) -> QuerySet[Submission]:
    """The submissions whose declarations count."""
    return Submission.objects.filter(
        revision__in=revision_ids, runs__published_at__isnull=False, is_private=False
    ).order_by()


def _marks(model_ids: Iterable[int]) -> dict[int, dict[str, str]]:
    marks: dict[int, dict[str, str]] = {}
    standing = TrainingDataMark.objects.filter(model__in=set(model_ids), is_current=True)
    for model, dataset, verdict in standing.values_list("model_id", "dataset", "verdict"):
        marks.setdefault(model, {})[dataset] = verdict
    return marks


def contaminated_tasks(revision_ids: Collection[int]) -> Mapping[int, frozenset[int]]:
    """For each revision the ids of the tasks, of all suites, that its training data contaminate. Four queries.

    A board that leaves contaminated cells out asks this once for all of its revisions, and gives the answer to
    `leaderboard.selectors.clean_boards`.
    """
    return _contaminated(training_datasets(revision_ids), Task.objects.all(), "pk")


def contaminated_task_names(revision_ids: Collection[int], *, suite_id: int) -> Mapping[int, frozenset[str]]:
    """For each revision the names of the tasks of one suite that its training data contaminate. Four queries."""
    return _contaminated(training_datasets(revision_ids), Task.objects.filter(suite=suite_id), "name")


def _contaminated(
    trained: Mapping[int, frozenset[str]], tasks: QuerySet[Task], field: str
) -> dict[int, frozenset[Any]]:
    """For each revision a field of those tasks that are made of its training data. One query."""
    names = frozenset[str]().union(*trained.values())
    found = tasks.filter(datasets__overlap=sorted(names)).order_by().values_list(field, "datasets") if names else ()
    of_dataset: dict[str, set[Any]] = {}
    for task, datasets in found:
        for dataset in datasets:
            of_dataset.setdefault(dataset, set()).add(task)
    return {
        revision: frozenset(task for dataset in datasets for task in of_dataset.get(dataset, ()))
        for revision, datasets in trained.items()
    }


def contaminated_revisions(task: Task, revision_ids: Collection[int]) -> frozenset[int]:
    """Those of the revisions that were trained on a source data set of the task. Three queries."""
    sources = set(task.datasets)
    return frozenset(revision for revision, names in training_datasets(revision_ids).items() if names & sources)


def trained_on(*, revision_id: int, model_id: int, suite_id: int) -> tuple[TrainedOn, ...]:
    """What a revision was trained on, each with the tasks of a suite that it contaminates. Three queries."""
    marks = {mark.dataset: mark for mark in TrainingDataMark.objects.filter(model=model_id, is_current=True)}
    declared = set().union(*_counting([revision_id]).values_list("declared_training_data", flat=True))
    reasons = dict.fromkeys(declared, ("declared", "Its submitter declared it."))
    for name, mark in marks.items():
        if mark.verdict == TrainingVerdict.TRAINED:
            reasons[name] = ("found", mark.reason)
        else:
            reasons.pop(name, None)
    tasks = Task.objects.filter(suite=suite_id).order_by("position").values_list("name", "datasets")
    sources = list(tasks) if reasons else []
    return tuple(
        TrainedOn(name, *reasons[name], tasks=tuple(task for task, datasets in sources if name in datasets))
        for name in sorted(reasons)
    )


@dataclass(frozen=True, slots=True)
class MarkRow:
    """A finding that stands."""

    mark_id: int
    repo_id: str
    dataset: str
    verdict: str
    reason: str
    marked_by: str
    marked_at: datetime


def standing_marks() -> list[MarkRow]:
    """Every finding that stands, the newest first. One query."""
    marks = TrainingDataMark.objects.filter(is_current=True).select_related("model", "marked_by")
    return [
        MarkRow(
            mark.pk,
            mark.model.repo_id,
            mark.dataset,
            mark.get_verdict_display(),
            mark.reason,
            mark.marked_by.get_username(),
            mark.marked_at,
        )
        for mark in marks
    ]
