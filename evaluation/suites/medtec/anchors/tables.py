"""Reads publishers' CSV tables strictly: a missing column, a ragged row or an unknown word names file and row."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from evaluation.errors import DataMissing, RecordInvalid, SuiteInvalid

OLDEST = 120.0

_Word = TypeVar("_Word")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table. `number` counts as a spreadsheet does: the header is row 1."""

    table: Path
    number: int
    cells: Mapping[str, str]

    @property
    def where(self) -> str:
        """The row in the words of messages."""
        return f"{self.table}, row {self.number}"

    def fault(self, problem: str) -> RecordInvalid:
        """An error that names this row."""
        return RecordInvalid(f"{self.where}: {problem}")

    def text(self, column: str) -> str:
        """A cell without the spaces around it; empty where the publisher left it empty."""
        return self.cells[column].strip()

    def filled(self, column: str) -> str:
        """A cell that must hold something.

        Raises:
            RecordInvalid: it is empty.
        """
        text = self.text(column)
        if not text:
            raise self.fault(f"{column} is empty; correct the table")
        return text

    def word(self, column: str, words: Mapping[str, _Word]) -> _Word:
        """What a cell's word stands for.

        Raises:
            RecordInvalid: the word is not one of the publisher's.
        """
        return self.known(self.text(column), words, column)

    def known(self, text: str, words: Mapping[str, _Word], column: str) -> _Word:
        """What one of several words in a cell stands for.

        Raises:
            RecordInvalid: the word is not one of the publisher's.
        """
        if text not in words:
            raise self.fault(f"{column} has {text!r}, which is none of {', '.join(repr(word) for word in words)}")
        return words[text]

    def age(self, column: str) -> float | None:
        """Years, None where the cell is empty, infinity where the number cannot be a person's age.

        Raises:
            RecordInvalid: the cell is no number.
        """
        text = self.text(column).removesuffix("Y")
        if not text:
            return None
        try:
            years = float(text)
        except ValueError as error:
            raise self.fault(f"{column} has {self.text(column)!r}, which is no number of years") from error
        return years if 0 <= years <= OLDEST else math.inf


def read_rows(path: Path, columns: Sequence[str]) -> list[Row]:
    """The rows of a CSV file in UTF-8 with a header that has at least `columns`.

    Raises:
        DataMissing: the file is not there.
        SuiteInvalid: it is not UTF-8, columns are missing or stand twice, or it has no rows.
        RecordInvalid: a row has more or fewer cells than the header.
    """
    header, records = _records(path)
    missing = [column for column in columns if column not in header]
    if missing:
        raise SuiteInvalid(
            f"{path}: column {', '.join(missing)} is missing; the header is {', '.join(header)}. "
            "Use the publisher's own table."
        )
    twins = sorted({column for column in header if column and header.count(column) > 1})
    if twins:
        raise SuiteInvalid(
            f"{path}: column {', '.join(twins)} stands twice in the header. Use the publisher's own table."
        )
    if not records:
        raise SuiteInvalid(f"{path} has a header and no rows. Use the publisher's own table.")
    for number, cells in records:
        if len(cells) != len(header):
            raise RecordInvalid(f"{path}, row {number}: {len(cells)} cells, but the header has {len(header)}.")
    return [Row(path, number, dict(zip(header, cells, strict=True))) for number, cells in records]


def _records(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and the cells of every row that is not blank with its number."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except OSError as error:
        raise DataMissing(f"{path} cannot be read: {error.strerror}. Put the publisher's table there.") from error
    except UnicodeDecodeError as error:
        raise SuiteInvalid(f"{path} is not UTF-8 at byte {error.start}. Save it as UTF-8.") from error
    except csv.Error as error:
        raise SuiteInvalid(f"{path} is not a CSV table: {error}. Use the publisher's own table.") from error
    if not lines:
        raise SuiteInvalid(f"{path} is empty. Put the publisher's table there.")
    # Some publishers leave spaces around the names of columns.
    return [column.strip() for column in lines[0]], [
        (number, cells) for number, cells in enumerate(lines[1:], start=2) if cells
    ]
