"""Scores of tasks and means over tasks. Ranks are never stored here."""

from django.db import models
from django.db.models import F, Q

from leaderboard.models.runs import Run, TaskRun
from leaderboard.models.vocabulary import AggregateScope, one_of

INTERVAL_BOTH_OR_NEITHER = Q(lower__isnull=True, upper__isnull=True) | Q(
    lower__isnull=False, upper__isnull=False, lower__lte=F("upper")
)
INFINITY = float("inf")
ADJUSTED_METRIC = "adjusted_hit@1"
COSINE_DIFFERENCES = ("ds", "ds_size_matched", "ds_blank", "ds_noise")
SCALED_METRIC = "ds_scaled"
ADJUSTED_RATE = "pass_rate_adjusted"
IS_SIGNED = Q(metric__in=[*COSINE_DIFFERENCES, SCALED_METRIC, ADJUSTED_RATE])


def _in_range(field: str) -> Q:
    """Whether a value, or an end of its interval, lies where its metric can be."""

    def within(low: float, high: float) -> Q:
        return Q(**{f"{field}__gte": low, f"{field}__lte": high})

    return (
        (~IS_SIGNED & within(0, 1))
        | (Q(metric__in=COSINE_DIFFERENCES) & within(-2, 2))
        | (Q(metric=ADJUSTED_RATE) & Q(**{f"{field}__gt": -INFINITY, f"{field}__lte": 1}))
        | (Q(metric=SCALED_METRIC) & Q(**{f"{field}__gt": -INFINITY, f"{field}__lt": INFINITY}))
    )


class Score(models.Model):
    """One metric of one task run with its 95% interval.

    A share is in [0, 1]; a Discrimination Score is a difference of cosines, in [-2, 2]; one in units of the cosines'
    spread is finite; a pass rate above chance is at most 1 and may be negative.
    """

    task_run = models.ForeignKey(TaskRun, on_delete=models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=64)
    value = models.FloatField()
    lower = models.FloatField(null=True)
    upper = models.FloatField(null=True)
    is_main = models.BooleanField(default=False)

    class Meta:
        ordering = ["task_run", "metric"]
        constraints = [
            models.UniqueConstraint(fields=["task_run", "metric"], name="score_unique"),
            models.UniqueConstraint(fields=["task_run"], condition=Q(is_main=True), name="score_one_main"),
            models.CheckConstraint(condition=_in_range("value"), name="score_value_in_range"),
            models.CheckConstraint(
                condition=INTERVAL_BOTH_OR_NEITHER
                & (Q(lower__isnull=True) | (_in_range("lower") & _in_range("upper"))),
                name="score_interval_in_range",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.4f}"


class AggregateScore(models.Model):
    """A mean over the tasks of one group (or, with metric "cv", the spread across families) in one run.

    A mean of scores is in [0, 1]; one of scores above chance, "adjusted_hit@1", is at most 1 and may be negative; a
    spread is at least 0.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="aggregate_scores")
    scope = models.CharField(max_length=16, choices=AggregateScope)
    key = models.CharField(max_length=32, blank=True, help_text="The group; empty for the overall scope.")
    metric = models.CharField(max_length=32)
    value = models.FloatField()
    lower = models.FloatField(null=True)
    upper = models.FloatField(null=True)
    n_tasks = models.PositiveIntegerField()
    n_expected = models.PositiveIntegerField()

    class Meta:
        ordering = ["run", "scope", "key"]
        constraints = [
            models.UniqueConstraint(fields=["run", "scope", "key", "metric"], name="aggregate_score_unique"),
            one_of("scope", AggregateScope, name="aggregate_score_scope_known"),
            models.CheckConstraint(
                condition=Q(scope=AggregateScope.OVERALL, key="") | (~Q(scope=AggregateScope.OVERALL) & ~Q(key="")),
                name="aggregate_score_key_with_scope",
            ),
            models.CheckConstraint(
                condition=Q(value__gt=-INFINITY, value__lt=INFINITY), name="aggregate_score_value_finite"
            ),
            models.CheckConstraint(
                condition=(Q(metric=ADJUSTED_METRIC) | Q(value__gte=0)) & (Q(metric="cv") | Q(value__lte=1)),
                name="aggregate_score_value_in_range",
            ),
            models.CheckConstraint(condition=INTERVAL_BOTH_OR_NEITHER, name="aggregate_score_interval"),
            models.CheckConstraint(
                condition=Q(n_tasks__gte=1, n_tasks__lte=F("n_expected")), name="aggregate_score_coverage"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.key} {self.metric} {self.value:.4f}"
