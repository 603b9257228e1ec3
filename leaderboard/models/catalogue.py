"""Suites and their tasks."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from leaderboard.models.vocabulary import (
    HEX_64,
    AnchorSelection,
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    Level,
    Modality,
    NegationSubtype,
    PairingType,
    PhrasingStyle,
    PoolScope,
    Split,
    SuiteKind,
    TaskKind,
    matches,
    one_of,
)

IS_RETRIEVAL = Q(kind=TaskKind.RETRIEVAL)
IS_CELL = Q(kind=TaskKind.CELL)
RETRIEVAL_COLUMNS = ("family", "domain", "evidence_form", "pairing_type", "granularity", "split", "pool", "parser")
CELL_COLUMNS = ("level", "style", "selection")


def _all_given(names: tuple[str, ...]) -> Q:
    condition = Q()
    for name in names:
        condition &= ~Q(**{name: ""})
    return condition


def _none_given(names: tuple[str, ...]) -> Q:
    return Q(**dict.fromkeys(names, ""))


class Suite(models.Model):
    """A versioned, ordered list of tasks. One version of a slug is live: the one that new submissions run on."""

    slug = models.SlugField(max_length=64)
    kind = models.CharField(max_length=16, choices=SuiteKind, default=SuiteKind.RETRIEVAL)
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
            one_of("kind", SuiteKind, name="suite_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"


class Task(models.Model):
    """The smallest scored unit. Its declaration never changes within a suite's version.

    The columns from `family` to `group` and the relevance rule belong to retrieval tasks and are empty for the others.
    Those from `level` to `selection` belong to the cells of a probing suite; `modality` also to what a modality's cells
    are compared with, and `subtype` to negation alone.
    """

    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="tasks")
    name = models.CharField(max_length=128)
    title = models.CharField(max_length=200)
    position = models.PositiveIntegerField(help_text="Order in the suite, from 0.")
    kind = models.CharField(max_length=32, choices=TaskKind, default=TaskKind.RETRIEVAL)
    family = models.CharField(max_length=32, choices=Family, blank=True, default="")
    domain = models.CharField(max_length=32, choices=Domain, blank=True, default="")
    evidence_form = models.CharField(max_length=16, choices=EvidenceForm, blank=True, default="")
    pairing_type = models.CharField(max_length=32, choices=PairingType, blank=True, default="")
    granularity = models.CharField(max_length=32, choices=Granularity, blank=True, default="")
    split = models.CharField(max_length=16, choices=Split, blank=True, default="")
    pool = models.CharField(max_length=8, choices=PoolScope, blank=True, default="")
    parser = models.CharField(max_length=32, blank=True, default="")
    group = models.CharField(max_length=64, help_text="The release's own group.", blank=True, default="")
    modality = models.CharField(max_length=32, choices=Modality, blank=True, default="")
    level = models.CharField(max_length=2, choices=Level, blank=True, default="")
    style = models.CharField(max_length=16, choices=PhrasingStyle, blank=True, default="")
    subtype = models.CharField(max_length=16, choices=NegationSubtype, blank=True, default="")
    selection = models.CharField(max_length=16, choices=AnchorSelection, blank=True, default="")
    example_probes = models.JSONField(
        default=list, blank=True, help_text="Of one concept, each template's true and false texts, to show them."
    )
    data_facts = models.JSONField(
        default=dict, blank=True, help_text="Numbers of the data: rows left out by reason, anchors by label."
    )
    datasets = ArrayField(models.CharField(max_length=64))
    data_group = models.CharField(
        max_length=200, help_text="Tasks with one value share their data and are run together."
    )
    relevance_rule = models.TextField(blank=True, default="")
    licence = models.CharField(max_length=200)
    images_may_be_shown = models.BooleanField()
    notes = models.TextField(blank=True)
    spec_sha256 = models.CharField(max_length=64)
    is_installed = models.BooleanField(default=False, help_text="Whether the task's data lie on the workers.")
    unavailable_reason = models.TextField(blank=True, help_text="Why no run includes the task, where that is known.")
    n_queries = models.PositiveIntegerField(
        null=True, help_text="Queries, anchors or questions. Known once the data are installed."
    )
    chance = models.FloatField(
        null=True, help_text="The main metric of a model that knows nothing, where that is known before a run."
    )

    class Meta:
        ordering = ["suite", "position"]
        constraints = [
            models.UniqueConstraint(fields=["suite", "name"], name="task_suite_name_unique"),
            one_of("family", Family, name="task_family_known", blank=True),
            one_of("domain", Domain, name="task_domain_known", blank=True),
            one_of("evidence_form", EvidenceForm, name="task_evidence_form_known", blank=True),
            one_of("pairing_type", PairingType, name="task_pairing_type_known", blank=True),
            one_of("granularity", Granularity, name="task_granularity_known", blank=True),
            one_of("split", Split, name="task_split_known", blank=True),
            one_of("pool", PoolScope, name="task_pool_known", blank=True),
            one_of("kind", TaskKind, name="task_kind_known"),
            one_of("modality", Modality, name="task_modality_known", blank=True),
            one_of("level", Level, name="task_level_known", blank=True),
            one_of("style", PhrasingStyle, name="task_style_known", blank=True),
            one_of("subtype", NegationSubtype, name="task_subtype_known", blank=True),
            one_of("selection", AnchorSelection, name="task_selection_known", blank=True),
            models.CheckConstraint(
                condition=(IS_RETRIEVAL & _all_given(RETRIEVAL_COLUMNS))
                | (~IS_RETRIEVAL & _none_given((*RETRIEVAL_COLUMNS, "group", "relevance_rule"))),
                name="task_retrieval_columns",
            ),
            models.CheckConstraint(
                condition=(IS_CELL & _all_given(CELL_COLUMNS)) | (~IS_CELL & _none_given(CELL_COLUMNS)),
                name="task_cell_columns",
            ),
            models.CheckConstraint(
                condition=(Q(level=Level.L5) & ~Q(subtype="")) | (~Q(level=Level.L5) & Q(subtype="")),
                name="task_subtype_of_negation",
            ),
            models.CheckConstraint(
                condition=(IS_RETRIEVAL & Q(modality=""))
                | (~IS_RETRIEVAL & (Q(kind=TaskKind.CLOSED_QUESTIONS) | ~Q(modality=""))),
                name="task_modality_of_kind",
            ),
            matches("spec_sha256", HEX_64, name="task_spec_sha256_hex"),
            models.CheckConstraint(
                condition=Q(chance__isnull=True) | Q(chance__gte=0, chance__lte=1), name="task_chance_in_range"
            ),
            models.CheckConstraint(
                condition=Q(chance__isnull=True, n_queries__isnull=True)
                | (Q(n_queries__isnull=False, n_queries__gte=1) & (~IS_RETRIEVAL | Q(chance__isnull=False))),
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
