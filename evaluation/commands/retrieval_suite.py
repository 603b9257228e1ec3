"""A retrieval suite as commands run it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluation.commands.reporting import aggregate_table, task_table
from evaluation.commands.suites_to_run import AnyResult, Outcome, VectorSource
from evaluation.errors import DataMissing
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.evaluators.session import LoadedTask, TaskProgress, evaluate_tasks
from evaluation.hashing import FileHashes
from evaluation.manifest import suite_sha256
from evaluation.results import RunResult, SuiteIdentity
from evaluation.suites.medheb.aggregation import aggregate
from evaluation.suites.medheb.lock import read_lock
from evaluation.suites.medheb.reader import load_task, select_tasks, task_is_installed
from evaluation.suites.medheb.readiness import Readiness, explain, survey_suite
from evaluation.types import AggregateValue, SuiteSpec, TaskResult, TaskSpec


@dataclass(frozen=True, slots=True)
class RetrievalSuite:
    """A suite in the layout of the MedHEB release."""

    folder: Path
    declared: SuiteSpec

    @property
    def identity(self) -> SuiteIdentity:
        """Which suite it is, for the record."""
        suite = self.declared
        return SuiteIdentity(suite.slug, suite.version, suite.title, suite.synthetic, suite_sha256(suite))

    def listing(self, names: Sequence[str]) -> Table:
        """A row a task: its groups and whether its data are there."""
        return listing(self.declared, select_tasks(self.declared, names), folder=self.folder)

    def loaded(self, names: Sequence[str], hashes: FileHashes) -> Iterator[tuple[str, LoadedTask | None]]:
        """The named tasks with their records."""
        for spec in select_tasks(self.declared, names):
            is_there = task_is_installed(self.folder, spec)
            yield spec.name, load_task(self.folder, spec, hashes=hashes) if is_there else None

    def installed(self, names: Sequence[str], console: Console) -> tuple[str, ...]:
        """The named tasks whose data are there; the others are named on the console, with the reason if it is known.

        Where the suite has a lock file, only what it knows to be ready is there; where it has none, every task with a
        file and images.

        Raises:
            TaskUnknown: the suite has no task of a name.
            DataMissing: there is none.
            SuiteInvalid: the lock file is damaged.
        """
        specs = select_tasks(self.declared, names)
        known = read_lock(self.folder, suite=self.declared.slug).tasks
        locked = [spec for spec in specs if spec.name in known]
        unready = {
            readiness.task: readiness
            for readiness in survey_suite(self.folder, locked, known=known)
            if readiness.state is not Readiness.READY
        }
        for spec in specs:
            if spec.name in unready:
                reason = explain(spec, unready[spec.name])
                console.print(f"{spec.name} is left out: {reason}", markup=False, highlight=False, soft_wrap=True)
        others = [spec for spec in specs if spec.name not in unready]
        installed = [spec.name for spec in others if task_is_installed(self.folder, spec)]
        report_awaiting(console, [spec.name for spec in others if spec.name not in installed])
        return require_some(installed, n_chosen=len(specs), folder=self.folder, console=console)

    def outcomes(
        self,
        names: Sequence[str],
        *,
        source: VectorSource,
        hashes: FileHashes,
        on_progress: TaskProgress,
        completed: Mapping[str, AnyResult],
    ) -> Iterator[Outcome]:
        """Rank the named tasks one by one."""
        return evaluate_tasks(
            select_tasks(self.declared, names),
            load=lambda spec: load_task(self.folder, spec, hashes=hashes),
            evaluate=evaluate_task,
            store=source.store,
            on_progress=on_progress,
            completed={name: result for name, result in completed.items() if isinstance(result, TaskResult)},
        )

    def aggregates(self, results: Sequence[AnyResult]) -> tuple[AggregateValue, ...]:
        """Means over tasks of every group."""
        ranked = {result.task: result.outcomes for result in results if isinstance(result, TaskResult)}
        return aggregate(self.declared, ranked)

    def tables(self, result: RunResult) -> list[Table]:
        """A row a task, and a row a mean."""
        return [task_table(self.declared, result), aggregate_table(result)]


def listing(declared: SuiteSpec, specs: Sequence[TaskSpec], *, folder: Path | None) -> Table:
    """A row a task; without a folder nothing is said of data."""
    table = Table(title=f"{declared.title} {declared.version}: {len(specs)} tasks")
    for heading in ("task", "family", "domain", "form", "split", "pool", "data"):
        table.add_column(heading, overflow="fold")
    for spec in specs:
        state = "" if folder is None else data_state(is_there=task_is_installed(folder, spec))
        table.add_row(spec.name, spec.family, spec.domain, spec.evidence_form, spec.split, spec.pool, state)
    return table


def data_state(*, is_there: bool) -> str:
    """Whether a task's data are there, in words."""
    return "installed" if is_there else "awaiting data"


def report_awaiting(console: Console, names: Sequence[str]) -> None:
    """Name the tasks that are left out because their data are not there."""
    if names:
        console.print(f"awaiting data, left out: {', '.join(names)}", markup=False, highlight=False)


def require_some(installed: Sequence[str], *, n_chosen: int, folder: Path, console: Console) -> tuple[str, ...]:
    """The installed tasks; says how many of the chosen ones they are.

    Raises:
        DataMissing: there is none.
    """
    if installed and len(installed) < n_chosen:
        console.print(f"{len(installed)} of {n_chosen} tasks are evaluated", markup=False, highlight=False)
    if not installed:
        raise DataMissing(
            f"None of the tasks has its data under {folder}. Install them, or choose others with --tasks."
        )
    return tuple(installed)
