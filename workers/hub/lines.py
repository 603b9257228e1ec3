"""Looking for a line in a repository's small files."""

from collections.abc import Sequence

from evaluation.errors import ErrorKind, EvaluationError
from evaluation.repositories.client import HubClient
from leaderboard.ports import FoundLine, PreflightProblem

MAIN = ""
"""The main branch: others may hold what somebody without rights to the repository proposes."""


def find_line(
    client: HubClient, *, repo_id: str, line: str, files: Sequence[str]
) -> FoundLine | PreflightProblem | None:
    """The first of the named files at the top of the main branch that has the line, alone or in a comment's marks."""
    try:
        listing = client.listing(repo_id, MAIN)
        for name in files:
            if name in listing.sizes and _has(client.text(listing, name), line):
                return FoundLine(name, listing.commit)
    except EvaluationError as error:
        passing = error.kind is ErrorKind.INFRASTRUCTURE
        return PreflightProblem(code=error.code, field="repo_id", message=error.message, passing=passing)
    return None


def _has(text: str, line: str) -> bool:
    return any(found.strip().removeprefix("<!--").removesuffix("-->").strip() == line for found in text.splitlines())
