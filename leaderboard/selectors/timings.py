"""How long tasks take, learned from those that were done."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Aggregate, F, FloatField, Min, Q
from django.db.models.functions import Extract

from leaderboard.models import Run, TaskRun
from leaderboard.models.vocabulary import RunState, TaskRunState

SECONDS = F("seconds_embedding") + F("seconds_ranking")
RECENT_RUNS = 200


@dataclass(frozen=True, slots=True)
class Expectation:
    """Seconds that something takes: the usual case, and the range in which four of five lie."""

    usual: float
    low: float
    high: float

    def __add__(self, other: "Expectation") -> "Expectation":
        """One after the other; ends of ranges add up, which makes the sum's range a wide one."""
        return Expectation(self.usual + other.usual, self.low + other.low, self.high + other.high)


NOTHING = Expectation(0.0, 0.0, 0.0)


class _Percentile(Aggregate):
    """PostgreSQL's continuous percentile, interpolated between neighbours."""

    name = "percentile"
    output_field = FloatField()
    template = "PERCENTILE_CONT(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"

    def __init__(self, expression: object, *, share: float, **extra: object) -> None:
        super().__init__(expression, share=share, **extra)


def task_expectations(spec_sha256s: Collection[str]) -> dict[str, Expectation]:
    """What tasks of these declarations took over all models, by declaration; those never done are left out."""
    done = (
        TaskRun.objects.filter(
            state=TaskRunState.SUCCEEDED,
            carried_from__isnull=True,
            seconds_embedding__isnull=False,
            seconds_ranking__isnull=False,
            task__spec_sha256__in=spec_sha256s,
        )
        .values("task__spec_sha256")
        .annotate(
            usual=_Percentile(SECONDS, share=0.5),
            low=_Percentile(SECONDS, share=0.1),
            high=_Percentile(SECONDS, share=0.9),
        )
        .order_by()
    )
    return {row["task__spec_sha256"]: Expectation(row["usual"], row["low"], row["high"]) for row in done}


def preparation_expectation() -> Expectation:
    """What downloading and loading a model took in the last runs; nothing where there was none."""
    started = (
        Run.objects.filter(started_at__isnull=False)
        .annotate(running_at=Min("events__at", filter=Q(events__to_state=RunState.RUNNING)))
        .filter(running_at__isnull=False)
        .annotate(seconds=Extract(F("running_at") - F("started_at"), "epoch"))
        .order_by("-started_at")
        .values_list("seconds", flat=True)[:RECENT_RUNS]
    )
    seconds = sorted(max(0.0, float(value)) for value in started)
    if not seconds:
        return NOTHING
    return Expectation(*(_at(seconds, share) for share in (0.5, 0.1, 0.9)))


def _at(ordered: Sequence[float], share: float) -> float:
    """The percentile of ordered values, interpolated as PostgreSQL does."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
