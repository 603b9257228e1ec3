"""`compare` says which of two models is better, and where."""

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from evaluation.commands.reporting import percent
from evaluation.commands.result_sets import JsonOption, ResultSet, SuiteFolderOption, read_results
from evaluation.suites.medheb.comparison import Comparison, compare_models


def compare(
    a: Annotated[Path, typer.Argument(help="Result file of one model.")],
    b: Annotated[Path, typer.Argument(help="Result file of the other.")],
    *,
    suite: SuiteFolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two results of one suite, overall, in every group and task, with intervals of the differences."""
    found = read_results([a, b], suite=suite)
    one, other = found.outcomes.values()
    rows = compare_models(found.suite, one, other)
    if as_json:
        sys.stdout.write(json.dumps(_document(found, rows), indent=1, allow_nan=False) + "\n")
    else:
        _print(found, rows)


def _document(found: ResultSet, rows: Sequence[Comparison]) -> dict[str, Any]:
    a, b = found.results
    return {
        "suite": {"slug": found.suite.slug, "version": found.suite.version},
        "a": a,
        "b": b,
        "rows": [{**dataclasses.asdict(row), "better": row.better} for row in rows],
    }


def _print(found: ResultSet, rows: Sequence[Comparison]) -> None:
    names = dict(zip(("a", "b"), found.results, strict=True))
    title = f"{found.suite.title} {found.suite.version}{' (synthetic data)' if found.suite.synthetic else ''}"
    table = Table(title=f"A: {names['a']}\nB: {names['b']}\n{title}, Hit@1 in percent")
    for heading in ("scope", "group"):
        table.add_column(heading, overflow="fold")
    for heading in ("A", "B", "A − B", "95% interval", "P(A > B)", "tasks"):
        table.add_column(heading, justify="right")
    table.add_column("better")
    for row in rows:
        table.add_row(*_cells(row))
    console = Console()
    console.print(table)
    console.print(_sentence(rows, names), markup=False, highlight=False, soft_wrap=True)


def _cells(row: Comparison) -> list[str]:
    gap = row.difference
    return [
        row.scope,
        row.key,
        percent(row.a),
        percent(row.b),
        f"{100 * gap.value:+.1f}",
        f"{100 * gap.lower:+.1f} to {100 * gap.upper:+.1f}",
        f"{gap.probability_higher:.2f}",
        f"{row.n_tasks} of {row.n_expected}",
        row.better.upper() or "–",
    ]


def _sentence(rows: Sequence[Comparison], names: dict[str, str]) -> str:
    """The answer in words."""
    whole = rows[0]
    points = f"{abs(100 * whole.difference.value):.1f} points"
    if not whole.better:
        answer = (
            f"Overall the two cannot be told apart: they are {points} from each other, and the interval holds zero."
        )
    else:
        answer = f"Overall {names[whole.better]} is better by {points}."
    coverage = f" Compared on {whole.n_tasks} of {whole.n_expected} tasks: those that both have a score for."
    return answer + (coverage if whole.n_tasks < whole.n_expected else "")
