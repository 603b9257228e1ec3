"""Brings the database's catalogue in line with the suites that are installed, and with MedHEB's published task list.

Retrieval suites are read here, probing suites in `probe_catalogue`.
"""

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from evaluation.errors import EvaluationError
from evaluation.manifest import MANIFEST_NAME, spec_sha256, suite_kind
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.lock import read_lock
from evaluation.suites.medheb.reader import read_suite
from evaluation.suites.medheb.readiness import Readiness, TaskReadiness, explain, public_reason, survey_suite
from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import SuiteKind
from leaderboard.models import Task
from leaderboard.services.catalogue_sync import TaskDeclaration, suite_sync
from workers.probe_catalogue import sync_probe_suite
from workers.suite_folders import installed_folders

logger = logging.getLogger(__name__)


def sync_catalogue() -> None:
    """Store MedHEB's tasks, installed or not, and every suite in `SUITES_DIR`.

    What a suite's lock file knows holds. Of other suites, tasks that are stored as installed are not read again: what
    is declared never changes within a version.
    """
    probing = [folder for folder in installed_folders() if _is_probing(folder)]
    for folder in probing:
        sync_probe_suite(folder)
    for spec, folder in _retrieval_suites(without=probing):
        measures = _measures(spec, folder)
        suite_sync(
            slug=spec.slug,
            version=spec.version,
            title=spec.title,
            synthetic=spec.synthetic,
            tasks=[_declaration(task, measures[task.name]) for task in spec.tasks],
        )


def _is_probing(folder: Path) -> bool:
    """The release, which is a retrieval suite, is installed without a manifest."""
    return (folder / MANIFEST_NAME).exists() and suite_kind(folder) is SuiteKind.PROBING


def _retrieval_suites(*, without: Collection[Path]) -> Iterator[tuple[SuiteSpec, Path]]:
    installed = {}
    for folder in installed_folders():
        if folder not in without:
            spec = read_suite(folder)
            installed[spec.slug] = (spec, folder)
    release = medheb_suite()
    installed.setdefault(release.slug, (release, settings.SUITES_DIR / release.slug))
    yield from installed.values()


@dataclass(frozen=True, slots=True)
class _Measure:
    """What is known of a task's data: its numbers, or why it has none."""

    n_queries: int | None
    chance: float | None
    unavailable_reason: str = ""


def _measures(suite: SuiteSpec, folder: Path) -> dict[str, _Measure]:
    locked = _locked(suite, folder)
    stored = {
        task.name: _Measure(task.n_queries, task.chance)
        for task in Task.objects.filter(suite__slug=suite.slug, suite__version=suite.version, is_installed=True)
        if task.name not in locked
    }
    specs = {spec.name: spec for spec in suite.tasks if spec.name not in stored}
    found = survey_suite(folder, list(specs.values()), known=locked)
    return stored | {readiness.task: _measure(specs[readiness.task], readiness) for readiness in found}


def _locked(suite: SuiteSpec, folder: Path) -> Mapping[str, TaskReadiness]:
    try:
        return read_lock(folder, suite=suite.slug).tasks
    except EvaluationError as error:
        logger.warning("the tasks of %s are read again: %s", suite.slug, error)
        return {}


def _measure(spec: TaskSpec, readiness: TaskReadiness) -> _Measure:
    if readiness.state is Readiness.BROKEN:
        logger.warning("task %s stays out: %s", spec.name, explain(spec, readiness))
    return _Measure(readiness.n_queries, readiness.chance, public_reason(spec, readiness))


def _declaration(spec: TaskSpec, measure: _Measure) -> TaskDeclaration:
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
        n_queries=measure.n_queries,
        chance=measure.chance,
        unavailable_reason=measure.unavailable_reason,
    )
