"""A finished rerun beside the published run: computed by a worker, shown before anybody publishes."""

from django.db import models
from django.db.models import F, Q

from leaderboard.models.runs import Run


class RunComparison(models.Model):
    """Paired differences of a run to the run that was published when they were computed.

    `rows` is a list of objects with `scope`, `key`, `value`, `lower`, `upper` and `n_tasks`: new minus old over the
    tasks that both have, where `key` is a group of the scope or, with scope "task", a task. `unpaired` names tasks that
    both runs scored on different data. `trouble` says why nothing could be computed.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="comparison")
    baseline = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    rows = models.JSONField()
    unpaired = models.JSONField(default=list, blank=True)
    trouble = models.CharField(max_length=500, blank=True, default="")
    built_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(run=F("baseline")), name="run_comparison_of_two_runs"),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id} beside {self.baseline_id}"
