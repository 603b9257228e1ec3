"""A probing suite as commands run it."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluation.commands.probe_reporting import ceiling_table, probe_table
from evaluation.commands.retrieval_suite import data_state, report_awaiting, require_some
from evaluation.commands.suites_to_run import AnyResult, Outcome, VectorSource
from evaluation.embedders.kinds import sees_volumes
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.probe import evaluate_probe_task
from evaluation.evaluators.session import LoadedTask, TaskProgress, evaluate_tasks
from evaluation.hashing import FileHashes
from evaluation.probe_manifest import probe_suite_sha256
from evaluation.probe_tasks import ProbeTask
from evaluation.probe_types import ProbeSuiteSpec, ProbeTaskResult, ProbeTaskSpec
from evaluation.results import RunResult, SuiteIdentity
from evaluation.suites.medtec.loading import load_probe_task, probe_task_is_installed
from evaluation.suites.task_selection import tasks_named
from evaluation.types import AggregateValue, FloatMatrix

UNCHECKED = "It is not known whether the model read every text to its end."


@dataclass(frozen=True, slots=True)
class ProbingSuite:
    """A MedTEC suite."""

    folder: Path
    declared: ProbeSuiteSpec

    @property
    def identity(self) -> SuiteIdentity:
        """Which suite it is, for the record."""
        suite = self.declared
        return SuiteIdentity(suite.slug, suite.version, suite.title, suite.synthetic, probe_suite_sha256(suite))

    def listing(self, names: Sequence[str]) -> Table:
        """A row a task: what it probes and whether its data are there."""
        specs = self._named(names)
        table = Table(title=f"{self.declared.title} {self.declared.version}: {len(specs)} tasks")
        for heading in ("task", "kind", "modality", "level", "style", "negation", "data set", "data"):
            table.add_column(heading, overflow="fold")
        for spec in specs:
            words = (spec.kind, spec.modality, spec.level, spec.style, spec.subtype, spec.dataset)
            state = data_state(is_there=probe_task_is_installed(self.folder, spec))
            table.add_row(spec.name, *(word or "" for word in words), state)
        return table

    def loaded(self, names: Sequence[str], hashes: FileHashes) -> Iterator[tuple[str, LoadedTask | None]]:
        """The named tasks with what is embedded for them by models that take slices of volumes."""
        for spec in self._named(names):
            is_there = probe_task_is_installed(self.folder, spec)
            task = load_probe_task(self.folder, spec, hashes=hashes, takes_volumes=False) if is_there else None
            yield spec.name, task

    def installed(self, names: Sequence[str], console: Console) -> tuple[str, ...]:
        """The named tasks whose file is there; the others are named on the console.

        Raises:
            TaskUnknown: the suite has no task of a name.
            DataMissing: there is none.
        """
        specs = self._named(names)
        installed = [spec.name for spec in specs if probe_task_is_installed(self.folder, spec)]
        report_awaiting(console, [spec.name for spec in specs if spec.name not in installed])
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
        """Score the named tasks one by one; a task with a text that the model would cut fails."""
        takes_volumes = sees_volumes(source.description)

        def load(spec: ProbeTaskSpec) -> ProbeTask:
            task = load_probe_task(self.folder, spec, hashes=hashes, takes_volumes=takes_volumes)
            if source.text_limit is not None:
                texts = (task.inputs[position].text for position in task.whole_texts)
                source.text_limit.require_whole(texts, where=spec.name)
            return task

        return evaluate_tasks(
            self._named(names),
            load=load,
            evaluate=evaluate_probe_task if source.text_limit is not None else _evaluate_unchecked,
            store=source.store,
            on_progress=on_progress,
            completed={name: result for name, result in completed.items() if isinstance(result, ProbeTaskResult)},
        )

    def aggregates(self, results: Sequence[AnyResult]) -> tuple[AggregateValue, ...]:
        """None: levels and modalities are not averaged."""
        return ()

    def tables(self, result: RunResult) -> list[Table]:
        """A row a task, and the ceiling of every modality."""
        return [probe_table(self.declared, result), ceiling_table(self.declared, result)]

    def _named(self, names: Sequence[str]) -> tuple[ProbeTaskSpec, ...]:
        suite = self.declared
        return tasks_named(suite.tasks, names, suite=f"{suite.slug} {suite.version}")


def _evaluate_unchecked(task: ProbeTask, vectors: FloatMatrix, *, cost: EmbeddingCost) -> ProbeTaskResult:
    result = evaluate_probe_task(task, vectors, cost=cost)
    return dataclasses.replace(result, warnings=(*result.warnings, UNCHECKED)) if task.whole_texts else result
