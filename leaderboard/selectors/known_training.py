"""What boards say of the training data of the models on them, and a digest that tells when it has changed."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from leaderboard.models import Run, Task
from leaderboard.models.vocabulary import TrainingDataStatement
from leaderboard.selectors.training_data import contaminated_tasks, training_statements


@dataclass(frozen=True, slots=True)
class KnownTraining:
    """Of a run: the ids of the tasks of its suite that its model was trained on, and what its submitters declared."""

    tasks: frozenset[int] = frozenset()
    statement: TrainingDataStatement = TrainingDataStatement.UNKNOWN


def training_of_runs(run_ids: Collection[UUID]) -> dict[UUID, KnownTraining]:
    """What is known of the training data of each run's model. Seven queries at most."""
    runs = list(Run.objects.filter(pk__in=run_ids).order_by().values_list("pk", "revision_id", "suite_id"))
    revisions = {revision for _, revision, _ in runs}
    contaminated = contaminated_tasks(revisions)
    statements = training_statements(revisions)
    named = frozenset[int]().union(*contaminated.values())
    suites = dict(Task.objects.filter(pk__in=named).order_by().values_list("pk", "suite_id")) if named else {}
    return {
        run: KnownTraining(
            tasks=frozenset(task for task in contaminated[revision] if suites[task] == suite),
            statement=statements.get(revision, TrainingDataStatement.UNKNOWN),
        )
        for run, revision, suite in runs
    }


def training_digest(known: Mapping[UUID, KnownTraining]) -> str:
    """SHA-256 of what is known: the same as long as boards made of it say the same."""
    rows = sorted((str(run), sorted(one.tasks), one.statement.value) for run, one in known.items())
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
