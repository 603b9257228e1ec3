"""Pictures of a model's result for other pages: its profile over the families, and a badge."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.models.vocabulary import ProbeBoardScope, SuiteKind
from leaderboard.selectors.board_tables import stored_boards, stored_probe_tables
from leaderboard.selectors.catalogue import SuiteSummary
from leaderboard.selectors.embedding_models import published_run
from leaderboard.views import figures
from leaderboard.views.boards import OVERALL
from leaderboard.views.embedding_models import rank_words
from leaderboard.views.family_profiles import run_profile
from leaderboard.views.model_results import ModelResults, model_results

IMAGE_SECONDS = 300
"""How long browsers and proxies may show a picture without asking again."""
NARROW, NARROW_WIDTH, LETTER_WIDTH = frozenset("fijklrt.,:@ "), 4.0, 6.8
"""Letters of the badge's font in pixels, roughly: an SVG cannot measure them, and stretches the text to the sum."""
PADDING = 10
COMPUTED = "being computed"
"""A result that was just published: a worker makes the board that it will stand on."""
CORNER = 3

picture = cache_control(public=True, max_age=IMAGE_SECONDS)


@dataclass(frozen=True, slots=True)
class BadgePart:
    """One of the two halves of a badge; lengths in pixels."""

    text: str
    x: float
    width: float
    text_width: float

    @property
    def middle(self) -> float:
        """Where the text is centred."""
        return self.x + self.width / 2


@require_safe
@picture
@conditional_page
def profile(request: HttpRequest, repo_id: str) -> HttpResponse:
    """The profile over the families as an SVG file."""
    results = model_results(request, repo_id)
    if results.chosen is None or results.chosen.suite_kind != SuiteKind.RETRIEVAL:
        raise Http404("This model has no published result with families.")
    suite = results.suite()
    chart = run_profile(published_run(run_id=results.chosen.run_id), stored_boards(suite, [OVERALL])[OVERALL].board)
    if chart is None:
        raise Http404("This model has no score in any family.")
    response = _svg(request, "models/profile.svg", {"chart": chart, "suite": suite})
    name = f"medboard-{suite.slug}-{suite.version}-{slugify(results.model.repo_id)}-profile"
    response["Content-Disposition"] = f'inline; filename="{name}.svg"'
    return response


@require_safe
@picture
@conditional_page
def badge(request: HttpRequest, repo_id: str) -> HttpResponse:
    """A badge that says in a few words how the model stands."""
    results = model_results(request, repo_id)
    words, title = _badge_words(results)
    label = _part("MedBoard", 0)
    value = _part(words, label.width)
    context = {
        "label": label,
        "value": value,
        "title": title,
        "stem": round(label.width - CORNER, 1),
        "total": round(label.width + value.width, 1),
    }
    return _svg(request, "models/badge.svg", context)


def _svg(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    return render(request, template, context, content_type="image/svg+xml; charset=utf-8")


def _part(text: str, x: float) -> BadgePart:
    text_width = round(sum(NARROW_WIDTH if letter in NARROW else LETTER_WIDTH for letter in text), 1)
    return BadgePart(text=text, x=x, width=round(text_width + 2 * PADDING, 1), text_width=text_width)


def _badge_words(results: ModelResults) -> tuple[str, str]:
    """What stands on the badge, and the longer words behind it."""
    if results.chosen is None:
        return "not evaluated", f"{results.model.repo_id} has no published result on MedBoard"
    suite = results.suite()
    words = _probing_words(suite, results) if suite.kind == SuiteKind.PROBING else _retrieval_words(suite, results)
    words = f"synthetic data: {words}" if suite.synthetic else words
    return words, f"{results.model.repo_id} on {suite.title} {suite.version}: {words}"


def _retrieval_words(suite: SuiteSummary, results: ModelResults) -> str:
    board = stored_boards(suite, [OVERALL])[OVERALL].board
    row = board.row_of(results.chosen.run_id)
    if row is None:
        return COMPUTED
    if row.rank is None or row.mean is None:
        return f"{row.n_tasks} of {row.n_expected} tasks"
    return f"Hit@1 {figures.percent(row.mean.value)}, rank {rank_words(row)} of {board.n_ranked}"


def _probing_words(suite: SuiteSummary, results: ModelResults) -> str:
    overview = (ProbeBoardScope.OVERVIEW, "")
    table = stored_probe_tables(suite, [overview]).tables.get(overview)
    rows = table.rows if table else ()
    count = next((row.count for row in rows if row.model.run_id == results.chosen.run_id), None)
    return COMPUTED if count is None else f"tells apart {count.n_told_apart} of {count.n_measured} cells"
