"""Reading publishers' CSV tables: what is refused, and that messages name file, row and column."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import DataMissing, EvaluationError, RecordInvalid, SuiteInvalid
from evaluation.suites.medtec.anchors.tables import read_rows


def table(folder: Path, content: str | bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_rows_are_numbered_as_in_a_spreadsheet(tmp_path: Path) -> None:
    rows = read_rows(table(tmp_path, '\ufeffname,age \r\n" one",1\r\n\r\n"two\nlines",2\r\n'), ("name", "age"))
    assert [(row.number, row.text("name"), row.text("age")) for row in rows] == [
        (2, "one", "1"),
        (4, "two\nlines", "2"),
    ]


@pytest.mark.parametrize(
    ("content", "error", "problem"),
    [
        ("", SuiteInvalid, "is empty"),
        ("name,age\n", SuiteInvalid, "no rows"),
        ("name\none\n", SuiteInvalid, "column age is missing; the header is name"),
        ("name,age,name\none,1,two\n", SuiteInvalid, "column name stands twice"),
        ("name,age\none\n", RecordInvalid, "row 2: 1 cells, but the header has 2"),
        ("name,age\none,1\ntwo,2,3\n", RecordInvalid, "row 3: 3 cells, but the header has 2"),
        (b"name,age\n\xff,1\n", SuiteInvalid, "not UTF-8 at byte 9"),
        ('name,age\n"one,1\n', SuiteInvalid, "not a CSV table"),
    ],
)
def test_broken_tables_are_refused(content: str | bytes, error: type[Exception], problem: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=problem) as caught:
        read_rows(table(tmp_path, content), ("name", "age"))
    assert "table.csv" in str(caught.value)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"table\.csv cannot be read"):
        read_rows(tmp_path / "table.csv", ("name",))


@pytest.mark.parametrize(
    ("text", "years"),
    [("", None), ("0", 0.0), ("61", 61.0), ("058Y", 58.0), ("45.0", 45.0), ("411", math.inf), ("-1", math.inf)],
)
def test_ages(text: str, years: float | None, tmp_path: Path) -> None:
    assert read_rows(table(tmp_path, f"name,age\none,{text}\n"), ("age",))[0].age("age") == years


@pytest.mark.parametrize("text", ["old", "4O", "1e", "--"])
def test_an_age_that_is_no_number_is_refused(text: str, tmp_path: Path) -> None:
    row = read_rows(table(tmp_path, f"name,age\none,{text}\n"), ("age",))[0]
    with pytest.raises(RecordInvalid, match=rf"row 2: age has '{text}'"):
        row.age("age")


def test_not_a_number_is_no_age(tmp_path: Path) -> None:
    row = read_rows(table(tmp_path, "age\nnan\n"), ("age",))[0]
    assert row.age("age") == math.inf


def test_words_and_empty_cells(tmp_path: Path) -> None:
    row = read_rows(table(tmp_path, "name,age\n , 1 \n"), ("name", "age"))[0]
    assert row.word("age", {"1": "one"}) == "one"
    with pytest.raises(RecordInvalid, match="row 2: name is empty"):
        row.filled("name")
    with pytest.raises(RecordInvalid, match="row 2: age has '1', which is none of 'a', 'b'"):
        row.word("age", {"a": 1, "b": 2})


@given(st.binary(max_size=200))
def test_any_bytes_give_rows_or_an_error_of_ours(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    path.write_bytes(b"name,age\n" + content)
    message, rows = "table.csv", []
    try:
        rows = read_rows(path, ("name", "age"))
    except EvaluationError as error:
        message = error.message
    assert "table.csv" in message
    assert all(set(row.cells) == {"name", "age"} for row in rows)
