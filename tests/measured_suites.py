"""A small suite of real outcomes on disk and in the database: what statistics are computed from."""

from pathlib import Path

import numpy as np

from evaluation.manifest import write_manifest
from evaluation.types import RankOutcomes, SuiteSpec
from evaluation.vocabulary import EvidenceForm, Family, Split
from leaderboard.models import Suite
from tests.evaluation.outcomes import outcomes_of
from tests.evaluation.suite_folders import suite_of, task_spec
from tests.factories import make_suite_of

QUERIES = 60
SPEC = suite_of(
    task_spec("Label", family=Family.IMAGE_TO_LABEL, evidence_form=EvidenceForm.IMAGE_2D),
    task_spec("OtherLabel", family=Family.IMAGE_TO_LABEL, evidence_form=EvidenceForm.VOLUME_3D, split=Split.HELD_OUT),
    task_spec("Pair", family=Family.TEXT_TO_TEXT),
)


def measured(*shares: float, seed: int = 0, spec: SuiteSpec = SPEC) -> dict[str, RankOutcomes]:
    """Outcomes by task with these shares of hits, the same queries hit for the same seed."""
    generator = np.random.default_rng(seed)
    hits = [generator.permutation([int(number < share * QUERIES) for number in range(QUERIES)]) for share in shares]
    return {task.name: outcomes_of(found) for task, found in zip(spec.tasks, hits, strict=True)}


def install(settings: object, folder: Path, spec: SuiteSpec = SPEC) -> Suite:
    """Write the suite's manifest where workers look for it, and store its tasks as installed."""
    settings.SUITES_DIR = folder
    (folder / spec.slug).mkdir()
    write_manifest(folder / spec.slug, spec)
    return make_suite_of(spec, n_queries=QUERIES, chance=0.25)
