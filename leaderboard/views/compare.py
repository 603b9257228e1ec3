"""Two to four models side by side, with paired differences to the first of them."""

from collections.abc import Mapping, Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.forms.comparison import FEWEST_COMPARED, ComparisonForm
from leaderboard.models.vocabulary import AggregateScope, Family, SuiteKind
from leaderboard.selectors.catalogue import live_suites
from leaderboard.selectors.published import PublishedModel, published_models
from leaderboard.selectors.snapshots import (
    OVERALL_KEY,
    BoardContent,
    PairDifference,
    differences_between,
    statistics_of_suite,
)
from leaderboard.views import figures
from leaderboard.views.axes import board_address
from leaderboard.views.boards import chosen_suite
from leaderboard.views.sheets import Cell, Column, Group, Sheet, address_with, csv_response

PLACES = ((AggregateScope.OVERALL, OVERALL_KEY), *((AggregateScope.FAMILY, family.value) for family in Family))

Differences = Sequence[Mapping[tuple[str, str], PairDifference]]


def page(request: HttpRequest) -> HttpResponse:
    """Choose models, and see where one is shown to be better."""
    suite = chosen_suite(live_suites(SuiteKind.RETRIEVAL), request.GET.get("suite", ""))
    if suite is None:
        return render(request, "boards/no_suite.html", {"section": "boards"})
    statistics = statistics_of_suite(suite.pk)
    models = {model.run_id: model for model in published_models(suite_id=suite.pk)}
    form = ComparisonForm(request.GET, models=[(run_id, _title(model)) for run_id, model in models.items()])
    is_valid = form.is_valid()
    chosen = [models[run_id] for run_id in form.cleaned_data["run"]] if is_valid else []
    context = {
        "section": "boards",
        "suite": suite,
        "statistics": statistics,
        "form": form,
        "chosen": chosen,
        "csv_address": address_with(request.GET, format="csv"),
    }
    if statistics is not None and len(chosen) >= FEWEST_COMPARED:
        first, *others = chosen
        found = [differences_between(statistics.pk, other.run_id, first.run_id) for other in others]
        differences = [{(one.scope, one.key): one for one in pairs} for pairs in found]
        sheet = _sheet(chosen, statistics.content, differences, suite=suite.slug)
        if request.GET.get("format") == "csv":
            return csv_response(sheet, file_name=f"medboard-comparison-{suite.slug}-{suite.version}")
        context |= {"sheet": sheet, "sentences": _sentences(first, others, differences)}
    return render(request, "boards/compare.html", context, status=200 if is_valid else 400)


def _title(model: PublishedModel) -> str:
    adapter = f" with {model.adapter_repo_id}" if model.adapter_repo_id else ""
    return f"{model.repo_id}@{model.commit[:7]}{adapter}"


def _sheet(models: Sequence[PublishedModel], content: BoardContent, differences: Differences, *, suite: str) -> Sheet:
    first, *others = models
    columns = [Column("group", "Where", "All families, or one of them", ("group",), is_row_head=True)]
    columns += [_hit_column(first, 0)]
    for number, model in enumerate(others, start=1):
        columns += [_hit_column(model, number), _difference_column(model, first, number)]
    rows = tuple(_row(place, models, content, differences, suite) for place in PLACES)
    shown = tuple(row for row in rows if any(cell.sort is not None for cell in row[1:]))
    return Sheet("Comparison by family", tuple(columns), (Group("", shown),) if shown else ())


def _hit_column(model: PublishedModel, number: int) -> Column:
    header = f"{model.repo_id}_hit_at_1_percent"
    return Column(f"hit-{number}", model.name, f"Hit@1 of {_title(model)} in percent", (header,), "wrap")


def _difference_column(model: PublishedModel, first: PublishedModel, number: int) -> Column:
    return Column(
        f"difference-{number}",
        f"minus {first.name}",
        f"{_title(model)} minus {_title(first)}: paired difference in points with its 95% interval",
        tuple(f"{model.repo_id}_{part}" for part in ("difference", "lower_95", "upper_95")),
        "wrap",
    )


def _row(
    place: tuple[AggregateScope, str],
    models: Sequence[PublishedModel],
    content: BoardContent,
    differences: Differences,
    suite: str,
) -> tuple[Cell, ...]:
    scope, key = place
    is_overall = scope == AggregateScope.OVERALL
    return (
        Cell(
            text="Mean of families" if is_overall else Family(key).label,
            sort=key,
            data=(key,),
            href="" if is_overall else board_address(scope.value, key, suite=suite),
            is_row_head=True,
        ),
        _hit_cell(content, place, models[0]),
        *(
            cell
            for model, found in zip(models[1:], differences, strict=True)
            for cell in (_hit_cell(content, place, model), _difference_cell(found.get((scope.value, key))))
        ),
    )


def _hit_cell(content: BoardContent, place: tuple[AggregateScope, str], model: PublishedModel) -> Cell:
    scope, key = place
    standing = content.standing(scope.value, key, model.run_id)
    if standing is None:
        return Cell(figures.NOTHING, None, (None,), style="none")
    is_complete = standing.n_tasks == standing.n_expected
    return Cell(
        text=figures.percent(standing.value),
        sort=standing.value,
        data=(figures.csv_percent(standing.value),),
        style=figures.heat(standing.value) if is_complete else "none",
        note="" if is_complete else f"{standing.n_tasks}/{standing.n_expected}",
        title=f"95% interval {figures.interval(standing.lower, standing.upper)}",
    )


def _difference_cell(difference: PairDifference | None) -> Cell:
    if difference is None:
        return Cell(figures.NOTHING, None, (None, None, None), style="none", title="Not compared: tasks are missing")
    style = ("better" if difference.value > 0 else "worse") if difference.is_separated else "level"
    return Cell(
        text=figures.points(difference.value),
        sort=difference.value,
        data=tuple(figures.csv_percent(end) for end in (difference.value, difference.lower, difference.upper)),
        style=f"difference {style}",
        note=figures.points_interval(difference.lower, difference.upper),
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
