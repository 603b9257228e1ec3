"""Evaluating many tasks: shared inputs, failures, and results of an earlier attempt."""

import hashlib

import numpy as np

from evaluation.embedding.store import EmbeddingStore
from evaluation.errors import InputUnreadable
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.evaluators.session import evaluate_tasks
from evaluation.hashing import FileHashes, content_key
from evaluation.suites.medheb.reader import load_task
from evaluation.types import TaskFailure, TaskResult
from tests.evaluation.suite_folders import suite_of, write_records, write_text_suite


def vector(text):
    numbers = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])).standard_normal(16)
    return (numbers / np.linalg.norm(numbers)).astype(np.float32)


def ignore(*event):
    pass


class Encoder:
    """Embeds a text as a random direction and remembers what it was asked for."""

    def __init__(self, broken_text=None, error=None):
        self.keys = []
        self.broken_text = broken_text
        self.error = error

    packing = "all at once"

    def pieces(self, inputs, *, wanted):
        if any(source.text == self.broken_text for source in inputs):
            raise self.error
        self.keys.extend(content_key(source, FileHashes()) for source in inputs)
        yield list(range(len(inputs))), np.stack([vector(source.text) for source in inputs])


def evaluate(folder, suite, encoder, **options):
    return list(
        evaluate_tasks(
            suite.tasks,
            load=lambda spec: load_task(folder, spec),
            evaluate=evaluate_task,
            store=EmbeddingStore(encoder),
            on_progress=options.pop("on_progress", ignore),
            **options,
        )
    )


def test_inputs_that_tasks_share_as_a_whole_are_embedded_once_in_a_run(tmp_path):
    suite = write_text_suite(tmp_path, tasks=3)
    encoder = Encoder()
    results = evaluate(tmp_path, suite, encoder)
    assert [result.task for result in results] == ["Task0", "Task1", "Task2"]
    # six queries are the same in every task; six candidates are, too, but each task has one of its own among them
    assert len(set(encoder.keys)) == 6 + 6 + 3
    assert len(encoder.keys) == 6 + 3 * 7
    assert len(encoder.keys) < sum(result.n_inputs for result in results)


def test_a_task_alone_has_the_results_that_it_has_among_others(tmp_path):
    suite = write_text_suite(tmp_path, tasks=3)
    alone = [evaluate(tmp_path, suite_of(spec), Encoder())[0] for spec in suite.tasks]
    together = evaluate(tmp_path, suite, Encoder())
    assert [result.outcomes.above.tolist() for result in together] == [r.outcomes.above.tolist() for r in alone]


def test_a_model_error_fails_its_task_alone(tmp_path):
    suite = write_text_suite(tmp_path, tasks=3)
    encoder = Encoder("task 1 distractor", InputUnreadable("the text is gone"))
    first, second, third = evaluate(tmp_path, suite, encoder)
    assert isinstance(first, TaskResult)
    assert second == TaskFailure(task="Task1", code="input_unreadable", kind="data", message="the text is gone")
    assert isinstance(third, TaskResult)


def test_a_broken_record_fails_its_task_alone(tmp_path):
    suite = write_text_suite(tmp_path, tasks=2)
    write_records(tmp_path, suite.tasks[0], [{"qry_inst": "", "qry_text": "no candidates"}])
    failure, result = evaluate(tmp_path, suite, Encoder())
    assert (failure.code, failure.kind) == ("record_invalid", "data")
    assert "record 0" in failure.message
    assert result.task == "Task1"


def test_an_unexpected_error_fails_its_task_alone_and_is_logged(tmp_path, caplog):
    suite = write_text_suite(tmp_path, tasks=2)
    failure, result = evaluate(tmp_path, suite, Encoder("task 0 distractor", ZeroDivisionError("4 GiB")))
    assert (failure.code, failure.kind) == ("unexpected_failure", "infrastructure")
    assert failure.message == "ZeroDivisionError: 4 GiB"
    assert "Traceback" in caplog.text
    assert result.task == "Task1"


def test_progress_ends_with_everything_embedded_and_ranked(tmp_path):
    suite = write_text_suite(tmp_path, tasks=2)
    events = []
    evaluate(
        tmp_path,
        suite,
        Encoder(),
        on_progress=lambda spec, stage, done, total: events.append((spec.name, stage, done, total)),
    )
    for name in ("Task0", "Task1"):
        embedding = [event for event in events if event[:2] == (name, "embedding")]
        assert embedding[0][2] == 0
        assert embedding[-1][2] == embedding[-1][3]
        assert (name, "ranking", 6, 6) in events


def test_an_earlier_result_is_used_again_only_for_the_same_data(tmp_path):
    suite = write_text_suite(tmp_path, tasks=2)
    earlier = {result.task: result for result in evaluate(tmp_path, suite, Encoder())}
    encoder = Encoder()
    assert evaluate(tmp_path, suite, encoder, completed=earlier) == list(earlier.values())
    assert encoder.keys == []
    records = [{"qry_inst": "", "qry_text": "new", "tgt_text": ["a", "b"]}]
    write_records(tmp_path, suite.tasks[0], records)
    first, second = evaluate(tmp_path, suite, encoder, completed=earlier)
    assert first is not earlier["Task0"]
    assert len(encoder.keys) == 3
    assert second is earlier["Task1"]


def test_a_lack_of_memory_fails_its_task_as_what_a_larger_device_can_do(tmp_path):
    suite = write_text_suite(tmp_path, tasks=2)
    failure, _ = evaluate(tmp_path, suite, Encoder("task 0 distractor", MemoryError("4 GiB")))
    assert (failure.code, failure.kind) == ("out_of_memory", "limit")
