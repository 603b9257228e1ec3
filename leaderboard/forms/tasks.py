"""What a visitor can ask of the list of tasks."""

import django_filters

from leaderboard.models import Suite, Task
from leaderboard.models.vocabulary import Domain, Family, Level, Modality


def _live_suites() -> list[tuple[str, str]]:
    return [(suite.slug, f"{suite.title} {suite.version}") for suite in Suite.objects.filter(is_live=True)]


class TaskFilter(django_filters.FilterSet):
    """Tasks by suite, family, domain, modality, level and whether their data are installed."""

    suite = django_filters.ChoiceFilter(
        field_name="suite__slug", label="Suite", choices=_live_suites, empty_label="Any"
    )
    family = django_filters.ChoiceFilter(label="Family", choices=Family.choices, empty_label="Any")
    domain = django_filters.ChoiceFilter(label="Domain", choices=Domain.choices, empty_label="Any")
    modality = django_filters.ChoiceFilter(label="Modality", choices=Modality.choices, empty_label="Any")
    level = django_filters.ChoiceFilter(
        label="Level", choices=[(level.value, f"{level.value} {level.label}") for level in Level], empty_label="Any"
    )
    is_installed = django_filters.ChoiceFilter(
        label="Data", choices=[("1", "Installed"), ("0", "Awaiting data")], empty_label="Any"
    )

    class Meta:
        model = Task
        fields: list[str] = []
