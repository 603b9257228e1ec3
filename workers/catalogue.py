"""Brings the database's catalogue in line with the suites that are installed, and with MedHEB's published task list."""

import logging
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from evaluation.errors import EvaluationError
from evaluation.evaluators.retrieval import task_chance
from evaluation.manifest import spec_sha256
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.reader import load_task, read_suite, task_is_installed
from evaluation.types import SuiteSpec, TaskSpec
from leaderboard.models import Suite, Task
from leaderboard.services.catalogue_sync import TaskDeclaration, suite_sync

logger = logging.getLogger(__name__)


def suite_folder(suite: Suite) -> Path:
    """Where an installed suite lies on this worker."""
    return settings.SUITES_DIR / suite.slug


def sync_catalogue() -> None:
    """Store MedHEB's tasks, installed or not, and every suite in `SUITES_DIR`.

    Tasks that are stored as installed are not read again: what is declared never changes within a version.
    """
    for spec, folder in _suites():
        known = {
            task.name: task
            for task in Task.objects.filter(suite__slug=spec.slug, suite__version=spec.version, is_installed=True)
        }
        suite_sync(
            slug=spec.slug,
            version=spec.version,
            title=spec.title,
            synthetic=spec.synthetic,
            tasks=[_declaration(task, folder, known.get(task.name)) for task in spec.tasks],
        )


def _suites() -> Iterator[tuple[SuiteSpec, Path]]:
    installed = {}
    if settings.SUITES_DIR.is_dir():
        for folder in sorted(path for path in settings.SUITES_DIR.iterdir() if path.is_dir()):
            if not folder.name.startswith("."):
                spec = read_suite(folder)
                installed[spec.slug] = (spec, folder)
    release = medheb_suite()
    installed.setdefault(release.slug, (release, settings.SUITES_DIR / release.slug))
    yield from installed.values()


def _declaration(spec: TaskSpec, folder: Path, known: Task | None) -> TaskDeclaration:
    n_queries, chance = (known.n_queries, known.chance) if known else _measure(spec, folder)
    return TaskDeclaration(
        name=spec.name,
        title=spec.title,
        family=spec.family,
        domain=spec.domain,
        evidence_form=spec.evidence_form,
        pairing_type=spec.pairing_type,
        granularity=spec.granularity,
        split=spec.split,
        pool=spec.pool,
        parser=spec.parser,
        group=spec.group,
        datasets=spec.datasets,
        data_group=spec.image_root or str(Path(spec.data_path).parent),
        relevance_rule=spec.relevance_rule,
        licence=spec.licence,
        images_may_be_shown=spec.images_may_be_shown,
        notes=spec.notes,
        spec_sha256=spec_sha256(spec),
        n_queries=n_queries,
        chance=chance,
    )


def _measure(spec: TaskSpec, folder: Path) -> tuple[int | None, float | None]:
    """The task's number of queries and chance level, or neither where its data are missing or broken."""
    if not task_is_installed(folder, spec):
        return None, None
    try:
        task = load_task(folder, spec)
    except EvaluationError as error:
        logger.warning("task %s stays out: %s", spec.name, error)
        return None, None
    return len(task.queries), task_chance(task)
