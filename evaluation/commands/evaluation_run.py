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
from evaluation.commands.reporting import RunProgress
from evaluation.commands.suites_to_run import Outcome, SuiteToRun, VectorSource
from evaluation.environment import describe_environment
from evaluation.hashing import FileHashes
from evaluation.manifest import canonical_sha256
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import ModelIdentity, RunResult, description_to_json, write_result
from evaluation.statistics.bootstrap import SEED
from evaluation.types import EmbeddingStatistics, ModelDescription, TaskFailure, TaskResult


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything that one evaluation needs."""

    suite: SuiteToRun
    names: tuple[str, ...]
    model: ModelToRun
    source: VectorSource
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
    for table in evaluation.suite.tables(result):
        console.print(table)
    if result.embedding is not None:
        console.print(statistics_line(result.embedding), highlight=False)
    console.print(
        f"{len(result.tasks) + len(result.probe_tasks)} tasks scored, {len(result.failures)} failed; written to {out}",
        highlight=False,
    )
    return result


def _outcomes(evaluation: Evaluation, partial: PartialResults, console: Console) -> list[Outcome]:
    outcomes = []
    with RunProgress(console, len(evaluation.names)) as progress:
        for outcome in evaluation.suite.outcomes(
            evaluation.names,
            source=evaluation.source,
            hashes=FileHashes(),
            on_progress=progress.update,
            completed=partial.completed,
        ):
            if not isinstance(outcome, TaskFailure):
                partial.add(outcome)
            progress.finish(outcome, kept=partial.completed.get(outcome.task) is outcome)
            outcomes.append(outcome)
    return outcomes


def _identity(evaluation: Evaluation, environment: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": evaluation.model.fingerprint(),
        "encode_config_sha256": _encode_config_sha256(evaluation.source.description),
        "suite_sha256": evaluation.suite.identity.manifest_sha256,
        "environment": environment,
    }


def _encode_config_sha256(description: ModelDescription) -> str:
    return canonical_sha256(description_to_json(description)["encode_config"])


def _run_result(evaluation: Evaluation, environment: dict[str, Any], outcomes: Sequence[Outcome]) -> RunResult:
    model = evaluation.model
    tasks = tuple(outcome for outcome in outcomes if isinstance(outcome, TaskResult))
    probe_tasks = tuple(outcome for outcome in outcomes if isinstance(outcome, ProbeTaskResult))
    return RunResult(
        suite=evaluation.suite.identity,
        model=ModelIdentity(
            id=model.id,
            revision=model.revision,
            adapter_id=model.adapter_id,
            adapter_revision=model.adapter_revision,
            description=evaluation.source.description,
            encode_config_sha256=_encode_config_sha256(evaluation.source.description),
        ),
        environment=environment,
        embedding=evaluation.statistics(),
        seed=SEED,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        tasks=tasks,
        probe_tasks=probe_tasks,
        failures=tuple(outcome for outcome in outcomes if isinstance(outcome, TaskFailure)),
        aggregates=evaluation.suite.aggregates((*tasks, *probe_tasks)),
    )
