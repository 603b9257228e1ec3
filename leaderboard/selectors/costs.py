"""Reads what evaluations cost: seconds of embedding and ranking, by person, model or day and by class of worker."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, F, Sum, TextChoices, Value
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from leaderboard.models import TaskRun

COSTS_SHOWN = 200


class CostsBy(TextChoices):
    """What costs are added up for."""

    PERSON = "person", "Person"
    MODEL = "model", "Model"
    DAY = "day", "Day"


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one person, model or day on one class of workers.

    `seconds` counts embedding and ranking of the tasks that ended with a result; tasks that were carried over from an
    """

    subject: str
    worker_class: str
    seconds: float
    n_inputs: int
    n_tasks: int
    n_runs: int


@dataclass(frozen=True, slots=True)
class Costs:
    """The largest costs first, and the sum of all of them, also of those that are left out."""

    rows: tuple[Cost, ...]
    n_rows: int
    seconds: float


_SUBJECTS = {
    CostsBy.PERSON: F("run__requested_by__username"),
    CostsBy.MODEL: F("run__revision__model__repo_id"),
    CostsBy.DAY: TruncDate("finished_at"),
}


def costs(*, by: CostsBy, days: int) -> Costs:
    """What the tasks cost that ended with a result within so many days."""
    seconds = Sum(Coalesce("seconds_embedding", Value(0.0)) + Coalesce("seconds_ranking", Value(0.0)))
    found = (
        TaskRun.objects.filter(
            finished_at__gte=timezone.now() - timedelta(days=days),
            seconds_embedding__isnull=False,
            carried_from__isnull=True,
        )
        .order_by()
        .values(subject=_SUBJECTS[by], worker_class=F("run__worker_class"))
        .annotate(
            seconds=seconds,
            n_inputs=Coalesce(Sum("inputs_total"), 0),
            n_tasks=Count("pk"),
            n_runs=Count("run", distinct=True),
        )
        .order_by("-subject" if by == CostsBy.DAY else "-seconds", "worker_class")
    )
    rows = [Cost(**{**row, "subject": str(row["subject"])}) for row in found]
    return Costs(tuple(rows[:COSTS_SHOWN]), len(rows), sum(row.seconds for row in rows))
