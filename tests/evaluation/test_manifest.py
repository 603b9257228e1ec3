"""The manifest format: round trip, and every broken field refused by name."""

import dataclasses
import json

import pytest

from evaluation.errors import SuiteInvalid
from evaluation.manifest import (
    read_manifest,
    spec_sha256,
    suite_from_json,
    suite_to_json,
    write_manifest,
)
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.types import TaskSpec
from evaluation.vocabulary import Domain, PoolScope
from tests.evaluation.suite_folders import suite_of, task_spec


def test_round_trip_of_the_whole_catalogue(tmp_path):
    path = write_manifest(tmp_path, medheb_suite())
    assert read_manifest(path) == medheb_suite()


def test_equal_suites_give_equal_bytes(tmp_path):
    first = write_manifest(tmp_path, suite_of(task_spec())).read_bytes()
    assert write_manifest(tmp_path, suite_of(task_spec())).read_bytes() == first


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(TaskSpec)])
def test_the_hash_of_a_task_covers_every_field(field):
    changes = {"domain": Domain.NEURO, "pool": PoolScope.GLOBAL, "datasets": ("other",), "images_may_be_shown": False}
    enums = {
        "family": "image_to_label",
        "evidence_form": "image_2d",
        "pairing_type": "image_text",
        "granularity": "region_level",
        "split": "held_out",
        "parser": "image_cls",
    }
    changed = dataclasses.replace(task_spec(), **{field: (changes | enums).get(field, "changed")})
    assert spec_sha256(changed) != spec_sha256(task_spec())


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("family", "image_to_sound", "family: 'image_to_sound' is none of image_to_label"),
        ("name", "", "name"),
        ("name", "../x", "name '../x'"),
        ("data_path", "/etc/passwd", "data_path"),
        ("data_path", "../outside.json", "data_path"),
        ("image_root", "a/../../b", "image_root"),
        ("datasets", "one", "datasets: list is expected, not str"),
        ("images_may_be_shown", 1, "images_may_be_shown: bool is expected, not int"),
        ("licence", None, "licence: str is expected"),
        ("colour", "red", "unknown key 'colour'"),
    ],
)
def test_a_broken_task_is_refused_by_number_and_field(field, value, said):
    manifest = suite_to_json(suite_of(task_spec("First"), task_spec("Second")))
    manifest["tasks"][1][field] = value
    with pytest.raises(SuiteInvalid, match=r"^here: task 1") as caught:
        suite_from_json(manifest, where="here")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 2}, "schema_version is 2"),
        ({"slug": "Not A Slug"}, "slug"),
        ({"synthetic": "no"}, "synthetic"),
        ({"tasks": {}}, "tasks: list is expected"),
        ({"extra": 1}, "unknown key 'extra'"),
    ],
)
def test_a_broken_suite_is_refused(change, said):
    with pytest.raises(SuiteInvalid, match=said):
        suite_from_json(suite_to_json(suite_of(task_spec())) | change, where="here")


def test_a_missing_key_is_named():
    manifest = suite_to_json(suite_of(task_spec()))
    del manifest["tasks"][0]["licence"]
    with pytest.raises(SuiteInvalid, match="missing key 'licence'"):
        suite_from_json(manifest, where="here")


def test_two_tasks_of_one_name_are_refused():
    with pytest.raises(SuiteInvalid, match="two tasks are called 'Twin'"):
        suite_from_json(suite_to_json(suite_of(task_spec("Twin"), task_spec("Twin"))), where="here")


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\xff\xfe", "not UTF-8"), (b"{", "not JSON"), (b'{"a": NaN}', "not JSON"), (b"[" * 200_000, "not JSON")],
)
def test_a_damaged_file_is_named(tmp_path, content, said):
    path = tmp_path / "suite.json"
    path.write_bytes(content)
    with pytest.raises(SuiteInvalid, match=said) as caught:
        read_manifest(path)
    assert str(path) in str(caught.value)


def test_values_survive_json(tmp_path):
    suite = suite_of(task_spec(notes="Grüße — 肝"))
    assert suite_from_json(json.loads(json.dumps(suite_to_json(suite))), where="here") == suite
