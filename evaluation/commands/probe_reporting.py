"""What a person sees of a run on a probing suite."""

from rich.table import Table

from evaluation.metrics.discrimination import ceiling, cell_class
from evaluation.probe_types import ProbeSuiteSpec, ProbeTaskResult, ProbeTaskSpec
from evaluation.results import RunResult
from evaluation.types import MetricValue
from evaluation.vocabulary import (
    MODALITY_TITLES,
    AnchorSelection,
    CellClass,
    Level,
    NegationSubtype,
    PhrasingStyle,
    ProbeTaskKind,
)

_MAIN_SUBTYPES = (None, NegationSubtype.MIXED)
_NEVER = "none of the levels"


def probe_table(suite: ProbeSuiteSpec, result: RunResult) -> Table:
    """One row a scored task: its main figure with the interval, and the class of a cell."""
    title = f"{result.model.id} on {suite.title} {suite.version}{' (synthetic data)' if suite.synthetic else ''}"
    table = Table(title=title)
    table.add_column("task", overflow="fold")
    table.add_column("figure")
    for heading in ("value", "95% interval", "n"):
        table.add_column(heading, justify="right")
    table.add_column("class")
    for task in result.probe_tasks:
        metric = main_probe_metric(task)
        klass = _class(metric).replace("_", " ") if task.kind is ProbeTaskKind.CELL else ""
        n = task.counts["anchors" if task.kind is ProbeTaskKind.CELL else _COUNTED[task.kind]]
        table.add_row(task.task, metric.name, f"{metric.value:.3f}", _interval(metric), str(n), klass)
    return table


def ceiling_table(suite: ProbeSuiteSpec, result: RunResult) -> Table:
    """The first level of the main cells at which the model collapses, a row a modality and data set."""
    table = Table(title="Ceilings")
    for heading in ("modality", "data set", "collapses first at", "levels"):
        table.add_column(heading)
    scored = {task.task: task for task in result.probe_tasks}
    main = [spec for spec in suite.tasks if _is_main(spec) and spec.name in scored]
    for modality, dataset in dict.fromkeys((spec.modality, spec.dataset) for spec in main):
        classes: dict[Level, CellClass] = {
            spec.level: _class(main_probe_metric(scored[spec.name]))
            for spec in main
            if (spec.modality, spec.dataset) == (modality, dataset) and spec.level is not None
        }
        first = ceiling(classes) or _NEVER
        table.add_row(MODALITY_TITLES[modality] if modality else "", dataset, first, " ".join(sorted(classes)))
    return table


def main_probe_metric(result: ProbeTaskResult) -> MetricValue:
    """The figure that ranks models: the first one, which is DS for a cell."""
    return result.metrics[0]


def probe_line(result: ProbeTaskResult) -> str:
    """A finished task in one line."""
    metric = main_probe_metric(result)
    return f"{result.task}: {metric.name} {metric.value:.3f}"


_COUNTED = {
    ProbeTaskKind.CLOSED_QUESTIONS: "questions",
    ProbeTaskKind.RETRIEVAL: "images",
    ProbeTaskKind.ZERO_SHOT: "images",
}


def _is_main(spec: ProbeTaskSpec) -> bool:
    return (
        spec.kind is ProbeTaskKind.CELL
        and spec.style is PhrasingStyle.TEMPLATE
        and spec.subtype in _MAIN_SUBTYPES
        and spec.selection is not AnchorSelection.NO_FINDING
    )


def _class(metric: MetricValue) -> CellClass:
    return cell_class(metric.value, metric.lower, metric.upper)


def _interval(metric: MetricValue) -> str:
    return "–" if metric.lower is None or metric.upper is None else f"{metric.lower:.3f} to {metric.upper:.3f}"
