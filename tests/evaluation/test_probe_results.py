"""Results of probing tasks: round trip, the bytes that are kept, and every way a damaged one is refused."""

import base64
import dataclasses
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from evaluation.errors import ResultInvalid
from evaluation.probe_results import (
    packed_arrays,
    probe_result_from_json,
    probe_result_to_json,
    unpack_arrays,
)
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import any_result_from_json, any_result_to_json, read_result, run_result_to_json, write_result
from evaluation.types import MetricValue
from evaluation.vocabulary import ProbeTaskKind
from tests.evaluation.test_results import run_result, task_result

DS = np.array([[0.25, -0.5], [0.125, 1.0], [0.0, 0.1]], dtype=np.float32)


def probe_result(**changes):
    fields = {
        "task": "chest_radiograph.L4",
        "kind": ProbeTaskKind.CELL,
        "spec_sha256": "a" * 64,
        "data_sha256": "b" * 64,
        "metrics": (MetricValue("ds", -0.25, -0.5, 0.125), MetricValue("pass_rate_adjusted", -0.2)),
        "chance": None,
        "counts": {"anchors": 3},
        "arrays": {"ds": DS, "anchors": np.array([0, 2, 5], dtype=np.float32)},
        "n_inputs": 30,
        "seconds_embedding": 1.5,
        "seconds_scoring": 0.25,
        "peak_memory_bytes": 1000,
        "warnings": ("Something to know.",),
    }
    return ProbeTaskResult(**(fields | changes))


def equal(one, other):
    for field in dataclasses.fields(ProbeTaskResult):
        if field.name != "arrays":
            assert getattr(one, field.name) == getattr(other, field.name)
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        assert (other.arrays[name] == array).all()
        assert (other.arrays[name].shape, other.arrays[name].dtype) == (array.shape, np.float32)


def test_a_result_survives_its_json():
    document = json.loads(json.dumps(probe_result_to_json(probe_result())))
    equal(probe_result_from_json(document), probe_result())


def test_an_array_is_what_the_readme_says():
    packed = probe_result_to_json(probe_result())["arrays"]["ds"]
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), dtype="<f4")
    assert (numbers.reshape(packed["shape"]) == DS).all()


def test_a_run_of_a_probing_suite_survives_its_file(tmp_path):
    path = tmp_path / "result.json"
    write_result(path, run_result(tasks=(), aggregates=(), probe_tasks=(probe_result(),)))
    found = read_result(path)
    assert found.tasks == ()
    (task,) = found.probe_tasks
    equal(task, probe_result())


def test_a_run_has_tasks_of_one_kind_of_suite(tmp_path):
    with pytest.raises(ResultInvalid):
        write_result(tmp_path / "result.json", run_result(probe_tasks=(probe_result(),)))
    assert not (tmp_path / "result.json").exists()


def test_results_of_both_kinds_are_told_apart():
    equal(any_result_from_json(any_result_to_json(probe_result())), probe_result())
    assert any_result_from_json(any_result_to_json(task_result())).task == "Example"


def test_a_result_file_from_before_there_was_probing_is_read(tmp_path):
    document = run_result_to_json(run_result())
    del document["probe_tasks"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    assert read_result(tmp_path / "old.json").probe_tasks == ()


@given(
    array=arrays(np.float32, array_shapes(max_dims=4, max_side=4), elements=st.floats(-2, 2, width=32)),
    name=st.sampled_from(["ds", "margins"]),
)
def test_arrays_survive_as_bytes(array, name):
    found = unpack_arrays(packed_arrays(probe_result(arrays={name: array})), task="t")
    assert (found[name] == array).all()


def damaged(**changes):
    document = json.loads(json.dumps(probe_result_to_json(probe_result())))
    document.update(changes)
    return document


def packed(array, shape=None):
    data = base64.b64encode(zlib.compress(np.asarray(array, dtype="<f4").tobytes())).decode()
    return {"ds": {"shape": list(np.shape(array)) if shape is None else shape, "data": data}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "other"}, "kind"),
        ({"metrics": []}, "metrics"),
        ({"metrics": [{"name": "ds", "value": 2.5, "lower": None, "upper": None}]}, "2.5"),
        ({"metrics": [{"name": "ds", "value": 0.5, "lower": 0.6, "upper": 0.7}]}, "ds is not inside"),
        ({"metrics": [{"name": "ds", "value": 0.5, "lower": 0.4, "upper": None}]}, "ds is not inside"),
        ({"metrics": [{"name": "auroc", "value": -0.1, "lower": None, "upper": None}]}, "-0.1"),
        ({"metrics": [{"name": "ds", "value": float("nan"), "lower": None, "upper": None}]}, "nan"),
        ({"counts": {"anchors": -1}}, "-1"),
        ({"surplus": 1}, "surplus"),
        ({"arrays": packed(DS, [3, 3])}, "array ds does not hold the 9 numbers"),
        ({"arrays": packed(DS, [5])}, "array ds does not hold the 5 numbers"),
        ({"arrays": packed([np.nan])}, "array ds has a number that is not finite"),
        ({"arrays": packed(DS, [10_000_000, 10])}, "array ds has 100,000,000 numbers"),
        ({"arrays": {"ds": {"shape": [1], "data": "!"}}}, "array ds cannot be unpacked"),
        ({"arrays": {"ds": {"shape": [1], "data": "AAAA"}}}, "array ds cannot be unpacked"),
        ({"arrays": {"ds": {"shape": [], "data": ""}}}, "shape"),
    ],
)
def test_damage_is_refused_by_name(changes, message):
    with pytest.raises(ResultInvalid, match=message):
        probe_result_from_json(damaged(**changes))


@pytest.mark.parametrize("bytes_", [b"", b"\xff", b"[]", b'{"ds": 1}'])
def test_bytes_that_hold_no_arrays_are_refused(bytes_):
    with pytest.raises(ResultInvalid):
        unpack_arrays(bytes_, task="t")
