"""The answer first on the boards of probing suites: which model is best in a modality, at a level, in a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.forms.finder import ProbeQuestion
from leaderboard.models.vocabulary import CellClass, Level, Modality, ProbeBoardScope
from leaderboard.selectors.probe_board_rows import CellCount, ProbeBoardRow, ProbeTable
from leaderboard.selectors.probe_boards import Place
from leaderboard.selectors.probe_rows import ProbeCell
from leaderboard.views.board_sheet import model_address
from leaderboard.views.finder import Preset, limited_address
from leaderboard.views.probe_board_sheets import place_address
from leaderboard.views.probe_words import level_title


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """The best model in one cell: its score, by how much it leads, and whether the next may be the better one.

    `words` is the score's class; `tells_apart` says whether it is the one that counts as understanding.
    """

    best: ProbeCell
    words: str
    tells_apart: bool
    lead: float
    is_open: bool


@dataclass(frozen=True, slots=True)
class CountAnswer:
    """The best model by the cells that it tells apart; `n_equal` counts the others that share its place.

    `lead` is how many cells more than the next one it tells apart, None where the two are counted over different numbers
    of cells: without training data.
    """

    best: CellCount
    next: CellCount | None
    lead: int | None
    n_equal: int


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """The best model that fits a question and the next one; both None where nothing fits.

    `subject` names the place and level. Either `cell` or `count` says how good the best is. `is_trained`: it was trained
    on images that the answer rests on.
    """

    subject: str
    n_fitting: int
    best: ProbeBoardRow | None
    best_address: str
    next: ProbeBoardRow | None
    cell: CellAnswer | None
    count: CountAnswer | None
    is_trained: bool
    address: str


def board_of(question: ProbeQuestion) -> tuple[ProbeBoardScope, str]:
    """The board that a question asks."""
    if question.place:
        return ProbeBoardScope.MODALITY, question.place
    return (ProbeBoardScope.LEVEL, question.level) if question.level else (ProbeBoardScope.OVERVIEW, "")


def probe_answer(question: ProbeQuestion, table: ProbeTable, *, suite: str, is_clean: bool) -> ProbeAnswer:
    """The answer to a question that asks of this board: by score in one cell, by the cells told apart over several.

    `is_clean`: it is a board of `selectors.clean_boards`, and a cell that a model was trained on answers nothing.
    """
    is_cell = bool(question.place and question.level)
    fitting = [row for row in table.rows if question.limits.allow(row.model)]
    if is_cell:
        found = [row for row in fitting if question.level in row.cells]
        found = [row for row in found if not (is_clean and question.level in row.marked)]
        found.sort(key=lambda row: (-row.cells[question.level].ds, row.model.repo_id.lower()))
    else:
        found = [row for row in fitting if row.rank is not None]
    best, second = (*found[:2], None, None)[:2]
    return ProbeAnswer(
        subject=_subject(question, table),
        n_fitting=len(found),
        best=best,
        best_address=model_address(best.model) if best else "",
        next=second,
        cell=_by_score(best, second, question.level) if best and is_cell else None,
        count=_by_count(found) if best and not is_cell else None,
        is_trained=best is not None and _is_trained(best, question.level if is_cell else ""),
        address=_address(question, table, suite, is_clean=is_clean),
    )


def _is_trained(row: ProbeBoardRow, level: str) -> bool:
    """Whether a model was trained on images of its cell at a level, or of one of the cells that its count is of."""
    return level in row.marked if level else row.clean != row.count


def _by_score(best: ProbeBoardRow, second: ProbeBoardRow | None, level: str) -> CellAnswer:
    one, other = best.cells[level], second.cells[level] if second else None
    return CellAnswer(
        best=one,
        words=CellClass(one.cell_class).label,
        tells_apart=one.cell_class == CellClass.DISCRIMINATES,
        lead=one.ds - other.ds if other else 0.0,
        is_open=_is_open(one, other) if other else False,
    )


def _is_open(one: ProbeCell, other: ProbeCell) -> bool:
    """Whether two cells cannot be told apart, image by image where the statistics compared them so.

    Every model was compared with the best of a group of level ones. Two others are told apart if their 95% intervals do
    not overlap, which asks for more than is needed.
    """
    if one.tie_group == one.rank:
        return other.tie_group == one.tie_group
    return one.lower is None or other.upper is None or one.lower <= other.upper


def _by_count(found: Sequence[ProbeBoardRow]) -> CountAnswer:
    best, *others = found
    second = others[0].count if others else None
    is_alike = second is not None and second.n_measured == best.count.n_measured
    return CountAnswer(
        best=best.count,
        next=second,
        lead=best.count.n_told_apart - second.n_told_apart if is_alike else None,
        n_equal=sum(other.rank == best.rank for other in others),
    )


def _subject(question: ProbeQuestion, table: ProbeTable) -> str:
    level = level_title(question.level) if question.level else ""
    return " on ".join(part for part in (level, table.place.title if table.place else "") if part)


def _address(question: ProbeQuestion, table: ProbeTable, suite: str, *, is_clean: bool) -> str:
    """The board that was asked, with the same limits as filters, sorted by the level that was asked for."""
    if table.place is not None:
        board = place_address(table.place, suite=suite) + (f"&sort=-{question.level}" if question.level else "")
    elif question.level:
        board = _level_address(question.level, suite)
    else:
        board = f"{reverse('probe-board')}?suite={suite}"
    return limited_address(board, question.limits, is_clean=is_clean)


def _level_address(level: str, suite: str) -> str:
    return f"{reverse('probe-level', args=[level])}?suite={suite}"


RADIOLOGY = (Modality.CHEST_RADIOGRAPH, Modality.ABDOMINAL_CT, Modality.BRAIN_MRI)
FIELDS: Mapping[str, tuple[Modality, str]] = {
    "Pathology": (Modality.HISTOPATHOLOGY, "Every level on tissue under the microscope"),
    "Dermatology": (Modality.DERMOSCOPY, "Every level on dermoscopy"),
    "Ophthalmology": (Modality.FUNDUS, "Every level on photographs of the retina"),
}
ABILITIES = {
    "Anatomy": (Level.L3, "Who knows the part of the body, in every modality"),
    "Findings": (Level.L4, "Who tells findings apart, in every modality"),
    "Negation": (Level.L5, "Who understands that a finding is denied, in every modality"),
}


def probe_presets(places: Sequence[Place], *, suite: str) -> Sequence[Preset]:
    """The views that are offered on the overview, of the places that the suite has."""
    main = {place.modality: place for place in places if place.is_main}
    radiology = [main[modality].key for modality in RADIOLOGY if modality in main]
    columns = urlencode([("columns", key) for key in ("rank", "cells", *radiology, "parameters", "licence")])
    overview = f"{reverse('probe-board')}?suite={suite}&{columns}"
    found = [Preset("Radiology", overview, "Where models stop on films, CT and MRI")] if radiology else []
    found += [
        Preset(title, place_address(main[modality], suite=suite), explanation)
        for title, (modality, explanation) in FIELDS.items()
        if modality in main
    ]
    found += [
        Preset(title, _level_address(level, suite), explanation) for title, (level, explanation) in ABILITIES.items()
    ]
    return tuple(found)
