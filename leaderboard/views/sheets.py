"""A sheet: a table that is shown, sorted and downloaded from one description, so that its CSV equals the page."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict

SortValue = float | str | None
CsvValue = str | float | None

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Whisker:
    """An interval drawn under a figure. `start`, `width` and `chance` are in percent of the axis."""

    start: float
    width: float
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure or text. `sort` of None stands last in either direction; `data` has one value a CSV column.

    `note` is small beside or under the text, `mark` says what is special about it, `title` is shown on pointing at it.
    With a `dagger` there is one beside the text; what it says is for those who do not see it.
    """

    text: str
    sort: SortValue
    data: tuple[CsvValue, ...]
    style: str = ""
    note: str = ""
    title: str = ""
    href: str = ""
    mark: str = ""
    dagger: str = ""
    is_row_head: bool = False
    whisker: Whisker | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """What a column holds. `headers` name its CSV columns; `is_text` sorts upwards first."""

    key: str
    title: str
    explanation: str
    headers: tuple[str, ...]
    style: str = ""
    is_text: bool = False
    is_row_head: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that stay together whatever the order; `title` stands above them where it is not empty."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class HeaderCell:
    """A column with its sorting link. `aria_sort` is empty unless the sheet is sorted by it."""

    column: Column
    href: str
    aria_sort: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A finished table."""

    caption: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    header: tuple[HeaderCell, ...] = ()

    @property
    def n_rows(self) -> int:
        """Rows in all groups."""
        return sum(len(group.rows) for group in self.groups)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def has_dagger(self) -> bool:
        """Whether any cell has a dagger, which a legend then explains."""
        return any(cell.dagger for group in self.groups for row in group.rows for cell in row)


def text_cell(text: str, *, style: str = "left", **extra: str) -> Cell:
    """A cell of words, which sorts without regard to case."""
    return Cell(text=text, sort=text.lower() or None, data=(text,), style=style, **extra)


def sorted_sheet(sheet: Sheet, *, request: HttpRequest, default: str = "") -> Sheet:
    """The sheet in the order that the address asks for (`sort=KEY`, or `sort=-KEY` downwards), with linked headers.

    Without a default the rows stay as they are until the address asks for an order.

    Raises:
        BadRequest: the address names a column that the sheet does not have.

    """
    order = request.GET.get("sort") or default
    header = tuple(_header_cell(column, request.GET, order) for column in sheet.columns)
    if not order:
        return Sheet(sheet.caption, sheet.columns, sheet.groups, header)
    key, downwards = order.removeprefix("-"), order.startswith("-")
    keys = [column.key for column in sheet.columns]
    if key not in keys:
        raise BadRequest(f"There is no column {key!r} to sort by; there are {', '.join(keys)}.")
    position = keys.index(key)
    groups = tuple(Group(group.title, _ordered(group.rows, position, downwards)) for group in sheet.groups)
    return Sheet(sheet.caption, sheet.columns, groups, header)


def linked_sheet(sheet: Sheet, *, parameters: QueryDict, order: str) -> Sheet:
    """A sheet whose rows stand in an order already, with headers that link to the others."""
    header = tuple(_header_cell(column, parameters, order) for column in sheet.columns)
    return Sheet(sheet.caption, sheet.columns, sheet.groups, header)


def _ordered(rows: Sequence[tuple[Cell, ...]], position: int, downwards: bool) -> tuple[tuple[Cell, ...], ...]:  # noqa: FBT001 - private, and named at the call
    known = [row for row in rows if row[position].sort is not None]
    unknown = [row for row in rows if row[position].sort is None]
    return (*sorted(known, key=lambda row: row[position].sort, reverse=downwards), *unknown)


def _header_cell(column: Column, parameters: QueryDict, order: str) -> HeaderCell:
    is_current = order.removeprefix("-") == column.key
    is_downwards = order.startswith("-")
    downwards_next = not is_downwards if is_current else not column.is_text
    aria_sort = ("descending" if is_downwards else "ascending") if is_current else ""
    sort = f"-{column.key}" if downwards_next else column.key
    return HeaderCell(column, address_with(parameters, sort=sort, page=""), aria_sort)


def address_with(parameters: QueryDict, **changes: str) -> str:
    """The query string of this page with some parameters changed; an empty value drops one."""
    changed = parameters.copy()
    changed.pop("format", None)
    for name, value in changes.items():
        if value:
            changed[name] = value
        else:
            changed.pop(name, None)
    for name in [name for name, value in changed.items() if not value]:
        del changed[name]
    return f"?{changed.urlencode()}"


def csv_response(sheet: Sheet, *, file_name: str) -> HttpResponse:
    """The sheet as a CSV file: the same rows and columns in the same order.

    Texts that a spreadsheet would run as a formula get an apostrophe in front.
    """
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name}.csv"'
    writer = csv.writer(response)
    writer.writerow([harmless(header) for column in sheet.columns for header in column.headers])
    for group in sheet.groups:
        for row in group.rows:
            writer.writerow([harmless(value) for cell in row for value in cell.data])
    return response


def json_response(sheet: Sheet, *, file_name: str) -> HttpResponse:
    """The sheet as a JSON file: a list of rows with the columns of the CSV file, in the same order."""
    headers = [header for column in sheet.columns for header in column.headers]
    rows = [
        dict(zip(headers, (value for cell in row for value in cell.data), strict=True))
        for group in sheet.groups
        for row in group.rows
    ]
    response = JsonResponse(rows, safe=False)
    response["Content-Disposition"] = f'attachment; filename="{file_name}.json"'
    return response


def harmless(value: CsvValue) -> CsvValue:
    """The value as it may stand in a spreadsheet; true and false as in JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
