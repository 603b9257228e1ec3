"""What a probing suite says beside its boards: phrasing, negation, groups of people, questions, protocols, checks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.models.vocabulary import Modality
from leaderboard.selectors.probe_boards import ProbeContent
from leaderboard.views import figures
from leaderboard.views.boards import Tab
from leaderboard.views.charts import SlopeChart, crossings, slope_chart
from leaderboard.views.probe_analysis_sheets import (
    Models,
    agreement_sheet,
    gap_sheet,
    missing_sentence,
    negation_sheet,
    question_sheet,
    sample_sheet,
    style_sheet,
    subgroup_sheet,
)
from leaderboard.views.probe_board_sheets import place_key
from leaderboard.views.probe_cells import distinct_names
from leaderboard.views.probe_check_sheets import blind_sheet, check_sheet
from leaderboard.views.probe_pages import ANALYSIS_TITLES, page_context, probe_page
from leaderboard.views.probe_words import BOUNDARY, PROTOCOLS
from leaderboard.views.sheets import Sheet, address_with
from leaderboard.views.tables import Table, download, table


@dataclass(frozen=True, slots=True)
class Part:
    """A table of an analysis: its name in addresses, its rows, and what stands between heading and table."""

    key: str
    sheet: Sheet
    sentence: str = ""
    chart: SlopeChart | None = None


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part with the addresses of its downloads."""

    part: Part
    table: Table


def page(request: HttpRequest, name: str) -> HttpResponse:
    """One analysis."""
    found = probe_page(request)
    if found is None or name not in PARTS:
        raise Http404("There is no such analysis.")
    content, place_tabs = _narrowed(found.content, name, request)
    parts = PARTS[name](content, found.models) if content else []
    shown = [ShownPart(part, table(part.key, part.sheet, request=request)) for part in parts if part.sheet.n_rows]
    if file := download(request, [one.table for one in shown], stem=found.file_stem):
        return file
    context = page_context(found, request) | {
        "heading": ANALYSIS_TITLES[name],
        "lead": LEADS[name],
        "place_tabs": place_tabs,
        "parts": shown,
    }
    return render(request, "probing/analysis.html", context)


def _narrowed(content: ProbeContent | None, name: str, request: HttpRequest) -> tuple[ProbeContent | None, list[Tab]]:
    """What the page is about, with the tabs to choose it: long tables are shown for one place at a time.

    Raises:
        Http404: the address chooses a place that the analysis does not have.
    """
    if content is None or name not in BY_PLACE:
        return content, []
    measured = {(row.modality, row.dataset) for row in BY_PLACE[name](content)}
    places = [place for place in content.places if (place.modality, place.dataset) in measured]
    wanted = request.GET.get("of", "")
    chosen = next((place for place in places if wanted in {"", place_key(place)}), None)
    if chosen is None and (wanted or places):
        raise Http404("This analysis has no such modality.")
    tabs = [
        Tab(place.title, address_with(request.GET, of=place_key(place), table=""), is_current=place == chosen)
        for place in places
    ]
    return content.in_place(chosen) if chosen else content, tabs


BY_PLACE: dict[str, Callable[[ProbeContent], tuple[Any, ...]]] = {
    "subgroups": lambda content: content.subgroups,
    "sample-size": lambda content: content.sample_size,
}
"""Analyses of which one place is shown at a time, and the rows that say which places there are."""

LEADS = {
    "phrasing": "The same images and the same competing findings, in other words: captions, report sentences, ontology"
    " terms and paraphrases. And negation taken apart into its kinds.",
    "subgroups": "The same score over the images of one group of people. Attributes are those that the publisher gives;"
    " images without them are left out here and nothing is guessed.",
    "questions": "A model answers yes where the image is nearer to the affirmative statement than to its negation. The"
    " questions were written by others, so this is negation on a set that was not made for it.",
    "protocols": "The same models ranked by image-caption retrieval, by zero-shot classification and by the finding"
    " level of MedTEC. A line is a model; where lines cross, the protocols disagree.",
    "sample-size": "What fewer images would have said: the scores of the same images, drawn again without embedding"
    " anything.",
    "checks": "What was checked of the probe texts before any model was scored, and how models score on images that"
    " show nothing: a score far above what exchangeable texts would give means that the texts give the answer away.",
}


def _phrasing(content: ProbeContent, models: Models) -> list[Part]:
    summary = content.style_summary
    sentence = ""
    if summary.n_cells:
        sentence = (
            f"Of {summary.n_cells} cells measured in several styles, {summary.n_collapsing} collapse as captions;"
            f" {summary.n_staying_below} of these stay below {BOUNDARY} in every style."
        )
        if summary.sd_lowest is not None and summary.sd_highest is not None:
            sentence += f" The style moves a cell by {summary.sd_lowest:.3f} to {summary.sd_highest:.3f} (SD)."
    return [
        Part("negation", negation_sheet(content.negation), "Hedged texts are weaker than the finding, not false."),
        Part("styles", style_sheet(content.styles, models), sentence),
    ]


def _subgroups(content: ProbeContent, models: Models) -> list[Part]:
    missing = missing_sentence(content)
    return [
        Part(
            "gaps",
            gap_sheet(content.subgroup_gaps, models),
            "The interval is that of the paired difference: both groups are resampled together.",
        ),
        Part(
            "groups",
            subgroup_sheet(content.subgroups, models),
            f"Not given by the publisher: {missing}." * bool(missing),
        ),
    ]


def _questions(content: ProbeContent, models: Models) -> list[Part]:
    return [Part("questions", question_sheet(content.closed_questions, models))]


def _sample_size(content: ProbeContent, models: Models) -> list[Part]:
    return [Part("samples", sample_sheet(content.sample_size, models))]


def _checks(content: ProbeContent, models: Models) -> list[Part]:
    return [
        Part("blind", blind_sheet(content.blind_baselines, models)),
        Part("texts", check_sheet(content.checks)),
    ]


def _protocols(content: ProbeContent, models: Models) -> list[Part]:
    """One part a comparison: the agreement of its rankings, with the rankings drawn side by side."""
    keys = list(dict.fromkeys((row.comparison, row.same_images) for row in content.protocols))
    parts = []
    for number, (comparison, same_images) in enumerate(keys):
        agreements = [
            row for row in content.agreements if (row.comparison, row.same_images) == (comparison, same_images)
        ]
        title = f"{_comparison_words(comparison)}, {'on the same images' if same_images else 'each on its own images'}"
        sheet = agreement_sheet(agreements)
        parts.append(
            Part(
                f"agreement-{number + 1}",
                Sheet(title, sheet.columns, sheet.groups),
                _metric_sentence(content, comparison, same_images=same_images),
                _slopes(content, models, comparison, same_images=same_images, title=title),
            )
        )
    return parts


def _comparison_words(comparison: str) -> str:
    modality, _, rest = comparison.partition(" ")
    words = Modality(modality).label if modality in Modality.values else modality
    return f"{words} {rest}".strip()


def _metric_sentence(content: ProbeContent, comparison: str, *, same_images: bool) -> str:
    named = {
        PROTOCOLS[row.protocol]: figures.metric_title(row.metric)
        for row in content.protocols
        if (row.comparison, row.same_images) == (comparison, same_images)
    }
    return "Ranked by " + "; ".join(f"{protocol}: {metric}" for protocol, metric in named.items()) + "."


def _slopes(
    content: ProbeContent, models: Models, comparison: str, *, same_images: bool, title: str
) -> SlopeChart | None:
    rows = [
        row
        for row in content.protocols
        if (row.comparison, row.same_images) == (comparison, same_images) and row.model in models
    ]
    if not rows:
        return None
    names = distinct_names({row.model: models[row.model] for row in rows})
    rankings: dict[str, dict[str, int]] = {}
    for row in rows:
        rankings.setdefault(PROTOCOLS[row.protocol], {})[names[row.model]] = row.rank
    words = [
        f"{column}: " + ", ".join(f"{rank} {name}" for name, rank in sorted(ranks.items(), key=lambda item: item[1]))
        for column, ranks in rankings.items()
    ]
    columns = list(rankings)
    swaps = [
        f"{one} and {other} put {crossings(rankings[one], rankings[other])} pairs of models in opposite order"
        for number, one in enumerate(columns)
        for other in columns[number + 1 :]
    ]
    return slope_chart(rankings, title=f"Rankings: {title}", description="; ".join([*words, *swaps]))


PARTS: dict[str, Callable[[ProbeContent, Models], list[Part]]] = {
    "phrasing": _phrasing,
    "subgroups": _subgroups,
    "questions": _questions,
    "protocols": _protocols,
    "sample-size": _sample_size,
    "checks": _checks,
}
