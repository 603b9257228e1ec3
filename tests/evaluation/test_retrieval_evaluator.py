"""Ranks and scores against brute force, and the promises about ties: order, scale and blocks never matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.embedding.encode import normalise_rows
from evaluation.evaluators import similarity
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.evaluators.similarity import pair_similarities, product_error_bound, rank_outcomes
from evaluation.inputs import EmbeddingInput
from evaluation.types import RetrievalQuery, RetrievalTask
from tests.evaluation.suite_folders import task_spec


def unit_rows(generator, n, dimension):
    rows = generator.standard_normal((n, dimension), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def shared_pool_queries(n_queries, n_candidates, generator):
    pool = tuple(range(n_queries, n_queries + n_candidates))
    relevant = generator.integers(n_queries, n_queries + n_candidates, size=n_queries)
    return tuple(
        RetrievalQuery(record=number, query=number, pool=pool, relevant=frozenset({int(relevant[number])}))
        for number in range(n_queries)
    )


def own_pools(queries):
    """The same queries, each with a pool object of its own."""
    return tuple(
        RetrievalQuery(
            record=query.record,
            query=query.query,
            pool=tuple(candidate for candidate in query.pool),
            relevant=query.relevant,
            excluded=query.excluded,
        )
        for query in queries
    )


def brute_force(vectors, queries):
    """Above and tied counts from similarities in exact rational order: float64 dot products of float32 rows."""
    rows = []
    for query in queries:
        wide = vectors.astype(np.float64)
        scores = {
            candidate: np.float32(sum(wide[query.query] * wide[candidate]))
            for candidate in query.pool
            if candidate != query.excluded
        }
        threshold = scores[min(query.relevant)]
        rivals = [score for candidate, score in scores.items() if candidate not in query.relevant]
        rows.append((sum(score > threshold for score in rivals), sum(score == threshold for score in rivals)))
    return rows


def counts(outcomes):
    return list(zip(outcomes.above.tolist(), outcomes.tied.tolist(), strict=True))


def task_of(queries, n_inputs):
    return RetrievalTask(
        spec=task_spec(),
        inputs=tuple(EmbeddingInput(text=str(number)) for number in range(n_inputs)),
        keys=tuple(str(number) for number in range(n_inputs)),
        queries=queries,
        places={number: (0, number) for number in range(n_inputs)},
        data_sha256="0" * 64,
    )


def test_ranks_by_hand():
    vectors = np.array([[1, 0], [0.6, 0.8], [0.8, 0.6], [0.6, -0.8], [0, 1]], dtype=np.float32)
    pool = (1, 2, 3, 4)
    query = RetrievalQuery(record=0, query=0, pool=pool, relevant=frozenset({1}))
    outcomes = rank_outcomes(vectors, [query])
    assert counts(outcomes) == [(1, 1)]
    assert outcomes.pool.tolist() == [4]
    assert outcomes.relevant.tolist() == [1]


def test_the_querys_own_copy_is_not_counted():
    vectors = np.array([[1, 0], [0.6, 0.8], [1, 0]], dtype=np.float32)
    query = RetrievalQuery(record=0, query=0, pool=(1, 2), relevant=frozenset({1}), excluded=2)
    for queries in ([query], [query, query]):
        outcomes = rank_outcomes(vectors, queries)
        assert counts(outcomes)[0] == (0, 0)
        assert outcomes.pool[0] == 1


@pytest.mark.parametrize(("n_queries", "n_candidates", "dimension"), [(3, 40, 5), (17, 300, 33), (2, 5, 1)])
def test_shared_and_own_pools_agree_with_brute_force(n_queries, n_candidates, dimension):
    generator = np.random.default_rng(dimension)
    vectors = unit_rows(generator, n_queries + n_candidates, dimension)
    queries = shared_pool_queries(n_queries, n_candidates, generator)
    expected = brute_force(vectors, queries)
    assert counts(rank_outcomes(vectors, queries)) == expected
    assert counts(rank_outcomes(vectors, own_pools(queries))) == expected


def test_blocks_of_any_size_give_the_same_ranks(monkeypatch):
    generator = np.random.default_rng(3)
    vectors = unit_rows(generator, 70, 24)
    vectors[40:60] = vectors[40] + generator.standard_normal((20, 24), dtype=np.float32) * 1e-7
    queries = shared_pool_queries(20, 50, generator)
    expected = counts(rank_outcomes(vectors, queries))
    for query_block, candidate_block, pairs in ((1, 1, 1), (3, 7, 50), (20, 13, 1000)):
        monkeypatch.setattr(similarity, "_QUERY_BLOCK", query_block)
        monkeypatch.setattr(similarity, "_CANDIDATE_BLOCK", candidate_block)
        monkeypatch.setattr(similarity, "_MAX_WAITING_PAIRS", pairs)
        assert counts(rank_outcomes(vectors, queries)) == expected


@pytest.mark.parametrize("n_candidates", [2, 3, 50, 2500])
@pytest.mark.parametrize("dimension", [1, 7, 64, 100])
def test_a_constant_embedder_ties_everything_and_scores_chance_exactly(n_candidates, dimension):
    generator = np.random.default_rng(1)
    constant = unit_rows(generator, 1, dimension)
    n_queries = 5
    vectors = np.repeat(constant, n_queries + n_candidates, axis=0)
    queries = shared_pool_queries(n_queries, n_candidates, generator)
    for variant in (queries, own_pools(queries)):
        assert counts(rank_outcomes(vectors, variant)) == [(0, n_candidates - 1)] * n_queries
        result = evaluate_task(task_of(variant, len(vectors)), vectors, cost=EmbeddingCost())
        assert result.metrics[0].value == result.chance
        assert result.chance == pytest.approx(1 / n_candidates)
        assert (result.hit_at_1_optimistic, result.hit_at_1_pessimistic) == (1, 0)


def test_equal_vectors_tie_wherever_they_stand():
    """Copies of the relevant vector at every column of a block, where matrix products take different paths."""
    generator = np.random.default_rng(5)
    for dimension in (3, 128, 513):
        vectors = unit_rows(generator, 300, dimension)
        vectors[4:204] = vectors[4]
        pool = tuple(range(4, 300))
        queries = [RetrievalQuery(record=n, query=n, pool=pool, relevant=frozenset({50 * n + 4})) for n in range(4)]
        assert rank_outcomes(vectors, queries).tied.tolist() == [199] * 4


def test_a_pair_has_one_similarity_in_any_company():
    generator = np.random.default_rng(6)
    for dimension in (1, 8, 9, 127, 1024):
        vectors = unit_rows(generator, 40, dimension)
        together = pair_similarities(vectors[:1], vectors)
        alone = [pair_similarities(vectors[:1], vectors[number : number + 1])[0] for number in range(40)]
        shifted = pair_similarities(vectors[:1], np.concatenate([vectors[-3:], vectors]))[3:]
        assert np.array_equal(together, alone)
        assert np.array_equal(together, shifted)


@pytest.mark.parametrize("dimension", [4, 384, 4096])
def test_the_matrix_product_stays_within_the_stated_bound(dimension):
    generator = np.random.default_rng(8)
    left, right = unit_rows(generator, 32, dimension), unit_rows(generator, 64, dimension)
    exact = left.astype(np.float64) @ right.T.astype(np.float64)
    assert np.abs(left @ right.T - exact).max() < product_error_bound(dimension)


POOLS = st.tuples(st.integers(2, 12), st.integers(2, 30), st.integers(1, 6), st.integers(0, 2**32 - 1))


@settings(max_examples=60)
@given(POOLS)
def test_the_order_of_candidates_does_not_matter(case):
    n_queries, n_candidates, dimension, seed = case
    generator = np.random.default_rng(seed)
    # Few distinct directions give many exact ties.
    vectors = unit_rows(generator, 4, dimension)[generator.integers(0, 4, size=n_queries + n_candidates)]
    queries = shared_pool_queries(n_queries, n_candidates, generator)
    shuffled = tuple(generator.permutation(queries[0].pool).tolist())
    reordered = [RetrievalQuery(record=q.record, query=q.query, pool=shuffled, relevant=q.relevant) for q in queries]
    assert counts(rank_outcomes(vectors, queries)) == counts(rank_outcomes(vectors, reordered))
    assert counts(rank_outcomes(vectors, queries)) == counts(rank_outcomes(vectors, own_pools(reordered)))


@settings(max_examples=40)
@given(POOLS, st.floats(1e-3, 1e3))
def test_the_length_of_vectors_does_not_matter(case, scale):
    n_queries, n_candidates, dimension, seed = case
    generator = np.random.default_rng(seed)
    raw = generator.integers(-3, 4, size=(n_queries + n_candidates, dimension)).astype(np.float32)
    raw[:, 0] += 8
    queries = shared_pool_queries(n_queries, n_candidates, generator)
    sources = [EmbeddingInput(text="x")] * len(raw)
    expected = rank_outcomes(normalise_rows(raw, sources), queries)
    for factor in (2.0 ** round(np.log2(scale)), 8.0):
        assert counts(rank_outcomes(normalise_rows(raw * np.float32(factor), sources), queries)) == counts(expected)


def test_a_result_keeps_what_is_needed_to_score_it_again():
    generator = np.random.default_rng(11)
    vectors = unit_rows(generator, 12, 8)
    queries = shared_pool_queries(4, 8, generator)
    result = evaluate_task(task_of(queries, 12), vectors, cost=EmbeddingCost(seconds=1.5, peak_memory_bytes=7))
    assert result.records.tolist() == [0, 1, 2, 3]
    assert len(result.outcomes) == 4
    assert result.n_inputs == 12
    assert (result.seconds_embedding, result.peak_memory_bytes) == (1.5, 7)
    assert len(result.metrics) == 21
    for metric in result.metrics:
        assert 0 <= metric.lower <= metric.value <= metric.upper <= 1


def test_vectors_that_do_not_fit_the_task_are_refused():
    generator = np.random.default_rng(12)
    queries = shared_pool_queries(2, 3, generator)
    with pytest.raises(ValueError, match="4 vectors were given for 5 inputs"):
        evaluate_task(task_of(queries, 5), unit_rows(generator, 4, 2), cost=EmbeddingCost())
