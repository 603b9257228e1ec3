"""The result file: round trip, schema, and every way a damaged one is refused."""

import base64
import dataclasses
import json
import zlib

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from evaluation.environment import code_version, describe_environment
from evaluation.errors import ResultInvalid
from evaluation.evaluators.retrieval import metrics_with_intervals
from evaluation.result_schema import SCHEMA_FILE
from evaluation.results import (
    ModelIdentity,
    RunResult,
    SuiteIdentity,
    read_result,
    run_result_to_json,
    task_result_from_json,
    task_result_to_json,
    write_result,
)
from evaluation.types import AggregateValue, ModelDescription, RankOutcomes, TaskFailure, TaskResult


def task_result(task="Example", **changes):
    above, tied, relevant, pool = (np.array(values, dtype=np.int32) for values in ([0, 2], [1, 0], [1, 1], [5, 5]))
    outcomes = RankOutcomes(above=above, tied=tied, relevant=relevant, pool=pool)
    fields = {
        "task": task,
        "spec_sha256": "a" * 64,
        "data_sha256": "b" * 64,
        "metrics": metrics_with_intervals(outcomes, stratum=task),
        "chance": 0.2,
        "hit_at_1_optimistic": 0.5,
        "hit_at_1_pessimistic": 0.0,
        "outcomes": outcomes,
        "records": np.array([0, 1], dtype=np.int32),
        "self_excluded": 0,
        "n_inputs": 7,
        "seconds_embedding": 1.25,
        "seconds_ranking": 0.5,
        "peak_memory_bytes": 1000,
    }
    return TaskResult(**(fields | changes))


def run_result(**changes):
    description = ModelDescription(
        family="chance", architecture="a", dimension=4, parameters=0, kinds=("text",), encode_config={"seed": 1}
    )
    fields = {
        "suite": SuiteIdentity(slug="s", version="1", title="S", synthetic=True, manifest_sha256="c" * 64),
        "model": ModelIdentity(
            id="owner/name",
            revision="",
            adapter_id="",
            adapter_revision="",
            description=description,
            encode_config_sha256="d" * 64,
        ),
        "environment": describe_environment("cpu"),
        "seed": 42,
        "created_at": "2026-01-02T03:04:05+00:00",
        "tasks": (task_result(),),
        "failures": (TaskFailure(task="Other", code="data_missing", kind="data", message="no file"),),
        "aggregates": (
            AggregateValue(
                scope="overall", key="overall", metric="cv", value=1.5, lower=None, upper=None, n_tasks=1, n_expected=2
            ),
        ),
    }
    return RunResult(**(fields | changes))


def test_the_schema_is_valid_itself():
    Draft202012Validator.check_schema(json.loads(SCHEMA_FILE.read_text()))


def test_a_written_file_is_read_back_whole(tmp_path):
    path = tmp_path / "result.json"
    write_result(path, run_result())
    read = read_result(path)
    assert run_result_to_json(read) == run_result_to_json(run_result())
    assert read.tasks[0].outcomes.above.tolist() == [0, 2]
    assert read.tasks[0].records.tolist() == [0, 1]
    assert read.model == run_result().model
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


def test_packed_outcomes_have_the_documented_layout():
    document = json.loads(json.dumps(task_result_to_json(task_result())))
    data = zlib.decompress(base64.b64decode(document["outcomes"]))
    numbers = np.frombuffer(data, dtype="<i4").reshape(5, document["n_queries"])
    assert numbers.tolist() == [[0, 1], [0, 2], [1, 0], [1, 1], [5, 5]]


def packed(rows):
    return base64.b64encode(zlib.compress(np.array(rows, dtype="<i4").tobytes())).decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"chance": 1.5}, r"\$\.chance"),
        ({"chance": float("nan")}, "nan"),
        ({"spec_sha256": "zz"}, r"\$\.spec_sha256"),
        ({"extra": 1}, "extra"),
        ({"n_queries": 0}, "n_queries"),
        ({"n_queries": 3}, "do not hold 5 arrays of 3 numbers"),
        ({"n_queries": 1}, "do not hold 5 arrays of 1 numbers"),
        ({"outcomes": "!"}, "cannot be unpacked"),
        ({"outcomes": base64.b64encode(b"no zlib").decode()}, "cannot be unpacked"),
        ({"outcomes": base64.b64encode(zlib.compress(bytes(10**8))).decode()}, "do not hold"),
        ({"outcomes": packed([[0, 1], [0, 2], [1, 0], [0, 1], [5, 5]])}, "contradict each other"),
        ({"outcomes": packed([[0, 1], [0, 5], [1, 0], [1, 1], [5, 5]])}, "contradict each other"),
        ({"outcomes": packed([[0, 1], [-1, 0], [1, 0], [1, 1], [5, 5]])}, "contradict each other"),
        ({"metrics": []}, "metrics"),
        ({"metrics": [{"name": "hit@1", "value": 0.5, "lower": 0.6, "upper": 0.7}]}, "its own interval"),
        ({"metrics": [{"name": "hit@1", "value": 0.5, "lower": None, "upper": 0.7}]}, "its own interval"),
        ({"metrics": [{"name": "hit@2", "value": 0.5, "lower": None, "upper": None}]}, "name"),
    ],
)
def test_a_damaged_task_result_is_refused(change, said):
    with pytest.raises(ResultInvalid, match=said):
        task_result_from_json(task_result_to_json(task_result()) | change)


def test_a_task_result_that_lacks_a_field_is_refused():
    document = task_result_to_json(task_result())
    del document["data_sha256"]
    with pytest.raises(ResultInvalid, match="data_sha256"):
        task_result_from_json(document)


@pytest.mark.parametrize(
    ("content", "said"), [(b"{", "not JSON"), (b"\xff", "not JSON"), (b"[]", "is not of type"), (b"{}", "required")]
)
def test_a_damaged_file_is_named(tmp_path, content, said):
    path = tmp_path / "result.json"
    path.write_bytes(content)
    with pytest.raises(ResultInvalid, match=said) as caught:
        read_result(path)
    assert str(path) in caught.value.message


def test_a_result_that_breaks_the_schema_is_not_written(tmp_path):
    broken = run_result(created_at="yesterday")
    with pytest.raises(ResultInvalid, match="created_at"):
        write_result(tmp_path / "result.json", broken)
    assert list(tmp_path.iterdir()) == []


def test_an_interval_is_kept_without_rounding(tmp_path):
    write_result(tmp_path / "result.json", run_result())
    assert dataclasses.asdict(read_result(tmp_path / "result.json").tasks[0].metrics[0]) == dataclasses.asdict(
        task_result().metrics[0]
    )


def test_the_environment_names_versions_and_code():
    environment = describe_environment("cpu")
    assert environment["packages"]["numpy"] == np.__version__
    assert environment["code_version"] == code_version()
    assert len(code_version()) == 12
