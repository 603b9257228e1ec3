"""Anchor manifests: written and read back, and every break of the format refused with file and row."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import DataMissing, EvaluationError, RecordInvalid, SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.suites.medtec.anchors.manifest import COLUMNS, header_path, read_anchor_set, read_header
from evaluation.vocabulary import Modality
from tests.evaluation.medtec.anchor_sets import anchor, write_told
from tests.evaluation.medtec.published import write_image

ANCHORS = [
    anchor(0, "nodule"),
    anchor(1, "edema", age=None, sex="", slice_index=7, window="40/400"),
    anchor(2, "edema"),
]


def change(path: Path, edit: Callable[[list[list[str]]], Any]) -> None:
    """Let `edit` change the table's lines of cells, the header line first."""
    with path.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.reader(stream))
    edit(lines)
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(lines)


def set_cell(path: Path, row: int, column: str, text: str) -> None:
    """Set a cell; rows are numbered as in messages."""
    change(path, lambda lines: lines[row - 1].__setitem__(COLUMNS.index(column), text))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path, anchors = write_told(tmp_path, ANCHORS)
    found = read_anchor_set(path, known_labels={"nodule", "edema"}, hashes=FileHashes())
    assert found.anchors == anchors
    assert (found.name, found.modality, found.dropped) == ("told", Modality.CHEST_RADIOGRAPH, {"several_labels": 2})
    assert found.sha256 == FileHashes().of(path)


def test_the_columns_are_the_fields_in_order(tmp_path: Path) -> None:
    path, _ = write_told(tmp_path, ANCHORS)
    first, second, third = path.read_text("utf-8").splitlines()[:3]
    assert first == (
        "anchor_id,modality,dataset,dataset_version,source_split,path,sha256,cluster,label,label_source,region,view,"
        "slice_index,window,sex,age,skin_tone,licence,seed,code_version"
    )
    assert second.startswith("told/image-0,chest_radiograph,told,1,,images/told/image-0.png,")
    assert second.endswith(',patient-0,nodule,"told, by hand",,posteroanterior,,,female,50.5,,CC0,42,abc')
    assert third.endswith(',patient-1,edema,"told, by hand",,posteroanterior,7,40/400,,,,CC0,42,abc')


@pytest.mark.parametrize("column", COLUMNS)
def test_each_missing_column_is_named(column: str, tmp_path: Path) -> None:
    path, _ = write_told(tmp_path, ANCHORS)
    change(path, lambda lines: [line.pop(COLUMNS.index(column)) for line in lines])
    with pytest.raises(SuiteInvalid, match=f"column {column} is missing"):
        read_anchor_set(path)


@pytest.mark.parametrize(
    ("column", "text", "problem"),
    [
        ("anchor_id", "", "anchor_id is empty"),
        ("anchor_id", "told/image-0", "'told/image-0' stands in row 2 too"),
        ("modality", "x-ray", "modality: 'x-ray' is none of"),
        ("modality", "fundus", "is not the data set and modality of the first row"),
        ("dataset", "other", "is not the data set and modality of the first row"),
        ("path", "images/told/image-0.png", "stands in row 2 too"),
        ("path", "../elsewhere.png", "inside the suite's folder"),
        ("path", "/etc/passwd", "inside the suite's folder"),
        ("sha256", "abc", "64 hexadecimal digits"),
        ("cluster", "", "cluster is empty"),
        ("cluster", "patient-0", "'patient-0' has the label edema here and nodule in row 2"),
        ("label", "", "label is empty"),
        ("label", "zebra", "label 'zebra' is unknown for chest_radiograph; known are edema, nodule"),
        ("slice_index", "-1", "slice_index is '-1'"),
        ("slice_index", "1.5", "slice_index is '1.5'"),
        ("sex", "F", "sex is 'F'"),
        ("age", "old", "age has 'old'"),
        ("age", "300", "age is '300'"),
        ("licence", " ", "licence is empty"),
        ("seed", "", "seed is ''"),
        ("code_version", "", "code_version is empty"),
    ],
)
def test_a_bad_cell_is_an_error_with_its_row(column: str, text: str, problem: str, tmp_path: Path) -> None:
    path, _ = write_told(tmp_path, ANCHORS)
    set_cell(path, 3, column, text)
    with pytest.raises(SuiteInvalid, match="row 3") as caught:
        read_anchor_set(path, known_labels={"nodule", "edema"})
    assert problem in caught.value.message


def test_an_image_that_is_not_there_is_an_error_with_its_row(tmp_path: Path) -> None:
    path, anchors = write_told(tmp_path, ANCHORS)
    (tmp_path / anchors[2].path).unlink()
    with pytest.raises(DataMissing, match=r"row 4: .*image-2\.png does not exist"):
        read_anchor_set(path)


def test_another_image_in_its_place_is_an_error_with_its_row(tmp_path: Path) -> None:
    path, anchors = write_told(tmp_path, ANCHORS)
    write_image(tmp_path / anchors[1].path, 99)
    read_anchor_set(path)
    with pytest.raises(RecordInvalid, match=r"row 3: .*is not the image that was chosen"):
        read_anchor_set(path, hashes=FileHashes())


def test_an_unknown_column_is_an_error(tmp_path: Path) -> None:
    path, _ = write_told(tmp_path, ANCHORS)
    change(path, lambda lines: [line.append("colour") for line in lines])
    with pytest.raises(SuiteInvalid, match="column colour is unknown"):
        read_anchor_set(path)


def test_a_manifest_that_was_edited_is_not_what_its_header_describes(tmp_path: Path) -> None:
    path, _ = write_told(tmp_path, ANCHORS)
    set_cell(path, 3, "view", "lateral")
    with pytest.raises(SuiteInvalid, match="it was changed"):
        read_anchor_set(path)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "other"}, "name is 'other'"),
        ({"name": "In The Folder"}, "name is 'In The Folder'"),
        ({"modality": "fundus"}, "the manifest speaks of told, chest_radiograph"),
        ({"modality": "x-ray"}, "modality: 'x-ray' is none of"),
        ({"labels": {"edema": 3}}, "labels are {'edema': 3}, but the manifest has"),
        ({"labels": {"edema": -1}}, "labels: edema: a whole number is expected, not -1"),
        ({"dropped": []}, "dropped: dict is expected, not list"),
        ({"rows": True}, "rows: a whole number is expected, not True"),
        ({"levels": ["L9"]}, "levels: 'L9' is none of"),
        ({"sources": {"table.csv": "abc"}}, "sources: table.csv: 64 hexadecimal digits"),
        ({"licence": ""}, "licence: the text is empty"),
        ({"schema_version": 2}, "schema_version is 2"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"notes": None}, "notes: str is expected, not NoneType"),
    ],
)
def test_a_bad_header_is_refused(changes: dict[str, Any], problem: str, tmp_path: Path) -> None:
    path, _ = write_told(tmp_path, ANCHORS)
    file = header_path(path)
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), encoding="utf-8")
    with pytest.raises(SuiteInvalid) as caught:
        read_anchor_set(path)
    assert problem in caught.value.message
    assert file.name in caught.value.message


def test_a_header_that_is_not_there_is_named(tmp_path: Path) -> None:
    path, _ = write_told(tmp_path, ANCHORS)
    header_path(path).unlink()
    with pytest.raises(SuiteInvalid, match=r"told\.header\.json cannot be read"):
        read_header(path)


@given(row=st.integers(1, 4), column=st.sampled_from(COLUMNS), text=st.text(max_size=12))
def test_any_changed_cell_is_refused_or_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, row: int, column: str, text: str
) -> None:
    path, anchors = write_told(tmp_path_factory.mktemp("told"), ANCHORS)
    try:
        set_cell(path, row, column, text)
    except UnicodeEncodeError:
        return
    outcome: object
    try:
        outcome = read_anchor_set(path).anchors
    except EvaluationError as error:
        outcome = error.message
    assert outcome == anchors or "told" in str(outcome)
