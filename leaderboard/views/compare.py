"""Two to four models side by side, with paired differences to the first of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.forms.comparison import FEWEST_COMPARED, ComparisonForm
from leaderboard.models.vocabulary import AggregateScope, Family, SuiteKind
from leaderboard.selectors.board_rows import Board, BoardRow
from leaderboard.selectors.board_tables import stored_boards
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.probe_boards import ProbeStatistics, probe_statistics
from leaderboard.selectors.published import PublishedModel, published_models
from leaderboard.selectors.snapshots import (
    OVERALL_KEY,
    BoardContent,
    PairDifference,
    SuiteStatistics,
    differences_between,
    statistics_of_suite,
)
from leaderboard.selectors.training_data import contaminated_task_names
from leaderboard.views import figures
from leaderboard.views.axes import board_address
from leaderboard.views.boards import OVERALL, Tab, chosen_suite
from leaderboard.views.compare_cells import TrainedTasks, difference_cell, difference_column, hit_column, model_title
from leaderboard.views.drawn import nothing
from leaderboard.views.family_profiles import families_chart
from leaderboard.views.probe_compare import cell_sheet, modality_sheet, polygons, probe_differences, sentences
from leaderboard.views.profile_chart import ProfileChart, ProfileScore
from leaderboard.views.sheets import Cell, Column, Group, Sheet
from leaderboard.views.tables import download, table
from leaderboard.views.task_differences import task_difference_sheet
from leaderboard.views.training_cells import GROUP_HEADER, mean_with_training

PLACES = ((AggregateScope.OVERALL, OVERALL_KEY), *((AggregateScope.FAMILY, family.value) for family in Family))

Differences = Sequence[Mapping[tuple[str, str], PairDifference]]


def page(request: HttpRequest) -> HttpResponse:
    """Choose models, and see where one is shown to be better."""
    suites = live_suites()
    retrieval = tuple(suite for suite in suites if suite.kind == SuiteKind.RETRIEVAL)
    slug = request.GET.get("suite", "")
    suite = chosen_suite(suites if slug else retrieval or suites, slug)
    if suite is None:
        return render(request, "boards/no_suite.html", {"section": "boards"})
    is_probing = suite.kind == SuiteKind.PROBING
    statistics = probe_statistics(suite.pk) if is_probing else statistics_of_suite(suite.pk)
    models = {model.run_id: model for model in published_models(suite_id=suite.pk)}
    form = ComparisonForm(request.GET, models=[(run_id, model_title(model)) for run_id, model in models.items()])
    is_valid = form.is_valid()
    chosen = [models[run_id] for run_id in form.cleaned_data["run"]] if is_valid else []
    context = {
        "section": "probing" if is_probing else "boards",
        "suite": suite,
        "suite_tabs": [_suite_tab(one, is_current=one.pk == suite.pk) for one in suites],
        "is_probing": is_probing,
        "statistics": statistics,
        "form": form,
        "chosen": chosen,
    }
    if statistics is not None and len(chosen) >= FEWEST_COMPARED:
        found = (_probing if is_probing else _retrieval)(statistics, chosen, suite)
        shown = [table(key, sheet, request=request) for key, sheet in found.pop("sheets").items() if sheet.n_rows]
        if file := download(request, shown, stem=f"medboard-comparison-{suite.slug}-{suite.version}"):
            return file
        context |= {**found, "is_compared": True, "tables": shown}
    return render(request, "boards/compare.html", context, status=200 if is_valid else 400)


def _suite_tab(suite: SuiteSummary, *, is_current: bool) -> Tab:
    return Tab(f"{suite.title} {suite.version}", f"{reverse('compare')}?suite={suite.slug}", is_current=is_current)


def _retrieval(statistics: SuiteStatistics, chosen: Sequence[PublishedModel], suite: SuiteSummary) -> dict[str, Any]:
    first, *others = chosen
    found = [differences_between(statistics.pk, other.run_id, first.run_id) for other in others]
    differences = [{(one.scope, one.key): one for one in pairs} for pairs in found]
    content = statistics.content
    board = stored_boards(suite, [OVERALL])[OVERALL].board
    trained = _trained_tasks(chosen, suite)
    return {
        "sheets": {
            "families": _sheet(chosen, content, differences, suite=suite.slug, board=board),
            "tasks": task_difference_sheet(chosen, content, differences, suite=suite.slug, trained=trained),
        },
        "profile": _profiles(chosen, content, suite),
        "sentences": _sentences(first, others, differences),
    }


def _probing(statistics: ProbeStatistics, chosen: Sequence[PublishedModel], suite: SuiteSummary) -> dict[str, Any]:
    covered = [model for model in chosen if str(model.run_id) in statistics.content.models]
    if len(covered) < len(chosen):
        return {"sheets": {}, "sentences": ["A worker is still computing the differences of a model that you chose."]}
    differences = probe_differences(statistics, chosen)
    trained, content = _trained_tasks(chosen, suite), statistics.content
    return {
        "sheets": {
            "modalities": modality_sheet(content, chosen, differences, suite=suite.slug, trained=trained),
            "cells": cell_sheet(content, chosen, differences, trained=trained),
        },
        "charts": polygons(content, chosen),
        "sentences": sentences(chosen, differences, content.places),
    }


def _trained_tasks(models: Sequence[PublishedModel], suite: SuiteSummary) -> TrainedTasks:
    return contaminated_task_names({model.revision_id for model in models}, suite_id=suite.pk)


def _profiles(models: Sequence[PublishedModel], content: BoardContent, suite: SuiteSummary) -> ProfileChart:
    """The families of all models in one drawing; families in which a model lacks tasks are left out of its line."""
    scores = []
    for model in models:
        standings = {key: content.standing(AggregateScope.FAMILY, key, model.run_id) for key in suite.families}
        known = {key: one for key, one in standings.items() if one is not None and one.n_tasks == one.n_expected}
        scores.append((model.name, {key: ProfileScore(one.value, one.lower, one.upper) for key, one in known.items()}))
    return families_chart(scores, {}, title=f"Hit@1 by family on {suite.title} {suite.version}")


def _sheet(
    models: Sequence[PublishedModel], content: BoardContent, differences: Differences, *, suite: str, board: Board
) -> Sheet:
    """One row a family, and one over all of them; the board says which means rest on training data."""
    first, *others = models
    columns = [Column("group", "Where", "All families, or one of them", ("group",), is_row_head=True)]
    columns += [hit_column(first, 0, trained=GROUP_HEADER)]
    for number, model in enumerate(others, start=1):
        columns += [hit_column(model, number, trained=GROUP_HEADER), difference_column(model, first, number)]
    rows = tuple(_row(place, models, content, differences, suite=suite, board=board) for place in PLACES)
    shown = tuple(row for row in rows if any(cell.sort is not None for cell in row[1:]))
    return Sheet("Comparison by family", tuple(columns), (Group("", shown),) if shown else ())


def _row(
    place: tuple[AggregateScope, str],
    models: Sequence[PublishedModel],
    content: BoardContent,
    differences: Differences,
    *,
    suite: str,
    board: Board,
) -> tuple[Cell, ...]:
    scope, key = place
    is_overall = scope == AggregateScope.OVERALL
    first, *others = (
        mean_with_training(_hit_cell(content, place, model), _n_trained(board.row_of(model.run_id), place))
        for model in models
    )
    return (
        Cell(
            text="Mean of families" if is_overall else Family(key).label,
            sort=key,
            data=(key,),
            href="" if is_overall else board_address(scope.value, key, suite=suite),
            is_row_head=True,
        ),
        first,
        *(
            cell
            for hit, found in zip(others, differences, strict=True)
            for cell in (hit, difference_cell(found.get((scope.value, key))))
        ),
    )


def _n_trained(row: BoardRow | None, place: tuple[AggregateScope, str]) -> int | None:
    """How many tasks of a group a model was trained on; unknown of one that is not on the stored board yet."""
    if row is None:
        return None
    scope, key = place
    if scope == AggregateScope.OVERALL:
        return len(row.contaminated)
    clean = row.clean_groups.get(key)
    return clean.n_excluded if clean else 0


def _hit_cell(content: BoardContent, place: tuple[AggregateScope, str], model: PublishedModel) -> Cell:
    scope, key = place
    standing = content.standing(scope.value, key, model.run_id)
    if standing is None:
        return nothing()
    is_complete = standing.n_tasks == standing.n_expected
    return Cell(
        text=figures.percent(standing.value),
        sort=standing.value,
        data=(figures.csv_percent(standing.value),),
        style=figures.heat(standing.value) if is_complete else "none",
        note="" if is_complete else f"{standing.n_tasks}/{standing.n_expected}",
        title=f"95% interval {figures.interval(standing.lower, standing.upper)}",
    )


def _sentences(first: PublishedModel, others: Sequence[PublishedModel], differences: Differences) -> list[str]:
    """In words, where each of the others is shown to be better or worse than the first."""
    sentences = []
    for other, found in zip(others, differences, strict=True):
        families = [one for one in found.values() if one.scope == AggregateScope.FAMILY]
        if not families:
            sentences.append(f"{other.name} and {first.name} have no family with all tasks in common.")
            continue
        better = [Family(one.key).label for one in families if one.is_separated and one.value > 0]
        worse = [Family(one.key).label for one in families if one.is_separated and one.value < 0]
        n_level = len(families) - len(better) - len(worse)
        parts = [
            f"shown to be {word} in {', '.join(names)}"
            for word, names in (("better", better), ("worse", worse))
            if names
        ]
        parts += [f"level within the intervals in {n_level} of {len(families)} families"] if n_level else []
        sentences.append(f"{other.name} against {first.name}: {'; '.join(parts)}.")
    return sentences
