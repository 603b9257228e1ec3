"""How benchmarks put their figures into words: where they were measured, and tables."""

import os
import platform
from datetime import UTC, datetime


def machine() -> str:
    """When and on what, in one line."""
    load = os.getloadavg()[0]
    return f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}), load {load:.1f} at the end"


def markdown_table(headings: list[str], rows: list[list[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
