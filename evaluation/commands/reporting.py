"""What a person sees of a run: a line a finished task, a progress bar on a terminal, and a table at the end."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from evaluation.commands.probe_reporting import probe_line
from evaluation.evaluators.session import AnySpec, Stage
from evaluation.metrics.ranking import adjusted_score
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import RunResult
from evaluation.suites.medheb.aggregation import ADJUSTED, CV
from evaluation.types import AggregateValue, MetricValue, SuiteSpec, TaskFailure, TaskResult

MAIN_METRIC = "hit@1"


class RunProgress:
    """Shows the task in work; finished tasks stay on the screen, one line each."""

    def __init__(self, console: Console, n_tasks: int) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._tasks = self._bars.add_task("tasks", total=n_tasks)
        self._current = self._bars.add_task("", total=None)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bars.stop()

    def update(self, spec: AnySpec, stage: Stage, done: int, total: int) -> None:
        """One step of the task in work."""
        self._bars.update(self._current, description=f"{spec.name}: {stage}", completed=done, total=total)

    def finish(self, outcome: TaskResult | ProbeTaskResult | TaskFailure, *, kept: bool) -> None:
        """A task is done."""
        self._bars.advance(self._tasks)
        if isinstance(outcome, TaskFailure):
            self._console.print(f"{outcome.task}: {outcome.code}: {outcome.message}", markup=False, highlight=False)
        else:
            suffix = " (kept from an earlier attempt)" if kept else ""
            self._console.print(f"{_line(outcome)}{suffix}", markup=False, highlight=False)


def _line(result: TaskResult | ProbeTaskResult) -> str:
    if isinstance(result, ProbeTaskResult):
        return probe_line(result)
    return f"{result.task}: Hit@1 {percent(main_metric(result).value)}"


def main_metric(result: TaskResult) -> MetricValue:
    """The metric that ranks models: Hit@1."""
    return next(metric for metric in result.metrics if metric.name == MAIN_METRIC)


def percent(value: float) -> str:
    """A share as percent with one digit."""
    return f"{100 * value:.1f}"


def interval(value: MetricValue | AggregateValue) -> str:
    """The ends of an interval as percent, or a dash."""
    if value.lower is None or value.upper is None:
        return "–"
    return f"{percent(value.lower)}–{percent(value.upper)}"


def task_table(suite: SuiteSpec, result: RunResult) -> Table:
    """One row a scored task: Hit@1 in percent, its interval, the chance level, and Hit@1 between chance and perfect."""
    families = {spec.name: spec.family for spec in suite.tasks}
    title = f"{result.model.id} on {suite.title} {suite.version}{' (synthetic data)' if suite.synthetic else ''}"
    table = Table(title=title)
    for heading in ("task", "family"):
        table.add_column(heading, overflow="fold")
    for heading in ("queries", "Hit@1 %", "95% interval", "chance %", "adjusted %"):
        table.add_column(heading, justify="right")
    for task in result.tasks:
        metric = main_metric(task)
        adjusted = adjusted_score(metric.value, task.chance)
        shares = [percent(metric.value), interval(metric), percent(task.chance), percent(adjusted)]
        table.add_row(task.task, families[task.task], str(len(task.outcomes)), *shares)
    return table


def aggregate_table(result: RunResult) -> Table:
    """Means over tasks: scores in percent, beside each its score above chance; CV as a ratio."""
    table = Table(title="Means over tasks")
    for heading in ("scope", "group"):
        table.add_column(heading, overflow="fold")
    for heading in ("Hit@1 %", "95% interval", "above chance %", "tasks"):
        table.add_column(heading, justify="right")
    adjusted = {(value.scope, value.key): value.value for value in result.aggregates if value.metric == ADJUSTED}
    for value in result.aggregates:
        if value.metric == ADJUSTED:
            continue
        is_ratio = value.metric == CV
        shown = f"{value.value:.2f}" if is_ratio else percent(value.value)
        ends = _plain_interval(value) if is_ratio else interval(value)
        above = adjusted.get((value.scope, value.key))
        beside = "–" if is_ratio or above is None else percent(above)
        coverage = f"{value.n_tasks} of {value.n_expected}"
        group = "CV across families" if is_ratio else value.key
        table.add_row(value.scope, group, shown, ends, beside, coverage)
    return table


def _plain_interval(value: AggregateValue) -> str:
    if value.lower is None or value.upper is None:
        return "–"
    return f"{value.lower:.2f}–{value.upper:.2f}"
