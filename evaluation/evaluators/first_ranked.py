"""Which candidate stands first for some queries of a task: examples for people to look at, never part of a score."""

from collections.abc import Sequence

import numpy as np

from evaluation.decoding.sampling import even_positions
from evaluation.evaluators.similarity import Positions, pair_similarities, product_error_bound
from evaluation.types import MAX_EXAMPLES, FirstRanked, FloatMatrix, RankOutcomes, RetrievalQuery, RetrievalTask

_BLOCK = 2048


def first_ranked(vectors: FloatMatrix, task: RetrievalTask, outcomes: RankOutcomes) -> tuple[FirstRanked, ...]:
    """The first candidate of at most `MAX_EXAMPLES` queries, spread evenly over the task.

    A relevant candidate that nothing stands above is named, even where others are level with it. Of several irrelevant
    ones that are level with each other, the one whose content key sorts first is.

    Args:
        vectors: float32 rows of unit length, one for each of `task.inputs`.
        task: the loaded task.
        outcomes: what `rank_outcomes` says of its queries.
    """
    chosen = even_positions(len(task.queries), MAX_EXAMPLES)
    return tuple(
        _of_query(vectors, task, task.queries[position], int(outcomes.above[position]), int(outcomes.tied[position]))
        for position in chosen
    )


def _of_query(vectors: FloatMatrix, task: RetrievalTask, query: RetrievalQuery, above: int, tied: int) -> FirstRanked:
    if not above:
        return FirstRanked(record=query.record, candidate_record=query.record, candidate_place=0, level_with=tied)
    others = query.relevant if query.excluded is None else query.relevant | {query.excluded}
    rivals = np.array([position for position in query.pool if position not in others], dtype=np.intp)
    level = _most_similar(vectors, query.query, rivals)
    record, place = task.places[min(level, key=lambda position: task.keys[position])]
    return FirstRanked(record=query.record, candidate_record=record, candidate_place=place, level_with=len(level) - 1)


def _most_similar(vectors: FloatMatrix, query: int, rivals: Positions) -> Sequence[int]:
    """All rivals that share the highest similarity with a query."""
    row = vectors[query]
    parts = [vectors[rivals[start : start + _BLOCK]] @ row for start in range(0, len(rivals), _BLOCK)]
    estimates = np.concatenate(parts).astype(np.float64)
    # Each estimate is within the bound of its exact value, so the best one's lies within twice the bound of the largest.
    near = rivals[estimates >= estimates.max() - 2 * product_error_bound(vectors.shape[1])]
    exact = np.concatenate(
        [
            pair_similarities(row[np.newaxis], vectors[near[start : start + _BLOCK]])
            for start in range(0, len(near), _BLOCK)
        ]
    )
    return [int(position) for position in near[exact == exact.max()]]
