"""Opens the suite in a folder, of whichever kind it is."""

from pathlib import Path

from evaluation.commands.probing_suite import ProbingSuite
from evaluation.commands.retrieval_suite import RetrievalSuite
from evaluation.commands.suites_to_run import SuiteToRun
from evaluation.manifest import MANIFEST_NAME, suite_kind
from evaluation.suites.medheb.reader import read_suite
from evaluation.suites.medtec.suite import read_probe_suite
from evaluation.vocabulary import SuiteKind


def open_suite(folder: Path) -> SuiteToRun:
    """The suite in a folder; one without manifest is the MedHEB release.

    Raises:
        SuiteInvalid: the folder holds no suite, or its manifest breaks the format.
    """
    if (folder / MANIFEST_NAME).exists() and suite_kind(folder) is SuiteKind.PROBING:
        return ProbingSuite(folder, read_probe_suite(folder))
    return RetrievalSuite(folder, read_suite(folder))
