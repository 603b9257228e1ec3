"""Which candidate stands first: found by looking at all of them, named by where it stands, and checked when read."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.errors import ResultInvalid
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.first_ranked import first_ranked
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.evaluators.similarity import rank_outcomes
from evaluation.inputs import EmbeddingInput
from evaluation.results import task_result_from_json, task_result_to_json
from evaluation.suites.medheb.reader import load_task
from evaluation.types import FirstRanked, RetrievalQuery, RetrievalTask
from evaluation.vocabulary import PoolScope
from tests.evaluation.suite_folders import task_spec, text_record, write_records

COST = EmbeddingCost(seconds=0.0, peak_memory_bytes=0)


def unit(rows: object) -> np.ndarray:
    rows = np.asarray(rows, dtype=np.float64)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def task_of(n_queries: int, n_candidates: int) -> RetrievalTask:
    """Queries are inputs 0 .. n - 1, the right candidate of query i is the i-th; record i lists candidate i alone."""
    pool = tuple(range(n_queries, n_queries + n_candidates))
    n_inputs = n_queries + n_candidates
    return RetrievalTask(
        spec=task_spec(),
        inputs=tuple(EmbeddingInput(text=str(number)) for number in range(n_inputs)),
        keys=tuple(f"{number:04}" for number in range(n_inputs)),
        queries=tuple(
            RetrievalQuery(record=number, query=number, pool=pool, relevant=frozenset({n_queries + number}))
            for number in range(n_queries)
        ),
        places={n_queries + number: (number, 0) for number in range(n_candidates)},
        data_sha256="0" * 64,
    )


def found(task: RetrievalTask, vectors: np.ndarray) -> list[tuple[int, int, int]]:
    examples = first_ranked(vectors, task, rank_outcomes(vectors, task.queries))
    return [(one.record, one.candidate_record, one.level_with) for one in examples]


def test_the_nearest_candidate_is_named_by_hand() -> None:
    task = task_of(2, 3)
    vectors = unit([[1, 0], [0, 1], [1, 0.1], [1, 0.2], [0.2, 1]])
    assert found(task, vectors) == [(0, 0, 0), (1, 2, 0)]


def test_level_candidates_are_counted_and_the_right_one_is_named_where_nothing_is_above_it() -> None:
    task = task_of(2, 4)
    vectors = unit([[1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [0, 1]])
    # query 0: its own candidate and candidate 1 are level; query 1: candidates 2 and 3 are both nearer than its own
    assert found(task, vectors) == [(0, 0, 1), (1, 2, 1)]


def test_twenty_queries_are_spread_over_the_task() -> None:
    task = task_of(77, 77)
    vectors = np.tile(unit([[1, 0]]), (154, 1))
    records = [record for record, _, _ in found(task, vectors)]
    assert len(records) == 20
    assert (records[0], records[-1]) == (0, 76)
    assert max(np.diff(records)) - min(np.diff(records)) <= 1


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(6, 30), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_it_agrees_with_looking_at_every_similarity(n_queries, n_candidates, dimension, seed) -> None:
    generator = np.random.default_rng(seed)
    # few distinct values, so that many candidates are level
    vectors = unit(generator.integers(1, 3, size=(n_queries + n_candidates, dimension)))
    task = task_of(n_queries, n_candidates)
    wide = vectors.astype(np.float64)
    for record, candidate, level_with in found(task, vectors):
        scores = [np.float32(sum(wide[record] * wide[n_queries + other])) for other in range(n_candidates)]
        best = max(scores)
        if scores[record] == best:
            assert (candidate, level_with) == (record, scores.count(best) - 1)
        else:
            assert (candidate, level_with) == (scores.index(best), scores.count(best) - 1)


def test_a_candidate_is_named_by_where_it_first_stands(tmp_path: Path) -> None:
    spec = task_spec(pool=PoolScope.GLOBAL, image_root="")
    write_records(tmp_path, spec, [text_record("q0", ["a", "b"]), text_record("q1", ["c", "b", "d", "a"])])
    task = load_task(tmp_path, spec)
    texts = {source.text: number for number, source in enumerate(task.inputs)}
    assert {text: task.places[texts[text]] for text in "abcd"} == {"a": (0, 0), "b": (0, 1), "c": (1, 0), "d": (1, 2)}


def result_document() -> dict:
    vectors = unit([[1, 0], [0, 1], [1, 0.1], [1, 0.2], [0.2, 1]])
    return json.loads(json.dumps(task_result_to_json(evaluate_task(task_of(2, 3), vectors, cost=COST))))


def test_examples_go_through_a_result_file() -> None:
    document = result_document()
    assert document["first_ranked"][1] == {"record": 1, "candidate_record": 2, "candidate_place": 0, "level_with": 0}
    assert task_result_from_json(document).first_ranked == (FirstRanked(0, 0, 0, 0), FirstRanked(1, 2, 0, 0))
    del document["first_ranked"]
    assert task_result_from_json(document).first_ranked == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([(0, {"record": 7})], "record 7, which is no query"),
        ([(1, {"record": 0, "candidate_record": 0})], "names a record twice"),
        ([(0, {"candidate_record": 1})], "contradicts the ranks of record 0"),
        ([(1, {"candidate_record": 1})], "contradicts the ranks of record 1"),
        ([(1, {"level_with": 1})], "contradicts the ranks of record 1"),
        ([(0, {"level_with": 1})], "contradicts the ranks of record 0"),
        ([(0, {"candidate_place": -1})], "candidate_place"),
        ([(0, {"candidate_record": 2**31})], "candidate_record"),
        ([(0, {"extra": 1})], "extra"),
    ],
)
def test_examples_that_cannot_be_are_refused(changes, said) -> None:
    document = result_document()
    for number, change in changes:
        document["first_ranked"][number] |= change
    with pytest.raises(ResultInvalid, match=said):
        task_result_from_json(document)


def test_more_examples_than_twenty_are_refused() -> None:
    document = result_document()
    document["first_ranked"] = [document["first_ranked"][0] | {"record": number} for number in range(21)]
    with pytest.raises(ResultInvalid, match="first_ranked"):
        task_result_from_json(document)
