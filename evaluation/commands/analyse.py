"""`analyse` prints all groupings and analyses of results of one suite: the numbers of a board."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from evaluation.commands.analyse_probing import analyse_probing
from evaluation.commands.reporting import percent
from evaluation.commands.result_sets import JsonOption, ResultSet, SuiteFolderOption, read_results
from evaluation.manifest import suite_kind
from evaluation.metrics.ranking import points_from_ties
from evaluation.suites.medheb.analyses import family_profile, group_means
from evaluation.suites.medheb.baselines import baseline_names, chosen_baselines
from evaluation.suites.medheb.board import ANALYSES, BoardStatistics, Standing, board_to_json
from evaluation.suites.medheb.board_statistics import board_statistics
from evaluation.suites.medheb.difficulty import CUTS
from evaluation.suites.medheb.reported import reported_figures
from evaluation.suites.medheb.score_sums import score_table
from evaluation.vocabulary import SuiteKind

_POINTS_SHOWN = 0.005
"""Ties that are worth half a point or more in a task are named."""


def analyse(
    results: Annotated[list[Path], typer.Argument(help="Result files of one suite.")],
    *,
    suite: SuiteFolderOption = None,
    as_json: JsonOption = False,
    plots: Annotated[
        Path | None, typer.Option("--plots", help="Folder for plots, as SVG and PNG; of a probing suite only.")
    ] = None,
) -> None:
    """Print scores, ranks with intervals, tie groups and analyses of all given models."""
    if suite is not None and suite_kind(suite) is SuiteKind.PROBING:
        analyse_probing(results, suite=suite, as_json=as_json, plots=plots)
        return
    if plots is not None:
        raise typer.BadParameter("there are plots of probing suites only", param_hint="--plots")
    found = read_results(results, suite=suite)
    models = {name: (result.model.id, result.model.adapter_id) for name, result in found.results.items()}
    board = board_statistics(found.suite, found.outcomes, baselines=tuple(chosen_baselines(models)))
    if as_json:
        sys.stdout.write(json.dumps(board_to_json(board), indent=1, allow_nan=False) + "\n")
        return
    console = Console()
    for part in (_standings(found, board), _profiles(found), _analyses(board), _buckets(board)):
        console.print(part)
    for line in (*_notes(board), *_ties(found), *_reported(found)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _standings(found: ResultSet, board: BoardStatistics) -> Table:
    synthetic = " (synthetic data)" if found.suite.synthetic else ""
    table = Table(title=f"{found.suite.title} {found.suite.version}{synthetic}, Hit@1 in percent")
    for heading in ("scope", "group", "model"):
        table.add_column(heading, overflow="fold")
    for heading in ("Hit@1 %", "95% interval", "rank", "95% interval", "tie group", "tasks"):
        table.add_column(heading, justify="right")
    for group in board.groups:
        for standing in group.standings:
            table.add_row(group.scope, group.key, standing.model, *_cells(standing, group.n_expected))
        table.add_section()
    return table


def _cells(standing: Standing, n_expected: int) -> list[str]:
    ranked = standing.rank is not None
    return [
        percent(standing.value),
        f"{percent(standing.lower)}–{percent(standing.upper)}",
        str(standing.rank) if ranked else "–",
        f"{standing.rank_lower}–{standing.rank_upper}" if ranked else "–",
        str(standing.tie_group) if ranked else "–",
        f"{standing.n_tasks} of {n_expected}",
    ]


def _profiles(found: ResultSet) -> Table:
    table = Table(title="Family profiles: Hit@1 in percent, and points above or below other means")
    for heading in ("model", "family"):
        table.add_column(heading, overflow="fold")
    for heading in ("Hit@1 %", "to its own mean", "to all models' mean"):
        table.add_column(heading, justify="right")
    families = pd.Series({spec.name: spec.family.value for spec in found.suite.tasks})
    profile = family_profile(group_means(score_table(found.suite, found.outcomes), families))
    for model, family, score, *gaps in profile.itertuples(index=False):
        table.add_row(model, family, percent(score), *(f"{100 * gap:+.1f}" for gap in gaps))
    return table


def _analyses(board: BoardStatistics) -> Table:
    table = Table(title="Analyses of models with a score for every task (points, CV as a ratio)")
    for heading in ("analysis", "model"):
        table.add_column(heading, overflow="fold")
    for heading in ("value", "95% interval"):
        table.add_column(heading, justify="right")
    for name, title in ANALYSES.items():
        factor, digits = (1, 2) if name == "cv" else (100, 1)
        for found in board.analyses:
            if found.analysis == name:
                value, ends = _figures(found.value, found.lower, found.upper, factor=factor, digits=digits)
                table.add_row(title, found.model, value, ends)
        table.add_section()
    return table


def _buckets(board: BoardStatistics) -> Table:
    table = Table(title="Difficulty buckets and the standard deviation of models inside them (points)")
    table.add_column("bucket")
    for heading in ("tasks", "models", "deviation", "95% interval"):
        table.add_column(heading, justify="right")
    for bucket in board.buckets:
        deviation = "–", "–"
        if bucket.value is not None:
            deviation = _figures(bucket.value, bucket.lower, bucket.upper, factor=100, digits=1)
        table.add_row(bucket.bucket, str(len(bucket.tasks)), str(bucket.n_models), *deviation)
    return table


def _figures(value: float, lower: float | None, upper: float | None, *, factor: int, digits: int) -> tuple[str, str]:
    ends = "–"
    if lower is not None and upper is not None:
        ends = f"{factor * lower:.{digits}f} to {factor * upper:.{digits}f}"
    return f"{factor * value:.{digits}f}", ends


def _notes(board: BoardStatistics) -> Iterator[str]:
    total = len(baseline_names())
    if not board.baselines:
        yield f"No difficulty buckets: none of the {total} public baselines is among the results."
        return
    cuts = ", ".join(f"{100 * cut:g}%" for cut in CUTS)
    yield (
        f"Buckets: mean Hit@1 of {len(board.baselines)} of {total} public baselines ({', '.join(board.baselines)}),"
        f" cut at {cuts}. The first cut is the benchmark's, the others are settings of this project."
    )


def _ties(found: ResultSet) -> Iterator[str]:
    for name, outcomes in found.outcomes.items():
        for task, ranks in outcomes.items():
            points = points_from_ties(ranks)
            if points >= _POINTS_SHOWN:
                yield f"{name}, {task}: the release's rule for ties would add {100 * points:.1f} points."


def _reported(found: ResultSet) -> list[str]:
    reported = reported_figures()
    return reported.lines() if found.suite.slug == reported.suite else []
