"""What `analyse` prints of a probing suite: a table an analysis, the numbers of its board."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluation.commands.result_sets import ProbeResultSet, read_probe_results
from evaluation.metrics.discrimination import BOUNDARY
from evaluation.suites.medtec.analyses.closed_questions import CHANCE, TIE_POLICY
from evaluation.suites.medtec.analyses.subgroups import AGE_CUTS
from evaluation.suites.medtec.board import ProbeBoard, probe_board_to_json
from evaluation.suites.medtec.board_statistics import probe_board
from evaluation.suites.medtec.material import read_board_material
from evaluation.suites.medtec.reported import reported_figures

_NONE = "–"
# A file or a pipe has no width of its own, and these tables need more than a narrow terminal's.
_WIDTH_OF_FILES = 160


def analyse_probing(paths: Sequence[Path], *, suite: Path, as_json: bool, plots: Path | None) -> None:
    """Print the board of result files of the probing suite in a folder, and draw it where `plots` is given.

    Raises:
        ResultInvalid: the files cannot stand side by side.
        SuiteInvalid: the suite's folder is not what the format asks for.
        DataMissing: a file of a measured task is not there.
    """
    found = read_probe_results(paths, suite=suite)
    measured = {task for tasks in found.tasks.values() for task in tasks}
    used = replace(found.suite, tasks=tuple(spec for spec in found.suite.tasks if spec.name in measured))
    material = read_board_material(suite, used)
    board = probe_board(found.suite, found.tasks, material, suite_sha256=found.sha256)
    if plots is not None:
        # matplotlib is slow to import, and only plots need it.
        from evaluation.suites.medtec.plots.board_plots import write_board_plots  # noqa: PLC0415

        write_board_plots(board, plots)
    if as_json:
        sys.stdout.write(json.dumps(probe_board_to_json(board), indent=1, allow_nan=False) + "\n")
        return
    console = Console(width=None if sys.stdout.isatty() else _WIDTH_OF_FILES)
    for table in _tables(found, board):
        if table.row_count:
            console.print(table)
    for line in _notes(found, board):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _tables(found: ProbeResultSet, board: ProbeBoard) -> Iterator[Table]:
    synthetic = " (synthetic data)" if found.suite.synthetic else ""
    yield from _cell_tables(board, f"{found.suite.title} {found.suite.version}{synthetic}")
    yield _table(
        "First level that collapses",
        ("model", "modality", "data"),
        ("ceiling", "of levels"),
        ((row.model, row.modality, row.dataset, row.ceiling or _NONE, " ".join(row.levels)) for row in board.ceilings),
    )
    yield _table(
        f"Phrasing styles: spread of DS, and whether no style reaches {BOUNDARY}",
        ("model", "modality", "data", "level"),
        ("styles", "SD", "lowest", "highest", "collapses", "stays below"),
        (
            (row.model, row.modality, row.dataset, row.level, str(len(row.styles)), f"{row.sd:.3f}",
             f"{row.lowest:.3f}", f"{row.highest:.3f}", _yes(row.collapses_under_template), _yes(row.stays_below))
            for row in board.styles
        ),
    )  # fmt: skip
    yield _table(
        "Kinds of negation: model x modality cells that collapse (* weaker than the finding, not false)",
        ("kind",),
        ("cells", "certain", "%", "any", "mean DS"),
        (
            (f"{row.subtype}{'*' if row.is_weaker_only else ''}", str(row.n_cells), str(row.n_collapse_certain),
             f"{100 * row.n_collapse_certain / row.n_cells:.0f}", str(row.n_collapsing), f"{row.ds_mean:.3f}")
            for row in board.negation
        ),
    )  # fmt: skip
    yield _table(
        "Closed questions",
        ("model", "task"),
        ("balanced accuracy", "95% interval", "above chance", "yes-rate", "questions", "ties", "without rule"),
        (
            (row.model, row.task, f"{row.balanced_accuracy:.3f}", _interval(row.lower, row.upper),
             _yes(row.exceeds_chance), f"{row.yes_rate:.3f}", str(row.n_questions), str(row.n_ties),
             str(row.n_without_rule))
            for row in board.closed_questions
        ),
    )  # fmt: skip
    yield from _subgroup_tables(board)
    yield _table(
        "Sample size: nested subsamples",
        ("model", "modality", "data", "level"),
        ("n", "DS", "95% interval", "width", "class"),
        (
            (row.model, row.modality, row.dataset, row.level, f"{row.n:,}", f"{row.ds:.3f}",
             _interval(row.lower, row.upper), _number(row.width), row.cell_class)
            for row in board.sample_size
        ),
    )  # fmt: skip
    yield from _protocol_tables(board)
    yield from _check_tables(board)


def _subgroup_tables(board: ProbeBoard) -> Iterator[Table]:
    yield _table(
        "Subgroups",
        ("model", "modality", "data", "level", "attribute", "group"),
        ("DS", "95% interval", "class", "anchors"),
        (
            (row.model, row.modality, row.dataset, row.level, row.attribute, row.group, f"{row.ds:.3f}",
             _interval(row.lower, row.upper), row.cell_class, str(row.n_anchors))
            for row in board.subgroups
        ),
    )  # fmt: skip
    yield _table(
        "Gaps between subgroups (paired)",
        ("model", "modality", "data", "level", "groups"),
        ("gap", "95% interval", "separated", "anchors"),
        (
            (row.model, row.modality, row.dataset, row.level, f"{row.group} - {row.other}", f"{row.gap:.3f}",
             _interval(row.lower, row.upper), _yes(row.is_separated), f"{row.n_anchors} and {row.n_anchors_other}")
            for row in board.subgroup_gaps
        ),
    )  # fmt: skip
    yield _table(
        "Anchors without an attribute, left out of its subgroups",
        ("modality", "data", "attribute"),
        ("missing", "anchors"),
        (
            (row.modality, row.dataset, row.attribute, str(row.n_missing), str(row.n_anchors))
            for row in board.missing_attributes
        ),
    )


def _cell_tables(board: ProbeBoard, title: str) -> Iterator[Table]:
    cells = sorted(board.cells, key=lambda cell: (cell.task, cell.rank, cell.model))
    yield _table(
        f"{title}, Discrimination Scores",
        ("task", "model"),
        ("DS", "95% interval", "class", "rank", "95% interval", "tie group", "anchors"),
        (
            (cell.task, cell.model, f"{cell.ds:.3f}", _interval(cell.lower, cell.upper), cell.cell_class,
             str(cell.rank), f"{cell.rank_lower}–{cell.rank_upper}", str(cell.tie_group), f"{cell.n_anchors:,}")
            for cell in cells
        ),
    )  # fmt: skip
    yield _table(
        "Beside the DS: failures, pass rate above chance, DS against as many negatives as positives, DS in SD of cosines",
        ("task", "model"),
        ("failures", "pass rate adj.", "size-matched", "scaled", "negatives"),
        (
            (cell.task, cell.model, f"{cell.failure_rate:.2f}", f"{cell.pass_rate_adjusted:.2f}",
             f"{cell.ds_size_matched:.3f}", _number(cell.ds_scaled), f"{cell.n_negatives_min}–{cell.n_negatives_max}")
            for cell in cells
        ),
    )  # fmt: skip


def _protocol_tables(board: ProbeBoard) -> Iterator[Table]:
    yield _table(
        "Rankings under several protocols",
        ("comparison", "images", "protocol", "metric", "model"),
        ("value", "rank"),
        (
            (row.comparison, _images(row.same_images), row.protocol, row.metric, row.model, f"{row.value:.3f}",
             str(row.rank))
            for row in board.protocols
        ),
    )  # fmt: skip
    yield _table(
        "Kendall's tau-b between rankings",
        ("comparison", "images", "protocols"),
        ("tau", "95% interval", "models"),
        (
            (row.comparison, _images(row.same_images), f"{row.one}, {row.other}", _number(row.tau),
             _interval(row.lower, row.upper), str(row.n_models))
            for row in board.agreements
        ),
    )  # fmt: skip


def _check_tables(board: ProbeBoard) -> Iterator[Table]:
    yield _table(
        "Checks of the probe sets: positives less negatives in words, and the longest texts",
        ("modality", "level", "style", "kind", "anchors"),
        ("probes", "words", "greatest", "longest", "tokens at most", "on both sides"),
        (
            (row.modality, row.level, row.style, row.subtype or "", row.selection, str(row.n_probes), f"{row.words_difference:+.1f}",
             f"{row.words_difference_highest:.1f}", str(row.longest_words), str(row.tokens_at_most),
             str(row.n_on_both_sides))
            for row in board.checks
        ),
    )  # fmt: skip
    yield _table(
        "Blind baseline: DS of an image that shows nothing",
        ("task", "model", "image"),
        ("DS", "null", "surplus in SD"),
        (
            (row.task, row.model, row.image, f"{row.ds:.3f}", f"{row.null:.3f}", _number(row.surplus))
            for row in board.blind_baselines
        ),
    )


def _notes(found: ProbeResultSet, board: ProbeBoard) -> Iterator[str]:
    styles = board.style_summary
    if styles.n_cells:
        yield (
            f"Of {styles.n_collapsing} cells of the benchmark's modalities that collapse under the template,"
            f" {styles.n_staying_below} stay below {BOUNDARY} under every style; SD over styles"
            f" {_number(styles.sd_lowest)} to {_number(styles.sd_highest)}, median {_number(styles.sd_median)}."
        )
    if board.closed_questions:
        yield f"Closed questions: chance is {CHANCE}, ties get {TIE_POLICY.replace('_', ' ')}."
    if board.subgroups:
        yield f"Ages are cut at {' and '.join(map(str, AGE_CUTS))} years; skin tones are pairs of Fitzpatrick types."
    reported = reported_figures()
    if found.suite.slug == reported.suite:
        yield from reported.lines()


def _table(title: str, words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title)
    for heading in words:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"


def _interval(lower: float | None, upper: float | None) -> str:
    return _NONE if lower is None or upper is None else f"{lower:.3f} to {upper:.3f}"


def _yes(value: bool) -> str:  # noqa: FBT001 -- a word for a truth value
    return "yes" if value else "no"


def _images(same: bool) -> str:  # noqa: FBT001 -- the same
    return "same" if same else "different"
