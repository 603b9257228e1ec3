"""Scores one retrieval task from its vectors."""

import time

import numpy as np

from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.first_ranked import first_ranked
from evaluation.evaluators.similarity import rank_outcomes
from evaluation.manifest import spec_sha256
from evaluation.metrics.ranking import chance_level, hit_at_1_bounds, metric_names, metric_values
from evaluation.statistics.bootstrap import bootstrap_means, percentile_interval
from evaluation.types import FloatMatrix, MetricValue, RankOutcomes, RetrievalTask, TaskResult


def evaluate_task(task: RetrievalTask, vectors: FloatMatrix, *, cost: EmbeddingCost) -> TaskResult:
    """Rank and score a task.

    Args:
        task: the loaded task.
        vectors: float32 rows of unit length, one for each of `task.inputs` in that order.
        cost: time and memory spent on the vectors, for the record.
    """
    if len(vectors) != len(task.inputs):
        raise ValueError(f"{len(vectors)} vectors were given for {len(task.inputs)} inputs of {task.spec.name}")
    started = time.perf_counter()
    outcomes = rank_outcomes(vectors, task.queries)
    optimistic, pessimistic = hit_at_1_bounds(outcomes)
    return TaskResult(
        task=task.spec.name,
        spec_sha256=spec_sha256(task.spec),
        data_sha256=task.data_sha256,
        metrics=metrics_with_intervals(outcomes, stratum=task.spec.name),
        chance=chance_level(outcomes),
        hit_at_1_optimistic=optimistic,
        hit_at_1_pessimistic=pessimistic,
        outcomes=outcomes,
        records=np.array([query.record for query in task.queries], dtype=np.int32),
        self_excluded=sum(query.excluded is not None for query in task.queries),
        n_inputs=len(task.inputs),
        seconds_embedding=cost.seconds,
        seconds_ranking=time.perf_counter() - started,
        peak_memory_bytes=cost.peak_memory_bytes,
        first_ranked=first_ranked(vectors, task, outcomes),
    )


def task_chance(task: RetrievalTask) -> float:
    """Hit@1 of a random order of the task's pools, known before any model is run."""
    pools = np.array([len(query.pool) - (query.excluded is not None) for query in task.queries])
    relevant = np.array([len(query.relevant) for query in task.queries])
    return float((relevant / pools).mean())


def metrics_with_intervals(outcomes: RankOutcomes, *, stratum: str) -> tuple[MetricValue, ...]:
    """The mean of every metric over queries with its bootstrap interval."""
    values = metric_values(outcomes)
    means = np.clip(values.mean(axis=1), 0, 1)
    lower, upper = np.clip(percentile_interval(bootstrap_means(values, stratum=stratum)), 0, 1)
    # Where all queries score the same, rounding could put the mean just outside of its own interval.
    lower, upper = np.minimum(lower, means), np.maximum(upper, means)
    return tuple(
        MetricValue(name=name, value=float(mean), lower=float(low), upper=float(high))
        for name, mean, low, high in zip(metric_names(), means, lower, upper, strict=True)
    )
