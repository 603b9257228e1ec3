"""The figures that MedTEC's authors report."""

from pathlib import Path

from evaluation.suites.reported import ReportedFigures, read_reported_figures

REPORTED_FILE = Path(__file__).parent / "reported.json"


def reported_figures() -> ReportedFigures:
    """The content of `reported.json`."""
    return read_reported_figures(REPORTED_FILE)
