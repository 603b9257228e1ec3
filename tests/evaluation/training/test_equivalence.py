"""Which candidates are no negatives, on batches made by hand."""

from pathlib import Path

import torch

from evaluation.inputs import EmbeddingInput
from evaluation.training.equivalence import EquivalenceKeys, equivalence_keys, equivalent
from evaluation.training.records import TrainingRecord


def record(query: str, positive: str, source: str = "set", **more: object) -> TrainingRecord:
    return TrainingRecord(source, EmbeddingInput(text=query), EmbeddingInput(text=positive), **more)  # type: ignore[arg-type]


def masked(*records: TrainingRecord) -> list[list[int]]:
    return equivalent(equivalence_keys(records)).int().tolist()


def test_the_same_label_in_one_source_is_equivalent() -> None:
    found = masked(
        record("a", "1", labels=frozenset({"nodule"})),
        record("b", "2", labels=frozenset({"nodule"})),
        record("c", "3", labels=frozenset({"nodule"}), source="other"),
        record("d", "4"),
        record("e", "5"),
    )
    assert found == [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0] * 5, [0] * 5, [0] * 5]


def test_sets_of_labels_are_equivalent_where_they_are_the_same_set() -> None:
    found = masked(
        record("a", "1", labels=frozenset({"oedema", "effusion"})),
        record("b", "2", labels=frozenset({"effusion", "oedema"})),
        record("c", "3", labels=frozenset({"effusion"})),
    )
    assert found == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_the_same_text_is_equivalent_whatever_its_case_and_spaces() -> None:
    found = masked(record("a", "No acute  finding."), record("b", "no acute finding. "), record("c", "No finding."))
    assert found == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_the_same_study_is_equivalent_in_all_sources() -> None:
    found = masked(
        record("a", "1", study="s/1"), record("b", "2", study="s/1", source="other"), record("c", "3", study="s/2")
    )
    assert found == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_positives_of_the_same_query_are_equivalent_and_a_query_is_no_negative_of_itself() -> None:
    found = masked(record("a", "1"), record("A ", "2"), record("c", "a"))
    # The third record's positive is the first two's query.
    assert found == [[0, 1, 1], [1, 0, 1], [0, 0, 0]]


def test_images_are_compared_by_file_and_order() -> None:
    def shown(*names: str) -> TrainingRecord:
        images = tuple(map(Path, names))
        return TrainingRecord("set", EmbeddingInput(text=repr(names)), EmbeddingInput(text="x", images=images))

    found = masked(shown("a", "b"), shown("a", "b"), shown("b", "a"), shown("ab"))
    assert found == [[0, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]


def test_hard_negatives_are_masked_where_they_are_right_for_another() -> None:
    first = record("a", "left", negatives=(EmbeddingInput(text="right"),))
    second = record("b", "right", negatives=(EmbeddingInput(text="both"), EmbeddingInput(text="none")))
    # Candidates: left, right, then the negatives right, both, none.
    assert masked(first, second) == [[0, 0, 0, 0, 0], [0, 0, 1, 0, 0]]


def test_keys_survive_being_sent_as_rows() -> None:
    keys = equivalence_keys([record("a", "1", labels=frozenset({"x"})), record("b", "2", study="s")])
    back = EquivalenceKeys.from_rows(keys.rows, keys.negatives)
    assert torch.equal(back.rows, keys.rows)
    assert keys.label.tolist()[1] == keys.study.tolist()[0] == 0
