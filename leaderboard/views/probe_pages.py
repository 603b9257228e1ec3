"""What the pages of probing suites share: which suite, its statistics and models, and the links to the pages beside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from leaderboard.models.vocabulary import Level, SuiteKind
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.probe_boards import Place, ProbeContent, ProbeStatistics, probe_statistics
from leaderboard.selectors.published import PublishedModel, published_models
from leaderboard.views.boards import Tab, chosen_suite
from leaderboard.views.probe_words import level_title
from leaderboard.views.trained_models import trained_models

SECTION = "probing"
ANALYSIS_TITLES = {
    "phrasing": "Phrasing and negation",
    "subgroups": "Groups of people",
    "questions": "Yes/no questions",
    "protocols": "Three protocols",
    "sample-size": "Sample size",
    "checks": "Checks before use",
}


@dataclass(frozen=True, slots=True)
class ProbePage:
    """A probing suite as a page shows it; `models` are the published ones that the statistics cover, by run."""

    suites: tuple[SuiteSummary, ...]
    suite: SuiteSummary
    statistics: ProbeStatistics | None
    models: Mapping[str, PublishedModel]
    n_waiting: int

    @property
    def content(self) -> ProbeContent | None:
        """What the statistics say."""
        return self.statistics.content if self.statistics else None

    @property
    def file_stem(self) -> str:
        """How names of downloads begin."""
        return f"medboard-{self.suite.slug}-{self.suite.version}"


def probe_page(request: HttpRequest) -> ProbePage | None:
    """The suite that the address names, or the one with most published results; None when there is none at all."""
    suites = live_suites(SuiteKind.PROBING)
    suite = chosen_suite(suites, request.GET.get("suite", ""))
    if suite is None:
        return None
    statistics = probe_statistics(suite.pk)
    published = published_models(suite_id=suite.pk)
    covered = set(statistics.content.models) if statistics else set()
    return ProbePage(
        suites=suites,
        suite=suite,
        statistics=statistics,
        models={str(model.run_id): model for model in published if str(model.run_id) in covered},
        n_waiting=sum(str(model.run_id) not in covered for model in published),
    )


def page_context(page: ProbePage, request: HttpRequest) -> dict[str, Any]:
    """What every template of an analysis needs."""
    places = page.content.places if page.content else ()
    return navigation(page.suites, page.suite, places, request) | {
        "statistics": page.statistics,
        "n_models": len(page.models),
        "n_waiting": page.n_waiting,
        "trained_models": trained_models(page.models.values(), suite_id=page.suite.pk),
    }


def navigation(
    suites: Sequence[SuiteSummary], suite: SuiteSummary, places: Sequence[Place], request: HttpRequest
) -> dict[str, Any]:
    """The suite and the links to the pages beside."""
    slug = suite.slug
    # A suite need not have the modality of this page; every suite has the other pages.
    path = reverse("probe-board") if "key" in request.resolver_match.kwargs else request.path
    return {
        "section": SECTION,
        "suite": suite,
        "suite_tabs": [
            Tab(f"{other.title} {other.version}", f"{path}?suite={other.slug}", other.pk == suite.pk)
            for other in suites
        ],
        "modality_tabs": [
            _tab("All", reverse("probe-board"), slug, request.path),
            *(_tab(place.title, reverse("probe-modality", args=[place.key]), slug, request.path) for place in places),
        ],
        "level_tabs": [
            _tab(level_title(level), reverse("probe-level", args=[level]), slug, request.path) for level in Level
        ],
        "analysis_tabs": [
            _tab(title, reverse("probe-analysis", args=[name]), slug, request.path)
            for name, title in ANALYSIS_TITLES.items()
        ],
    }


def _tab(title: str, address: str, suite: str, path: str) -> Tab:
    return Tab(title, f"{address}?suite={suite}", is_current=address == path)
