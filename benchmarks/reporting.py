"""The file that benchmarks write their figures to: one section a benchmark."""

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"


def machine() -> str:
    """When and on what, in one line."""
    load = os.getloadavg()[0]
    return f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}), load {load:.1f} at the end"


def write_section(title: str, body: str) -> None:
    """Replace, or add, the section of this title; other benchmarks' sections stay as they are."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    kept = [section for section in re.split(r"(?m)^(?=# )", text) if section and not section.startswith(f"# {title}\n")]
    sections = [*(section.strip() for section in kept), f"# {title}\n\n{body.strip()}"]
    RESULTS.write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def markdown_table(headings: list[str], rows: list[list[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
