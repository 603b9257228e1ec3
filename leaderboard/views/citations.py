"""BibTeX entries for a model's result and for the board."""

from urllib.parse import quote

from leaderboard.selectors.catalogue import SuiteSummary
from leaderboard.selectors.embedding_models import PublishedRun

COMMANDS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "{}$&#_%"},
}
"""What BibTeX and TeX would read as a command, and how it is written to stand for itself."""


def bibtex(run: PublishedRun, suite: SuiteSummary, *, model_address: str, result_address: str, board: str) -> str:
    """Two entries: the model at its commit, and this board's result of it."""
    model = run.model
    year = str(run.published_at.year) if run.published_at else ""
    name = _key(model.repo_id)
    entries = [
        _entry(
            f"{name}-{model.commit[:8]}",
            title="{" + escaped(model.repo_id) + "}",
            author="{" + escaped(model.owner or model.repo_id) + "}",
            howpublished="Model repository",
            note=f"Revision {model.commit}",
            url=_address(model_address),
        ),
        _entry(
            f"medboard-{name}-{_key(suite.slug)}",
            title="{" + escaped(f"{model.repo_id} on {suite.title} {suite.version}") + "}",
            author="{MedBoard}",
            year=year,
            howpublished="MedBoard, an open leaderboard for medical embedding models, " + r"\url{" + board + "}",
            note=f"Revision {model.commit}, run {model.run_id}",
            url=_address(result_address),
        ),
    ]
    return "\n\n".join(entries)


def escaped(text: str) -> str:
    """A text that stands for itself in a BibTeX value; what is no letter to print becomes a space."""
    return "".join(COMMANDS.get(letter, letter if letter.isprintable() else " ") for letter in text)


def _entry(key: str, **fields: str) -> str:
    width = max(map(len, fields))
    lines = [f"  {name.ljust(width)} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _key(text: str) -> str:
    """A citation key: letters, digits and hyphens."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text.lower()).strip("-")


def _address(address: str) -> str:
    return quote(address, safe=":/?&=%~#")
