"""Pages with several tables, each of which can be downloaded as it stands."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from leaderboard.views.sheets import Sheet, address_with, csv_response, json_response

RESPONSES = {"csv": csv_response, "json": json_response}


@dataclass(frozen=True, slots=True)
class Table:
    """A sheet with its name in addresses and the addresses of its downloads."""

    key: str
    sheet: Sheet
    csv_address: str
    json_address: str


def table(key: str, sheet: Sheet, *, request: HttpRequest) -> Table:
    """A sheet as a table of this page."""
    return Table(
        key=key,
        sheet=sheet,
        csv_address=address_with(request.GET, format="csv", table=key),
        json_address=address_with(request.GET, format="json", table=key),
    )


def download(request: HttpRequest, tables: Sequence[Table], *, stem: str) -> HttpResponse | None:
    """The table that the address asks for as a file, or None where it asks for the page.

    Without a name of a table the first one is meant.

    Raises:
        BadRequest: the page has no such table, or there is no such format.
    """
    wanted = request.GET.get("format")
    if not wanted:
        return None
    if wanted not in RESPONSES:
        raise BadRequest(f"There is no format {wanted!r}; there are {', '.join(RESPONSES)}.")
    key = request.GET.get("table") or (tables[0].key if tables else "")
    chosen = next((one for one in tables if one.key == key), None)
    if chosen is None:
        raise BadRequest(f"There is no table {key!r}; there are {', '.join(one.key for one in tables)}.")
    return RESPONSES[wanted](chosen.sheet, file_name=f"{stem}-{chosen.key}")
