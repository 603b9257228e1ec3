"""Two to four models of a probing suite side by side: paired differences by modality and by level."""

from collections.abc import Mapping, Sequence

from leaderboard.models.vocabulary import Level
from leaderboard.selectors.probe_boards import CellDifference, Place, ProbeContent, ProbeStatistics, cell_differences
from leaderboard.selectors.probe_rows import ProbeCell
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.charts import PolygonChart, polygon_chart
from leaderboard.views.compare_cells import TrainedTasks
from leaderboard.views.drawn import nothing
from leaderboard.views.probe_board_sheets import place_address
from leaderboard.views.probe_words import level_title
from leaderboard.views.sheets import Cell, Column, Group, Sheet
from leaderboard.views.training_cells import (
    GROUP_HEADER,
    TASK_HEADER,
    mean_with_training,
    score_with_training,
    with_header,
)

ALL_CELLS = ""
"""The level of a difference that is over all main cells of a modality."""

Key = tuple[str, str, str]
"""Modality, data set and level of a difference."""
Differences = Sequence[Mapping[Key, CellDifference]]


def probe_differences(statistics: ProbeStatistics, models: Sequence[PublishedModel]) -> Differences:
    """Each model but the first minus the first. One query a model."""
    first, *others = (str(model.run_id) for model in models)
    return [
        {(one.modality, one.dataset, one.level): one for one in cell_differences(statistics.pk, other, first)}
        for other in others
    ]


def modality_sheet(
    content: ProbeContent,
    models: Sequence[PublishedModel],
    differences: Differences,
    *,
    suite: str,
    trained: TrainedTasks,
) -> Sheet:
    """One row a modality: the mean DS over its main cells, and the paired differences."""
    rows = [
        (
            Cell(
                place.title,
                place.title,
                (place.modality, place.dataset),
                href=place_address(place, suite=suite),
                is_row_head=True,
            ),
            *_figures(
                [_mean(content, model, place, trained) for model in models],
                (place.modality, place.dataset, ALL_CELLS),
                differences,
            ),
        )
        for place in content.places
    ]
    head = Column("modality", "Modality", "What kind of image", ("modality", "data_set"), is_row_head=True)
    return _sheet("Comparison by modality", head, models, rows, trained=GROUP_HEADER)


def cell_sheet(
    content: ProbeContent, models: Sequence[PublishedModel], differences: Differences, *, trained: TrainedTasks
) -> Sheet:
    """One row a main cell."""
    rows = []
    for place in content.places:
        cells = [content.main_cells(model=str(model.run_id), place=place) for model in models]
        for level in (level for level in Level.values if any(level in found for found in cells)):
            shown = [_score(found.get(level), model, trained) for found, model in zip(cells, models, strict=True)]
            data = (place.modality, place.dataset, level)
            head = Cell(f"{place.title}, {level_title(level)}", place.title, data, is_row_head=True)
            rows.append((head, *_figures(shown, data, differences)))
    head = Column("cell", "Cell", "Modality and level", ("modality", "data_set", "level"), is_row_head=True)
    return _sheet("Comparison by cell", head, models, rows, trained=TASK_HEADER)


def polygons(content: ProbeContent, models: Sequence[PublishedModel]) -> list[tuple[Place, PolygonChart]]:
    """A chart a modality: a spoke a level, a polygon a model."""
    found = []
    for place in content.places:
        cells = {model: content.main_cells(model=str(model.run_id), place=place) for model in models}
        levels = [level for level in Level.values if any(level in own for own in cells.values())]
        series = {
            model.name: [own[level].ds if level in own else None for level in levels] for model, own in cells.items()
        }
        words = "; ".join(
            f"{name}: {', '.join(f'{level} {figures.signed(value)}' for level, value in zip(levels, values, strict=True))}"
            for name, values in series.items()
        )
        found.append((place, polygon_chart(levels, series, title=f"Models on {place.title}", description=words)))
    return found


def sentences(models: Sequence[PublishedModel], differences: Differences, places: Sequence[Place]) -> list[str]:
    """In words, where each of the others is shown to be better or worse than the first."""
    first, *others = models
    titles = {(place.modality, place.dataset): place.title for place in places}
    found = []
    for other, own in zip(others, differences, strict=True):
        whole = [one for one in own.values() if one.level == ALL_CELLS]
        better, worse = (
            [titles[one.modality, one.dataset] for one in whole if one.is_separated and (one.value > 0) is is_better]
            for is_better in (True, False)
        )
        n_level = len(whole) - len(better) - len(worse)
        parts = [
            f"shown to be {word} on {', '.join(names)}"
            for word, names in (("better", better), ("worse", worse))
            if names
        ]
        parts += [f"level within the intervals on {n_level} of {len(whole)} modalities"] if n_level else []
        found.append(f"{other.name} against {first.name}: {'; '.join(parts) or 'not compared'}.")
    return found


def _sheet(
    caption: str, head: Column, models: Sequence[PublishedModel], rows: Sequence[tuple[Cell, ...]], *, trained: str
) -> Sheet:
    first, *others = models
    columns = [head, _ds_column(first, 0, trained)]
    for number, model in enumerate(others, start=1):
        columns += [
            _ds_column(model, number, trained),
            Column(
                f"difference-{number}",
                f"minus {first.name}",
                f"{model.repo_id} minus {first.repo_id}: paired difference of the DS with its 95% interval",
                tuple(f"{model.repo_id}_{part}" for part in ("difference", "lower_95", "upper_95")),
                "wrap",
            ),
        ]
    return Sheet(caption, tuple(columns), (Group("", tuple(rows)),) if rows else ())


def _ds_column(model: PublishedModel, number: int, trained: str) -> Column:
    column = Column(f"ds-{number}", model.name, f"Mean DS of {model.repo_id}", (f"{model.repo_id}_ds",), "wrap")
    return with_header(column, trained, of=model.repo_id)


def _score(cell: ProbeCell | None, model: PublishedModel, trained: TrainedTasks) -> Cell:
    is_trained = cell is not None and cell.task in trained[model.revision_id]
    return score_with_training(_ds_cell(cell.ds if cell else None), is_trained=is_trained)


def _mean(content: ProbeContent, model: PublishedModel, place: Place, trained: TrainedTasks) -> Cell:
    cells = content.main_cells(model=str(model.run_id), place=place).values()
    n_trained = sum(cell.task in trained[model.revision_id] for cell in cells)
    return mean_with_training(_ds_cell(sum(cell.ds for cell in cells) / len(cells) if cells else None), n_trained)


def _figures(scores: Sequence[Cell], key: Key, differences: Differences) -> list[Cell]:
    cells = [scores[0]]
    for score, found in zip(scores[1:], differences, strict=True):
        cells += [score, _difference_cell(found.get(key))]
    return cells


def _ds_cell(value: float | None) -> Cell:
    return Cell(figures.signed(value), value, (figures.rounded(value),), style="none" if value is None else "")


def _difference_cell(found: CellDifference | None) -> Cell:
    if found is None:
        return nothing(width=3, title="Not compared")
    style = ("better" if found.value > 0 else "worse") if found.is_separated else "level"
    cells = "" if found.n_cells == 1 else f"over {found.n_cells} levels"
    return Cell(
        text=figures.signed(found.value),
        sort=found.value,
        data=tuple(figures.rounded(end) for end in (found.value, found.lower, found.upper)),
        style=f"difference {style}",
        note=figures.signed_interval(found.lower, found.upper),
        title=cells,
    )
