"""Between the child's messages and the leaderboard's services."""

import base64
from dataclasses import asdict
from typing import Any

from evaluation.results import task_result_from_json, unpack_outcomes
from evaluation.suites.medheb.aggregation import OVERALL, aggregate
from evaluation.suites.medheb.reader import read_suite
from leaderboard.models import Run
from leaderboard.models.vocabulary import SuiteKind, TaskRunState
from leaderboard.selectors.published import MAIN_METRIC
from leaderboard.services.results import Aggregate, ScoreValue, TaskOutcome
from workers.probe_ingest import probe_outcome
from workers.suite_folders import suite_folder


def outcome_from_message(message: dict[str, Any], *, kind: str) -> tuple[str, TaskOutcome]:
    """The task's name and what to store of it; `kind` is that of the suite.

    Raises:
        ResultInvalid: the message breaks the result schema of the suite's kind.
    """
    document = message.get("result")
    if kind == SuiteKind.PROBING:
        return probe_outcome(document)
    result = task_result_from_json(document)
    outcome = TaskOutcome(
        scores=tuple(ScoreValue(metric.name, metric.value, metric.lower, metric.upper) for metric in result.metrics),
        main_metric=MAIN_METRIC,
        chance=result.chance,
        n_queries=len(result.outcomes),
        hit_at_1_optimistic=result.hit_at_1_optimistic,
        hit_at_1_pessimistic=result.hit_at_1_pessimistic,
        self_excluded=result.self_excluded,
        n_inputs=result.n_inputs,
        seconds_embedding=result.seconds_embedding,
        seconds_ranking=result.seconds_ranking,
        peak_memory_bytes=result.peak_memory_bytes,
        data_sha256=result.data_sha256,
        outcomes=base64.b64decode(document["outcomes"]),
        counts={"smallest_pool": int(result.outcomes.pool.min()), "largest_pool": int(result.outcomes.pool.max())},
        first_ranked=[asdict(found) for found in result.first_ranked],
    )
    return result.task, outcome


def aggregates_of_run(run: Run) -> list[Aggregate]:
    """The means of a run, from the stored per-query ranks of its tasks; a probing run has none.

    What a probing suite says over several tasks stands in its statistics alone.
    """
    if run.suite.kind == SuiteKind.PROBING:
        return []
    suite = read_suite(suite_folder(run.suite))
    outcomes = {
        task_run.task.name: unpack_outcomes(bytes(task_run.outcomes), task_run.n_queries, task=task_run.task.name)[1]
        for task_run in run.task_runs.filter(state=TaskRunState.SUCCEEDED).select_related("task")
    }
    return [
        Aggregate(
            scope=value.scope,
            key="" if value.scope == OVERALL else value.key,
            metric=value.metric,
            value=value.value,
            lower=value.lower,
            upper=value.upper,
            n_tasks=value.n_tasks,
            n_expected=value.n_expected,
        )
        for value in aggregate(suite, outcomes)
    ]
