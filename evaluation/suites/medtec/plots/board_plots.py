"""All plots of a board, written into a folder."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from evaluation.suites.medtec.analyses.facts import SECOND_DATASET
from evaluation.suites.medtec.board import ProbeBoard
from evaluation.suites.medtec.board_rows import ProbeCell
from evaluation.suites.medtec.plots.canvas import Plot, write_plot
from evaluation.suites.medtec.plots.closed_questions import closed_questions
from evaluation.suites.medtec.plots.level_polygons import level_polygons
from evaluation.suites.medtec.plots.negation_subtypes import negation_subtypes
from evaluation.suites.medtec.plots.probe_checks import probe_checks
from evaluation.suites.medtec.plots.protocol_slopes import protocol_slopes
from evaluation.suites.medtec.plots.sample_size import sample_sizes
from evaluation.suites.medtec.plots.style_robustness import style_robustness
from evaluation.suites.medtec.plots.subgroups import subgroup_gaps
from evaluation.vocabulary import AnchorSelection, NegationSubtype, PhrasingStyle

_Row = TypeVar("_Row")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def write_board_plots(board: ProbeBoard, folder: Path) -> tuple[Path, ...]:
    """Write an SVG and a PNG of every plot that the board has data for; returns all paths in the order written."""
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(path for name, plot in _plots(board) for path in write_plot(plot, folder / _UNSAFE.sub("-", name)))


def _plots(board: ProbeBoard) -> Iterator[tuple[str, Plot]]:
    pooled = [
        cell
        for cell in board.cells
        if cell.selection != AnchorSelection.NO_FINDING and cell.subtype in (None, NegationSubtype.MIXED)
    ]
    for key, cells in _grouped((cell for cell in pooled if cell.style == PhrasingStyle.TEMPLATE), _data_set):
        yield f"levels-{key}", level_polygons(cells)
    styled = {(row.model, row.modality, row.dataset, row.level) for row in board.styles}
    for key, cells in _grouped(
        (cell for cell in pooled if (cell.model, cell.modality, cell.dataset, cell.level) in styled), _data_set
    ):
        yield f"styles-{key}", style_robustness(cells)
    if board.negation:
        yield "negation", negation_subtypes(board.negation)
    for key, rows in _grouped(board.closed_questions, lambda row: row.task):
        yield f"questions-{key}", closed_questions(rows)
    for key, gaps in _grouped(
        board.subgroup_gaps, lambda row: f"{row.attribute}-{row.modality}{SECOND_DATASET}{row.dataset}"
    ):
        yield f"subgroups-{key}", subgroup_gaps(gaps)
    for key, sizes in _grouped(board.sample_size, lambda row: f"{row.modality}{SECOND_DATASET}{row.dataset}"):
        yield f"sample-size-{key}", sample_sizes(sizes)
    for key, standings in _grouped(board.protocols, lambda row: row.comparison):
        yield f"protocols-{key}", protocol_slopes(standings)
    if board.checks:
        yield "checks", probe_checks(board.checks, board.blind_baselines)


def _data_set(cell: ProbeCell) -> str:
    return f"{cell.modality}{SECOND_DATASET}{cell.dataset}"


def _grouped(rows: Iterable[_Row], key: Callable[[_Row], str]) -> Iterator[tuple[str, Sequence[_Row]]]:
    for name, group in groupby(sorted(rows, key=key), key=key):
        yield name, list(group)
