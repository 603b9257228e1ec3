"""Where suites lie on a worker."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from leaderboard.models import Suite


def suite_folder(suite: Suite) -> Path:
    """Where an installed suite lies on this worker."""
    return settings.SUITES_DIR / suite.slug


def installed_folders() -> Iterator[Path]:
    """The folders of all suites that are installed on this worker, by name."""
    if settings.SUITES_DIR.is_dir():
        for folder in sorted(path for path in settings.SUITES_DIR.iterdir() if path.is_dir()):
            if not folder.name.startswith("."):
                yield folder
