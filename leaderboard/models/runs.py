"""Runs, their tasks, their history, and the workers that do them."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaderboard.models.catalogue import Suite, Task
from leaderboard.models.embedding_models import ModelRevision
from leaderboard.models.submissions import Submission
from leaderboard.models.vocabulary import (
    ACTIVE_RUN_STATES,
    FINAL_RUN_STATES,
    ErrorKind,
    RunState,
    TaskRunState,
    WorkerClass,
    one_of,
)

LEASE_BOTH_OR_NEITHER = Q(lease_owner="", lease_expires_at__isnull=True) | (
    ~Q(lease_owner="") & Q(lease_expires_at__isnull=False)
)

IS_NO_RANKING = Q(hit_at_1_optimistic__isnull=True, hit_at_1_pessimistic__isnull=True, self_excluded__isnull=True)
"""Of a task run: it did not rank candidates for queries, so it need not have a chance level."""


class Priority(models.IntegerChoices):
    """Who goes first: lower numbers do."""

    VISITOR = 10, "Submission"
    RERUN = 20, "Rerun"
    DEMONSTRATION = 30, "Demonstration"


class Run(models.Model):
    """One attempt to evaluate one revision on one suite.

    The lease on a run covers its single-owner stages (preparing, scoring); while it is `running`, each task run has a
    lease of its own and any number of workers may help. `claims` counts how often it was taken from the queue, and
    fences what a worker writes of the run as a whole. `retries` counts failures of machines, `lost_leases` workers that
    vanished; until `retry_at` nobody takes it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    revision = models.ForeignKey(ModelRevision, on_delete=models.PROTECT, related_name="runs")
    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="runs")
    attempt = models.PositiveIntegerField()
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="runs", null=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    rerun_of = models.ForeignKey("self", on_delete=models.PROTECT, related_name="reruns", null=True)
    state = models.CharField(max_length=16, choices=RunState, default=RunState.QUEUED)
    priority = models.PositiveSmallIntegerField(choices=Priority, default=Priority.VISITOR)
    is_published = models.BooleanField(default=False)
    seed = models.PositiveIntegerField(default=42)
    model_description = models.JSONField(default=dict, help_text="What the worker loaded, with its encode config.")
    environment = models.JSONField(default=dict, help_text="Library versions, device and platform of the first worker.")
    code_version = models.CharField(max_length=64, blank=True)
    image_digest = models.CharField(max_length=100, blank=True)
    lease_owner = models.CharField(max_length=200, blank=True, default="")
    lease_expires_at = models.DateTimeField(null=True)
    lost_leases = models.PositiveSmallIntegerField(default=0)
    claims = models.PositiveIntegerField(default=0)
    retries = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    worker_class = models.CharField(
        max_length=16, choices=WorkerClass, default=WorkerClass.CPU, help_text="The smallest worker that can hold it."
    )
    expected_seconds = models.FloatField(default=0, help_text="A rough estimate, made when it was queued.")
    error_code = models.CharField(max_length=64, blank=True)
    error_kind = models.CharField(max_length=16, choices=ErrorKind, blank=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["revision", "suite", "attempt"], name="run_attempt_unique"),
            models.UniqueConstraint(
                fields=["revision", "suite"], condition=Q(state__in=ACTIVE_RUN_STATES), name="run_one_active"
            ),
            models.UniqueConstraint(
                fields=["revision", "suite"], condition=Q(is_published=True), name="run_one_published"
            ),
            one_of("state", RunState, name="run_state_known"),
            one_of("error_kind", ErrorKind, name="run_error_kind_known", blank=True),
            models.CheckConstraint(condition=Q(attempt__gte=1), name="run_attempt_from_one"),
            models.CheckConstraint(
                condition=Q(is_published=False) | Q(state=RunState.SUCCEEDED, published_at__isnull=False),
                name="run_published_has_succeeded",
            ),
            models.CheckConstraint(
                condition=(Q(state=RunState.FAILED) & ~Q(error_code="") & ~Q(error_kind="") & ~Q(error_message=""))
                | (~Q(state=RunState.FAILED) & Q(error_code="", error_kind="", error_message="")),
                name="run_failed_has_error",
            ),
            models.CheckConstraint(
                condition=(~Q(state__in=FINAL_RUN_STATES) | Q(finished_at__isnull=False))
                & (~Q(state__in=ACTIVE_RUN_STATES) | Q(finished_at__isnull=True)),
                name="run_final_is_finished",
            ),
            models.CheckConstraint(condition=LEASE_BOTH_OR_NEITHER, name="run_lease_both_or_neither"),
            one_of("worker_class", WorkerClass, name="run_worker_class_known"),
            models.CheckConstraint(condition=Q(expected_seconds__gte=0), name="run_expected_seconds_positive"),
        ]
        indexes = [
            models.Index(fields=["state"], condition=Q(state__in=ACTIVE_RUN_STATES), name="run_active"),
            models.Index(fields=["requested_by", "-started_at"], name="run_served"),
            models.Index(fields=["-finished_at"], condition=Q(state__in=FINAL_RUN_STATES), name="run_ended"),
        ]

    def __str__(self) -> str:
        return f"{self.revision} on {self.suite}, attempt {self.attempt}"

    @property
    def is_active(self) -> bool:
        """Whether workers may still work on it."""
        return self.state in ACTIVE_RUN_STATES


class TaskRun(models.Model):
    """One task in a run. `claims` counts the workers that took it and fences their writes; it never goes back.

    `lost_leases` counts workers that vanished in it, `retries` failures of machines; until `retry_at` nobody takes it.

    `n_queries` counts queries, anchors or questions. What only a ranking has (`hit_at_1_*`, `self_excluded`) is null
    for the other kinds of tasks, as is the chance level of a kind that has none.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="task_runs")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="task_runs")
    state = models.CharField(max_length=16, choices=TaskRunState, default=TaskRunState.PENDING)
    lease_owner = models.CharField(max_length=200, blank=True, default="")
    lease_expires_at = models.DateTimeField(null=True)
    claims = models.PositiveSmallIntegerField(default=0)
    lost_leases = models.PositiveSmallIntegerField(default=0)
    retries = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    carried_from = models.ForeignKey("self", on_delete=models.PROTECT, related_name="+", null=True)
    inputs_done = models.PositiveIntegerField(default=0)
    inputs_total = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    finished_by = models.CharField(max_length=200, blank=True, default="", help_text="The worker that ended it.")
    seconds_embedding = models.FloatField(null=True)
    seconds_ranking = models.FloatField(null=True)
    peak_memory_bytes = models.BigIntegerField(null=True)
    n_queries = models.PositiveIntegerField(null=True)
    chance = models.FloatField(null=True)
    hit_at_1_optimistic = models.FloatField(null=True)
    hit_at_1_pessimistic = models.FloatField(null=True)
    self_excluded = models.PositiveIntegerField(null=True)
    data_sha256 = models.CharField(max_length=64, blank=True)
    outcomes = models.BinaryField(
        null=True, help_text="Per-query ranks, or a probe's arrays, compressed; intervals can be made from them."
    )
    first_ranked = models.JSONField(
        default=list,
        blank=True,
        help_text="Of some queries, which candidate came first: record, place, how many level.",
    )
    counts = models.JSONField(default=dict, blank=True, help_text="How many anchors, templates, ties and the like.")
    error_code = models.CharField(max_length=64, blank=True)
    error_kind = models.CharField(max_length=16, choices=ErrorKind, blank=True)
    error_message = models.TextField(blank=True)

    class Meta:
        ordering = ["run", "task__position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "task"], name="task_run_unique"),
            one_of("state", TaskRunState, name="task_run_state_known"),
            one_of("error_kind", ErrorKind, name="task_run_error_kind_known", blank=True),
            models.CheckConstraint(condition=LEASE_BOTH_OR_NEITHER, name="task_run_lease_both_or_neither"),
            models.CheckConstraint(
                condition=Q(state=TaskRunState.CLAIMED) & ~Q(lease_owner="")
                | ~Q(state=TaskRunState.CLAIMED) & Q(lease_owner=""),
                name="task_run_claimed_has_lease",
            ),
            models.CheckConstraint(
                condition=~Q(state=TaskRunState.SUCCEEDED)
                | (
                    Q(outcomes__isnull=False, n_queries__isnull=False, n_queries__gte=1, finished_at__isnull=False)
                    & (Q(chance__isnull=False, chance__gte=0, chance__lte=1) | (Q(chance__isnull=True) & IS_NO_RANKING))
                ),
                name="task_run_succeeded_has_outcomes",
            ),
            models.CheckConstraint(
                condition=(Q(state=TaskRunState.FAILED) & ~Q(error_code="") & ~Q(error_kind="") & ~Q(error_message=""))
                | (~Q(state=TaskRunState.FAILED) & Q(error_code="", error_kind="", error_message="")),
                name="task_run_failed_has_error",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "task"], condition=Q(state=TaskRunState.PENDING), name="task_run_claimable"),
            models.Index(fields=["lease_expires_at"], condition=Q(state=TaskRunState.CLAIMED), name="task_run_leased"),
            models.Index(fields=["finished_at"], condition=~Q(finished_by=""), name="task_run_finished"),
        ]

    def __str__(self) -> str:
        return f"{self.task.name} in {self.run_id}"


class RunEvent(models.Model):
    """A line of a run's history. Only ever added."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(auto_now_add=True)
    from_state = models.CharField(max_length=16, blank=True)
    to_state = models.CharField(max_length=16, blank=True)
    actor = models.CharField(max_length=200, help_text="A person's name, a worker's name, or 'reaper'.")
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["at", "id"]
        constraints = [
            one_of("from_state", RunState, name="run_event_from_known", blank=True),
            one_of("to_state", RunState, name="run_event_to_known", blank=True),
            models.CheckConstraint(condition=~Q(actor=""), name="run_event_has_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.from_state} -> {self.to_state} by {self.actor}"


class Worker(models.Model):
    """A worker process that has reported itself."""

    name = models.CharField(max_length=200, unique=True)
    device = models.CharField(max_length=64)
    worker_class = models.CharField(max_length=16, choices=WorkerClass, default=WorkerClass.CPU)
    versions = models.JSONField(default=dict)
    started_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    memory_bytes = models.BigIntegerField(null=True, help_text="Resident, with its child, when last seen.")
    memory_total_bytes = models.BigIntegerField(null=True, help_text="Of the machine.")
    current_run = models.ForeignKey(Run, on_delete=models.SET_NULL, related_name="+", null=True)

    class Meta:
        ordering = ["name"]
        constraints = [one_of("worker_class", WorkerClass, name="worker_class_known")]

    def __str__(self) -> str:
        return self.name
