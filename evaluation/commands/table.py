"""`table` prints result files as markdown: of retrieval a column a family, of probing a column a level."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.probing_table import probing_markdown
from evaluation.commands.reporting import interval, percent
from evaluation.errors import ResultInvalid
from evaluation.results import RunResult, read_result
from evaluation.suites.medheb.aggregation import CV, HIT, OVERALL
from evaluation.types import AggregateValue
from evaluation.vocabulary import FAMILY_TITLES


def table(results: Annotated[list[Path], typer.Argument(help="Result files of one suite.")]) -> None:
    """Print a markdown table: Hit@1 in percent per family, or the Discrimination Score per level and modality."""
    sys.stdout.write(markdown_table([read_result(path) for path in results]))


def markdown_table(results: Sequence[RunResult]) -> str:
    """Hit@1 in percent by family, a dash where no task of a family was scored; best overall first.

    A cell with fewer tasks than the suite has says how many. Results of a probing suite: see `probing_markdown`.

    Raises:
        ResultInvalid: the results are of different suites, so their numbers cannot stand in one table.
    """
    suites = {result.suite for result in results}
    if len(suites) != 1:
        raise ResultInvalid("The result files are of different suites or versions; give those of one suite.")
    (suite,) = suites
    if any(result.probe_tasks for result in results):
        return probing_markdown(results)
    headings = ["Model", "Overall", "95% interval", "CV", *FAMILY_TITLES.values()]
    ordered = sorted(results, key=_overall, reverse=True)
    lines = [
        f"{suite.title} {suite.version}{', synthetic data' if suite.synthetic else ''}: Hit@1 in percent.",
        "",
        _line(headings),
        _line(["---", *["---:"] * (len(headings) - 1)]),
        *(_line(_cells(result)) for result in ordered),
    ]
    return "\n".join(lines) + "\n"


def _cells(result: RunResult) -> list[str]:
    values = {(value.scope, value.key, value.metric): value for value in result.aggregates}
    overall, spread = (values.get((OVERALL, OVERALL, metric)) for metric in (HIT, CV))
    families = [_cell(values.get(("family", family.value, HIT))) for family in FAMILY_TITLES]
    interval_cell = "–" if overall is None else interval(overall)
    return [result.model.id, _cell(overall), interval_cell, "–" if spread is None else f"{spread.value:.2f}", *families]


def _cell(value: AggregateValue | None) -> str:
    if value is None:
        return "–"
    coverage = "" if value.n_tasks == value.n_expected else f" ({value.n_tasks} of {value.n_expected})"
    return f"{percent(value.value)}{coverage}"


def _overall(result: RunResult) -> float:
    return next((value.value for value in result.aggregates if value.scope == OVERALL and value.metric == HIT), -1.0)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
