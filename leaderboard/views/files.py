"""A sheet as a file, with exactly its rows and columns, in the order of the page."""

import io
from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse

from leaderboard.views.sheets import CsvValue, Sheet, csv_response, json_response


def parquet_response(sheet: Sheet, *, file_name: str) -> HttpResponse:
    """The sheet as a Parquet file with the columns of the CSV file: texts, and numbers as 64-bit floats."""
    import pyarrow as pa  # noqa: PLC0415 - takes a tenth of a second, and few visitors want it
    from pyarrow import parquet  # noqa: PLC0415 - the same

    headers = [header for column in sheet.columns for header in column.headers]
    rows = [[value for cell in row for value in cell.data] for group in sheet.groups for row in group.rows]
    columns = {header: _array([row[place] for row in rows], pa) for place, header in enumerate(headers)}
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    response = HttpResponse(file.getvalue(), content_type="application/vnd.apache.parquet")
    response["Content-Disposition"] = f'attachment; filename="{file_name}.parquet"'
    return response


def _array(values: list[CsvValue], pa: Any) -> Any:
    is_text = any(isinstance(value, str) for value in values)
    return pa.array(values, type=pa.string() if is_text else pa.float64())


FORMATS: Mapping[str, str] = {"csv": "CSV", "json": "JSON", "parquet": "Parquet"}
"""The formats by name in addresses, with their words."""
RESPONSES: Mapping[str, Callable[..., HttpResponse]] = {
    "csv": csv_response,
    "json": json_response,
    "parquet": parquet_response,
}
