"""What `suites status` finds: every broken record of every task, whatever is wrong with it."""

import json
import os
import shutil
import struct
import zlib
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.errors import EvaluationError, SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.inputs import MAX_IMAGE_PIXELS
from evaluation.manifest import write_manifest
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.lock import LOCK_NAME, SuiteLock, read_lock, write_lock
from evaluation.suites.medheb.reader import load_task
from evaluation.suites.medheb.readiness import (
    ImageChecks,
    Readiness,
    explain,
    inspect_task,
    public_reason,
    recall,
    survey_suite,
)
from evaluation.suites.medheb.records import MAX_TEXT_CHARACTERS
from evaluation.vocabulary import Parser
from tests.evaluation.suite_folders import suite_of, task_spec, text_record, write_image, write_records

GOOD = {
    Parser.TEXT_QA: {"qry_inst": "Do.", "qry_text": "t", "tgt_text": ["x", "y"]},
    Parser.IMAGE_QA: {"qry_inst": "Do.", "qry_text": "t", "qry_img_path": "a.png", "tgt_text": ["x", "y"]},
    Parser.IMAGE_I2I: {
        "qry_inst": "",
        "qry_text": "",
        "qry_img_path": "a.png",
        "tgt_text": ["", ""],
        "tgt_img_path": ["b.png", "c.png"],
    },
    Parser.VOLUME_I2I: {
        "qry_inst": "",
        "qry_text": "",
        "qry_img_path": ["a.png", "b.png"],
        "qry_modality": "video",
        "tgt_text": ["", ""],
        "tgt_img_path": [["b.png"], ["c.png"]],
        "tgt_modality": "video",
    },
}
NESTED = [[["a.png"]], [["b.png"]]]
WRONG_TYPES = (None, 5, 1.5, True, {"a": 1}, NESTED)
HUGE = "x" * (MAX_TEXT_CHARACTERS + 1)


@pytest.fixture
def folder(tmp_path):
    for seed, name in enumerate(("a.png", "b.png", "c.png")):
        write_image(tmp_path / "images" / name, seed)
    return tmp_path


def inspect(folder, parser, records):
    spec = task_spec(parser=parser)
    write_records(folder, spec, records)
    return inspect_task(folder, spec, hashes=FileHashes(), images=ImageChecks())


def faults_of_fields():
    """(parser, record, field): a good record with one fault in one field."""
    yield from faults_of_every_field()
    yield from faults_between_fields()


def faults_of_every_field():
    for parser, good in GOOD.items():
        for field, value in good.items():
            optional = field in ("qry_modality", "tgt_modality")
            captions = field == "tgt_text" and parser in (Parser.IMAGE_I2I, Parser.VOLUME_I2I)
            wrong = list(WRONG_TYPES)
            if optional or captions:
                wrong.remove(None)
            if captions:
                wrong.remove(NESTED)
                wrong.append([[["a"]], ""])
            for fault in wrong:
                yield parser, good | {field: fault}, field
            if not optional and not captions:
                yield parser, {key: other for key, other in good.items() if key != field}, field
            yield parser, good | {field: [HUGE] * 2 if isinstance(value, list) else HUGE}, field
            yield parser, good | {field: ["\ud800"] * 2 if isinstance(value, list) else "\ud800"}, field


def faults_between_fields():
    for field in ("tgt_text", "tgt_img_path"):
        for parser, good in GOOD.items():
            if field in good and (field == "tgt_img_path" or parser in (Parser.TEXT_QA, Parser.IMAGE_QA)):
                yield parser, good | {field: []}, field
    yield Parser.VOLUME_I2I, GOOD[Parser.VOLUME_I2I] | {"tgt_text": ["", "", ""]}, "tgt_text"
    yield Parser.IMAGE_I2I, GOOD[Parser.IMAGE_I2I] | {"tgt_text": ["", "", ""]}, "tgt_text"
    yield Parser.TEXT_QA, GOOD[Parser.TEXT_QA] | {"tgt_text": ["", "y"]}, r"tgt_text[0]"
    yield Parser.IMAGE_I2I, GOOD[Parser.IMAGE_I2I] | {"tgt_img_path": ["", "c.png"]}, "tgt_img_path[0]"
    yield Parser.IMAGE_I2I, GOOD[Parser.IMAGE_I2I] | {"tgt_img_path": [None, "c.png"]}, "tgt_img_path[0]"
    yield Parser.TEXT_QA, GOOD[Parser.TEXT_QA] | {"tgt_text": ["x", "x"]}, "nothing to rank"
    yield Parser.IMAGE_I2I, GOOD[Parser.IMAGE_I2I] | {"tgt_img_path": ["b.png", "b.png"]}, "nothing to rank"
    for path in ("/etc/hostname", "../images/a.png", "x/../../images/a.png", "a\0.png", "a" * 300, "b/" * 3000):
        yield Parser.IMAGE_QA, GOOD[Parser.IMAGE_QA] | {"qry_img_path": path}, "qry_img_path"


@pytest.mark.parametrize("parser", GOOD)
def test_every_fault_of_every_field_is_found_with_its_record_number(folder, parser):
    faults = [(record, field) for kind, record, field in faults_of_fields() if kind is parser]
    assert len(faults) > 15
    records = [record for fault, _ in faults for record in (fault, GOOD[parser])]
    readiness = inspect(folder, parser, [GOOD[parser], *records])
    assert readiness.state is Readiness.BROKEN
    assert readiness.n_problems == len(faults)
    for number, (record, field) in enumerate(faults):
        (problem,) = inspect(folder, parser, [GOOD[parser], record]).problems
        assert problem.record == 1
        assert problem.message.startswith("Text_Task/Example.json: record 1: "), (number, problem.message)
        assert field in problem.message
        assert len(problem.message) < 700
    assert inspect(folder, parser, [GOOD[parser]]).state is Readiness.READY


def png_of(width, height):
    """A whole PNG that says how large it is and holds almost nothing."""

    def chunk(kind, body):
        return struct.pack(">L", len(body)) + kind + body + struct.pack(">L", zlib.crc32(kind + body))

    header = struct.pack(">LLBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def truncated(path):
    path.write_bytes(path.read_bytes()[:-30])


FILE_FAULTS = {
    "truncated": (truncated, "input_unreadable"),
    "empty": (lambda path: path.write_bytes(b""), "input_unreadable"),
    "a text": (lambda path: path.write_text("no image"), "input_unreadable"),
    "a decompression bomb": (lambda path: path.write_bytes(png_of(9000, 9000)), "input_too_large"),
    "a greater bomb": (lambda path: path.write_bytes(png_of(60000, 60000)), "input_too_large"),
    "a link out": (lambda path: (path.unlink(), path.symlink_to("/etc/hostname")), "record_invalid"),
    "a link to itself": (lambda path: (path.unlink(), path.symlink_to(path)), "record_invalid"),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "record_invalid"),
    "a folder": (lambda path: (path.unlink(), path.mkdir(), write_image(path / "a.png", 1)), "input_unreadable"),
}


@pytest.mark.parametrize("fault", FILE_FAULTS)
def test_every_fault_of_an_image_is_found_with_file_and_record(folder, fault):
    assert MAX_IMAGE_PIXELS < 9000 * 9000
    write_image(folder / "images" / "bad.png", 7)
    records = [GOOD[Parser.IMAGE_QA], GOOD[Parser.IMAGE_QA] | {"qry_img_path": "bad.png"}, GOOD[Parser.IMAGE_QA]]
    assert inspect(folder, Parser.IMAGE_QA, records).state is Readiness.READY
    make, code = FILE_FAULTS[fault]
    make(folder / "images" / "bad.png")
    readiness = inspect(folder, Parser.IMAGE_QA, records)
    (problem,) = readiness.problems
    assert (readiness.state, problem.record, problem.code) == (Readiness.BROKEN, 1, code)
    assert "bad.png" in problem.message


@pytest.mark.parametrize(("name", "content"), [("v.nii.gz", b"\x1f\x8b\x08damaged"), ("v.nii", b"x" * 400)])
def test_a_damaged_volume_is_found(folder, name, content):
    (folder / "images" / name).write_bytes(content)
    record = GOOD[Parser.VOLUME_I2I] | {"qry_img_path": name}
    (problem,) = inspect(folder, Parser.VOLUME_I2I, [record]).problems
    assert (problem.record, problem.code) == (0, "input_unreadable")
    assert name in problem.message


def test_a_series_with_a_slice_from_elsewhere_is_found(folder):
    (folder / "images" / "series").mkdir()
    (folder / "images" / "series" / "1.dcm").symlink_to("/etc/hostname")
    (problem,) = inspect(folder, Parser.VOLUME_I2I, [GOOD[Parser.VOLUME_I2I] | {"qry_img_path": "series"}]).problems
    assert "series/1.dcm leads out of the image root" in problem.message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[{"qry_inst": "\xff\xfe"}]', "is not UTF-8 at byte 15"),
        (b"[{", "is not JSON"),
        (b"", "is not JSON"),
        (b"[" * 200_000, "is not JSON"),
        (b"[" + b"1" * 5000 + b"]", "is not JSON"),
        (b'[{"qry_text": "a", "qry_text": "b"}]', "the key 'qry_text' stands twice"),
        (b'[{"a": NaN}]', "NaN is not a JSON number"),
        (b"{}", "a JSON list of records is expected"),
        (b"[]", "the list has no records"),
    ],
)
def test_every_fault_of_a_task_file_is_said(folder, content, said):
    spec = task_spec()
    write_records(folder, spec, []).write_bytes(content)
    readiness = inspect_task(folder, spec, hashes=FileHashes(), images=ImageChecks())
    (problem,) = readiness.problems
    assert (readiness.state, problem.record) == (Readiness.BROKEN, None)
    assert problem.message.startswith(spec.data_path)
    assert said in problem.message


def test_missing_images_are_counted_apart_from_broken_records(folder):
    good = GOOD[Parser.IMAGE_I2I]
    records = [good, good | {"qry_img_path": "gone.png"}, good | {"tgt_img_path": ["c.png", "away/x.png"]}]
    readiness = inspect(folder, Parser.IMAGE_I2I, records)
    assert readiness.state is Readiness.IMAGES_MISSING
    assert (readiness.files_present, readiness.files_expected, readiness.n_problems) == (3, 5, 2)
    broken = inspect(folder, Parser.IMAGE_I2I, [*records, good | {"qry_inst": 1}])
    assert (broken.state, broken.n_problems) == (Readiness.BROKEN, 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(["a.png", "b.png", "gone.png"]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
CHANGES = st.fixed_dictionaries({}, optional=dict.fromkeys(GOOD[Parser.VOLUME_I2I], VALUES))


def refuses(folder, spec, record):
    write_records(folder, spec, [record])
    try:
        load_task(folder, spec)
    except EvaluationError:
        return True
    return False


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parser=st.sampled_from(sorted(GOOD)), changes=st.lists(CHANGES, min_size=1, max_size=12))
def test_the_records_that_are_named_are_those_that_loading_refuses(folder, parser, changes):
    spec = task_spec(parser=parser)
    records = [GOOD[parser] | change for change in changes]
    expected = [number for number, record in enumerate(records) if refuses(folder, spec, record)]
    readiness = inspect(folder, parser, records)
    # Where both kinds occur, missing images are not named among broken records.
    assert readiness.n_problems <= len(expected)
    assert {problem.record for problem in readiness.problems} <= set(expected)
    assert (readiness.state is Readiness.READY) == (not expected)


def test_what_holds_is_recalled_and_what_changed_is_read(folder):
    spec = task_spec(parser=Parser.IMAGE_QA)
    ready = inspect(folder, Parser.IMAGE_QA, [GOOD[Parser.IMAGE_QA]])
    assert recall(folder, spec, ready) == ready
    assert recall(folder, replace(spec, title="Other"), ready) is None
    truncated(folder / "images" / "a.png")
    assert survey_suite(folder, [spec], known={"Example": ready}) == (ready,)
    (verified,) = survey_suite(folder, [spec], known={})
    assert verified.state is Readiness.BROKEN
    write_image(folder / "images" / "a.png", 0)
    assert survey_suite(folder, [spec], known={"Example": verified}) == (ready,)
    write_records(folder, spec, [GOOD[Parser.IMAGE_QA], GOOD[Parser.IMAGE_QA]])
    (renewed,) = survey_suite(folder, [spec], known={"Example": ready})
    assert renewed.n_queries == 2


def test_images_that_arrive_make_a_task_ready(folder):
    spec = task_spec(parser=Parser.IMAGE_QA)
    records = [GOOD[Parser.IMAGE_QA] | {"qry_img_path": "late.png"}]
    missing = inspect(folder, Parser.IMAGE_QA, records)
    assert recall(folder, spec, missing) == missing
    write_image(folder / "images" / "late.png", 9)
    (ready,) = survey_suite(folder, [spec], known={"Example": missing})
    assert (missing.state, ready.state) == (Readiness.IMAGES_MISSING, Readiness.READY)
    (folder / spec.data_path).unlink()
    (gone,) = survey_suite(folder, [spec], known={"Example": ready})
    assert gone.state is Readiness.NOT_INSTALLED
    assert recall(folder, spec, gone) == gone


def test_the_lock_file_holds_all_that_was_found(folder):
    found = [
        inspect(folder, Parser.IMAGE_QA, [GOOD[Parser.IMAGE_QA]]),
        replace(inspect(folder, Parser.IMAGE_QA, [{"qry_inst": 1}]), task="Other"),
        replace(
            inspect_task(folder, task_spec(data_path="x.json"), hashes=FileHashes(), images=ImageChecks()), task="X"
        ),
    ]
    lock = SuiteLock("example", "a/b", "f" * 40, "2030-01-01T00:00:00+00:00", {item.task: item for item in found})
    write_lock(folder, lock)
    assert read_lock(folder, suite="example") == lock
    assert sorted(path.name for path in folder.iterdir()) == ["Text_Task", "images", LOCK_NAME]


@pytest.mark.parametrize(
    "content", ["{}", "[]", "{", '{"schema_version": 1, "suite": "other"}', '{"schema_version": 9, "suite": "example"}']
)
def test_a_damaged_lock_file_says_so(folder, content):
    (folder / LOCK_NAME).write_text(content)
    with pytest.raises(SuiteInvalid, match=LOCK_NAME.replace(".", r"\.")):
        read_lock(folder, suite="example")


def test_a_restricted_source_is_named_with_who_grants_access(tmp_path):
    spec = next(spec for spec in medheb_suite().tasks if spec.name == "MRNet_cls")
    (readiness,) = survey_suite(tmp_path, [spec], known={})
    reason = explain(spec, readiness)
    assert "3D_Task/MRNet" in reason
    assert "MRNet (registration (Stanford RUA)): https://aimi.stanford.edu/datasets/mrnet-knee-mris" in reason


def test_what_the_public_reads_names_no_file_of_a_record(folder):
    truncated(folder / "images" / "a.png")
    readiness = inspect(folder, Parser.IMAGE_QA, [GOOD[Parser.IMAGE_QA]] * 9)
    reason = public_reason(task_spec(), readiness)
    assert reason.startswith("9 of its records cannot be used (input_unreadable in record 0, ")
    assert "a.png" not in reason
    assert "a.png" in explain(task_spec(), readiness)


def test_status_lists_every_task_and_the_run_goes_on_with_the_others(folder, tmp_path):
    specs = [task_spec(name, image_root="") for name in ("Fine", "Broken", "Absent")]
    suites = tmp_path / "suites"
    suite = suites / "example"
    write_records(suite, specs[0], [text_record("a", ["b", "c"])])
    write_records(suite, specs[1], [text_record("a", ["b", "c"]), text_record("a", ["b", 7]), text_record("a", [])])
    write_manifest(suite, suite_of(*specs))
    runner = CliRunner(env={"COLUMNS": "120"})
    done = runner.invoke(app, ["suites", "status", "example", "--suites-dir", str(suites)], catch_exceptions=False)
    lines = done.stdout.splitlines()
    assert lines[-1] == "Example 1: of 3 tasks 1 ready, 1 not installed, 1 broken."
    assert lines[-3].startswith(
        "Broken: broken: 2 of its records cannot be used. Text_Task/Broken.json: record 1: tgt_"
    )
    assert "Text_Task/Broken.json: record 2: tgt_text has no candidates." in lines[-3]
    out = tmp_path / "result.json"
    run = runner.invoke(app, ["run", "--model", "chance", "--suite", str(suite), "--out", str(out)])
    assert run.exit_code == 0, run.output
    assert "1 of 3 tasks are evaluated" in run.stdout
    assert [task["task"] for task in json.loads(out.read_text())["tasks"]] == ["Fine"]


def test_without_a_lock_file_a_broken_task_fails_and_the_others_are_scored(folder, tmp_path):
    specs = [task_spec(name, image_root="") for name in ("First", "Second", "Third")]
    for spec in specs:
        write_records(folder, spec, [text_record("a", ["b", "c"])])
    write_records(folder, specs[1], [text_record("a", []) | {"tgt_text": "b"}])
    write_manifest(folder, suite_of(*specs))
    out = tmp_path / "result.json"
    run = CliRunner().invoke(app, ["run", "--model", "chance", "--suite", str(folder), "--out", str(out)])
    assert run.exit_code == 0, run.output
    document = json.loads(out.read_text())
    assert [task["task"] for task in document["tasks"]] == ["First", "Third"]
    assert "record 0: tgt_text is str" in document["failures"][0]["message"]


def test_status_can_be_read_by_programs_and_by_a_folder_that_cannot_be_written_to(folder):
    spec = task_spec(image_root="")
    suites = folder / "suites"
    write_records(suites / "example", spec, [text_record("a", ["b", "c"])])
    write_manifest(suites / "example", suite_of(spec))
    words = ["suites", "status", "example", "--json", "--suites-dir", str(suites)]
    (task,) = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)["tasks"]
    assert (task["state"], task["n_queries"], task["chance"], task["reason"]) == ("ready", 1, 0.5, "")
    assert (suites / "example" / LOCK_NAME).is_file()
    shutil.rmtree(suites)
    assert CliRunner().invoke(app, words).exit_code == 1
