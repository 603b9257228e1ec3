"""Queues the reruns of a plan that an administrator has confirmed."""

from collections.abc import Collection
from dataclasses import dataclass

from leaderboard.exceptions import ApplicationError
from leaderboard.models import Run, Suite, User
from leaderboard.selectors.reruns import RerunPlan, RerunScope
from leaderboard.services.runs import run_rerun


@dataclass(frozen=True, slots=True)
class Requeued:
    """What was queued, and for each run that was refused the reason."""

    runs: tuple[Run, ...]
    refused: tuple[tuple[Run, str], ...]


def reruns_create(
    *,
    plan: RerunPlan,
    actor: User,
    scope: RerunScope,
    suite: Suite | None = None,
    tasks: Collection[str] = (),
    reason: str = "",
) -> Requeued:
    """Queue every rerun of a plan, each by itself: what happened to one since the preview does not stop the others."""
    queued, refused = [], []
    for planned in plan.reruns:
        try:
            run = run_rerun(
                run_id=planned.source.pk,
                actor=actor,
                failed_only=scope == RerunScope.FAILED,
                tasks=tasks if scope == RerunScope.TASKS else (),
                suite=suite,
                reason=reason,
            )
        except ApplicationError as error:
            refused.append((planned.source, error.message))
        else:
            queued.append(run)
    return Requeued(tuple(queued), tuple(refused))
