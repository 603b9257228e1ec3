"""benchmarks/RESULTS.md: one section a benchmark, each replaced by its own benchmark alone."""

import re
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"


def write_section(section: str) -> None:
    """Put a section, which begins with a line `# Heading`, in the place of the one with that heading or at the end."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    sections = [part.strip() for part in re.split(r"^(?=# )", text, flags=re.MULTILINE) if part.strip()]
    headings = [part.splitlines()[0] for part in sections]
    heading = section.splitlines()[0]
    if heading in headings:
        sections[headings.index(heading)] = section.strip()
    else:
        sections.append(section.strip())
    RESULTS.write_text("\n\n".join(sections) + "\n", encoding="utf-8")
