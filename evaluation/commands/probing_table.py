"""The markdown table of results of a probing suite: levels by modality, then the tasks that are no cells."""

import re
from collections.abc import Iterator, Mapping, Sequence

from evaluation.commands.probe_reporting import main_probe_metric
from evaluation.metrics.discrimination import ceiling, cell_class
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import RunResult
from evaluation.types import MetricValue
from evaluation.vocabulary import MODALITY_TITLES, CellClass, Level, Modality, ProbeTaskKind

_MAIN_CELL = re.compile(r"(?P<modality>[a-z_]+)\.(?P<level>L[1-5])(?:@(?P<dataset>\w+))?")
_MARKS = {
    CellClass.DISCRIMINATES: "D",
    CellClass.NEAR_CHANCE: "N",
    CellClass.COLLAPSE: "C",
    CellClass.COLLAPSE_CERTAIN: "CC",
}
_LEGEND = (
    "Mean Discrimination Score with its 95% interval; D discriminates, N near chance, C collapse, CC certain collapse."
)
_NEVER = "none"
_ABSENT = "–"

Group = tuple[Modality, str]


def probing_markdown(results: Sequence[RunResult]) -> str:
    """Levels by modality and model in the order given, with the first level at which a model collapses.

    A second table holds the main figure of every task that is no cell. The results are of one suite.
    """
    suite = results[0].suite
    lines = [
        f"{suite.title} {suite.version}{', synthetic data' if suite.synthetic else ''}.",
        _LEGEND,
        "",
        *_table(["Modality", "Model", "n", *Level, "Collapses first at"], _cell_rows(results)),
    ]
    others = {
        task.task: f"{task.task} ({main_probe_metric(task).name})"
        for result in results
        for task in result.probe_tasks
        if task.kind is not ProbeTaskKind.CELL
    }
    if others:
        lines += ["", *_table(["Model", *others.values()], _other_rows(results, list(others)))]
    return "\n".join(lines) + "\n"


def _cell_rows(results: Sequence[RunResult]) -> Iterator[list[str]]:
    cells = [_main_cells(result) for result in results]
    for group in dict.fromkeys(group for found in cells for group in found):
        for result, found in zip(results, cells, strict=True):
            if group in found:
                yield [_title(group), result.model.id, *_level_cells(found[group])]


def _main_cells(result: RunResult) -> dict[Group, dict[Level, ProbeTaskResult]]:
    """The cells of the template style, by modality and (of a modality's further data sets) data set."""
    found: dict[Group, dict[Level, ProbeTaskResult]] = {}
    for task in result.probe_tasks:
        parts = _MAIN_CELL.fullmatch(task.task)
        if parts is not None:
            group = Modality(parts["modality"]), parts["dataset"] or ""
            found.setdefault(group, {})[Level(parts["level"])] = task
    return found


def _title(group: Group) -> str:
    modality, dataset = group
    return f"{MODALITY_TITLES[modality]}, {dataset}" if dataset else MODALITY_TITLES[modality]


def _level_cells(tasks: Mapping[Level, ProbeTaskResult]) -> list[str]:
    metrics = {level: main_probe_metric(task) for level, task in tasks.items()}
    classes = {level: cell_class(metric.value, metric.lower, metric.upper) for level, metric in metrics.items()}
    levels = [f"{_figure(metrics[level])} {_MARKS[classes[level]]}" if level in tasks else _ABSENT for level in Level]
    counts = sorted({task.counts["anchors"] for task in tasks.values()})
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    return [n, *levels, ceiling(classes) or _NEVER]


def _other_rows(results: Sequence[RunResult], names: Sequence[str]) -> Iterator[list[str]]:
    for result in results:
        scored = {task.task: _figure(main_probe_metric(task)) for task in result.probe_tasks}
        yield [result.model.id, *(scored.get(name, _ABSENT) for name in names)]


def _figure(metric: MetricValue) -> str:
    if metric.lower is None or metric.upper is None:
        return f"{metric.value:.3f}"
    return f"{metric.value:.3f} ({metric.lower:.3f} to {metric.upper:.3f})"


def _table(headings: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield _line(headings)
    yield _line(["---"] * len(headings))
    for row in rows:
        yield _line(row)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
