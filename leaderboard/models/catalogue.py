"""Suites and their tasks."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from leaderboard.models.vocabulary import (
    HEX_64,
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    PairingType,
    PoolScope,
    Split,
    matches,
    one_of,
)


class Suite(models.Model):
    """A versioned, ordered list of tasks. One version of a slug is live: the one that new submissions run on."""

    slug = models.SlugField(max_length=64)
    version = models.CharField(max_length=32)
    title = models.CharField(max_length=200)
    synthetic = models.BooleanField(help_text="Made of drawn phantoms, not of medical data; every page says so.")
    is_live = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug", "-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["slug", "version"], name="suite_slug_version_unique"),
            models.UniqueConstraint(fields=["slug"], condition=Q(is_live=True), name="suite_one_live_per_slug"),
            models.CheckConstraint(condition=~Q(version=""), name="suite_version_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"


class Task(models.Model):
    """The smallest scored unit. Its declaration never changes within a suite's version."""

    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="tasks")
    name = models.CharField(max_length=128)
    title = models.CharField(max_length=200)
    position = models.PositiveIntegerField(help_text="Order in the suite, from 0.")
    family = models.CharField(max_length=32, choices=Family)
    domain = models.CharField(max_length=32, choices=Domain)
    evidence_form = models.CharField(max_length=16, choices=EvidenceForm)
    pairing_type = models.CharField(max_length=32, choices=PairingType)
    granularity = models.CharField(max_length=32, choices=Granularity)
    split = models.CharField(max_length=16, choices=Split)
    pool = models.CharField(max_length=8, choices=PoolScope)
    parser = models.CharField(max_length=32)
    group = models.CharField(max_length=64, help_text="The release's own group.")
    datasets = ArrayField(models.CharField(max_length=64))
    data_group = models.CharField(
        max_length=200, help_text="Tasks with one value share their data and are run together."
    )
    relevance_rule = models.TextField()
    licence = models.CharField(max_length=200)
    images_may_be_shown = models.BooleanField()
    notes = models.TextField(blank=True)
    spec_sha256 = models.CharField(max_length=64)
    is_installed = models.BooleanField(default=False, help_text="Whether the task's data lie on the workers.")
    unavailable_reason = models.TextField(blank=True, help_text="Why no run includes the task, where that is known.")
    n_queries = models.PositiveIntegerField(null=True, help_text="Known once the data are installed.")
    chance = models.FloatField(null=True, help_text="Hit@1 of a random order, from the task's pools.")

    class Meta:
        ordering = ["suite", "position"]
        constraints = [
            models.UniqueConstraint(fields=["suite", "name"], name="task_suite_name_unique"),
            one_of("family", Family, name="task_family_known"),
            one_of("domain", Domain, name="task_domain_known"),
            one_of("evidence_form", EvidenceForm, name="task_evidence_form_known"),
            one_of("pairing_type", PairingType, name="task_pairing_type_known"),
            one_of("granularity", Granularity, name="task_granularity_known"),
            one_of("split", Split, name="task_split_known"),
            one_of("pool", PoolScope, name="task_pool_known"),
            matches("spec_sha256", HEX_64, name="task_spec_sha256_hex"),
            models.CheckConstraint(
                condition=Q(chance__isnull=True) | Q(chance__gte=0, chance__lte=1), name="task_chance_in_range"
            ),
            models.CheckConstraint(
                condition=Q(chance__isnull=True, n_queries__isnull=True)
                | Q(chance__isnull=False, n_queries__isnull=False, n_queries__gte=1),
                name="task_chance_with_queries",
            ),
            models.CheckConstraint(
                condition=Q(is_installed=False) | Q(n_queries__isnull=False), name="task_installed_is_measured"
            ),
            models.CheckConstraint(
                condition=Q(is_installed=False) | Q(unavailable_reason=""), name="task_installed_lacks_nothing"
            ),
        ]
        indexes = [models.Index(F("suite"), F("family"), name="task_suite_family")]

    def __str__(self) -> str:
        return self.name
