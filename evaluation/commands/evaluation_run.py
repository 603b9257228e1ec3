"""Evaluating a model on a suite and writing the result file: what `run` and `score` share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from evaluation.commands.encoding import statistics_line
from evaluation.commands.models_to_run import ModelToRun
from evaluation.commands.partial_results import PartialResults
from evaluation.commands.reporting import RunProgress, aggregate_table, task_table
from evaluation.embedding.store import EmbeddingStore
from evaluation.environment import describe_environment
from evaluation.errors import DataMissing
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.evaluators.session import evaluate_tasks
from evaluation.hashing import FileHashes
from evaluation.manifest import canonical_sha256, suite_sha256
from evaluation.results import ModelIdentity, RunResult, SuiteIdentity, description_to_json, write_result
from evaluation.statistics.bootstrap import SEED
from evaluation.suites.medheb.aggregation import aggregate
from evaluation.suites.medheb.lock import read_lock
from evaluation.suites.medheb.reader import load_task, task_is_installed
from evaluation.suites.medheb.readiness import Readiness, explain, survey_suite
from evaluation.types import EmbeddingStatistics, ModelDescription, SuiteSpec, TaskFailure, TaskResult, TaskSpec


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything that one evaluation needs."""

    suite: SuiteSpec
    folder: Path
    specs: tuple[TaskSpec, ...]
    model: ModelToRun
    description: ModelDescription
    store: EmbeddingStore
    statistics: Callable[[], EmbeddingStatistics | None]
    device: str
    threads: int


def evaluate_to_file(evaluation: Evaluation, out: Path, console: Console) -> RunResult:
    """Evaluate, resume what an interrupted attempt left beside `out`, write `out`, and print tables.

    Raises:
        EvaluationError: the partial file is damaged or the result cannot be written.
    """
    environment = describe_environment(evaluation.device, threads=evaluation.threads)
    with PartialResults(out, _identity(evaluation, environment)) as partial:
        outcomes = _outcomes(evaluation, partial, console)
        result = _run_result(evaluation, environment, outcomes)
        write_result(out, result)
        partial.remove()
    console.print(task_table(evaluation.suite, result))
    console.print(aggregate_table(result))
    if result.embedding is not None:
        console.print(statistics_line(result.embedding), highlight=False)
    console.print(f"{len(result.tasks)} tasks scored, {len(result.failures)} failed; written to {out}", highlight=False)
    return result


def installed_tasks(
    folder: Path, suite: SuiteSpec, specs: Sequence[TaskSpec], console: Console
) -> tuple[TaskSpec, ...]:
    """The tasks whose data are there; the others are named on the console, with the reason where one is known.

    Where the suite has a lock file, only what it knows to be ready is there; where it has none, every task with a file
    and images.

    Raises:
        DataMissing: there is none.
        SuiteInvalid: the lock file is damaged.
    """
    known = read_lock(folder, suite=suite.slug).tasks
    locked = [spec for spec in specs if spec.name in known]
    unready = {
        readiness.task: readiness
        for readiness in survey_suite(folder, locked, known=known)
        if readiness.state is not Readiness.READY
    }
    installed = tuple(spec for spec in specs if spec.name not in unready and task_is_installed(folder, spec))
    for spec in specs:
        if spec.name in unready:
            reason = explain(spec, unready[spec.name])
            console.print(f"{spec.name} is left out: {reason}", markup=False, highlight=False, soft_wrap=True)
    awaiting = [spec.name for spec in specs if spec not in installed and spec.name not in unready]
    if awaiting:
        console.print(f"awaiting data, left out: {', '.join(awaiting)}", markup=False, highlight=False)
    if installed and len(installed) < len(specs):
        console.print(f"{len(installed)} of {len(specs)} tasks are evaluated", markup=False, highlight=False)
    if not installed:
        raise DataMissing(
            f"None of the tasks has its data under {folder}. Install them, or choose others with --tasks."
        )
    return installed


def _outcomes(evaluation: Evaluation, partial: PartialResults, console: Console) -> list[TaskResult | TaskFailure]:
    hashes = FileHashes()
    outcomes = []
    with RunProgress(console, len(evaluation.specs)) as progress:
        for outcome in evaluate_tasks(
            evaluation.specs,
            load=lambda spec: load_task(evaluation.folder, spec, hashes=hashes),
            evaluate=evaluate_task,
            store=evaluation.store,
            on_progress=progress.update,
            completed=partial.completed,
        ):
            if isinstance(outcome, TaskResult):
                partial.add(outcome)
            progress.finish(outcome, kept=partial.completed.get(outcome.task) is outcome)
            outcomes.append(outcome)
    return outcomes


def _identity(evaluation: Evaluation, environment: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": evaluation.model.fingerprint(),
        "encode_config_sha256": _encode_config_sha256(evaluation.description),
        "suite_sha256": suite_sha256(evaluation.suite),
        "environment": environment,
    }


def _encode_config_sha256(description: ModelDescription) -> str:
    return canonical_sha256(description_to_json(description)["encode_config"])


def _run_result(
    evaluation: Evaluation, environment: dict[str, Any], outcomes: Sequence[TaskResult | TaskFailure]
) -> RunResult:
    suite, model = evaluation.suite, evaluation.model
    tasks = tuple(outcome for outcome in outcomes if isinstance(outcome, TaskResult))
    return RunResult(
        suite=SuiteIdentity(
            slug=suite.slug,
            version=suite.version,
            title=suite.title,
            synthetic=suite.synthetic,
            manifest_sha256=suite_sha256(suite),
        ),
        model=ModelIdentity(
            id=model.id,
            revision=model.revision,
            adapter_id=model.adapter_id,
            adapter_revision=evaluation.model.adapter_revision,
            description=evaluation.description,
            encode_config_sha256=_encode_config_sha256(evaluation.description),
        ),
        environment=environment,
        embedding=evaluation.statistics(),
        seed=SEED,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        tasks=tasks,
        failures=tuple(outcome for outcome in outcomes if isinstance(outcome, TaskFailure)),
        aggregates=aggregate(suite, {task.task: task.outcomes for task in tasks}),
    )
