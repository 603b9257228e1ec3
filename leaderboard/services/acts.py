"""The log of administrative acts. Whoever acts writes the act in the same transaction, so neither exists alone."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Model

from leaderboard.models import Act, EmbeddingModel, Run
from leaderboard.models.vocabulary import ActKind


@transaction.atomic
def act_record(
    *,
    actor: str,
    kind: ActKind,
    subject: Model | str,
    reason: str = "",
    details: Mapping[str, Any] | None = None,
) -> Act:
    """Add an act to the log. Runs inside the transaction of what it tells of.

    `subject` is what the act was done to: a run, a model, another row, or words.
    """
    run_id, repo_id = None, ""
    match subject:
        case Run():
            run_id, repo_id = subject.pk, subject.revision.model.repo_id
        case EmbeddingModel():
            repo_id = subject.repo_id
    return Act.objects.create(
        actor=actor,
        kind=kind,
        subject=str(subject),
        run_id=run_id,
        repo_id=repo_id,
        reason=reason,
        details=dict(details or {}),
    )
