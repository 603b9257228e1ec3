"""Everything that the board stores about a person, as values for JSON."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount

from leaderboard.models import (
    Act,
    Delivery,
    NotificationSettings,
    OwnerClaim,
    Run,
    RunEvent,
    Score,
    Submission,
    TrainingDataMark,
    User,
)

LEFT_OUT = "The password is stored as a hash only, and the secret of a webhook is on the page of notifications."


def personal_data(user: User) -> dict[str, Any]:
    """The account, its addresses and connected accounts, what was submitted and came of it, claims, messages and acts.

    Times are in ISO 8601, UTC. Eleven queries, whatever there is.
    """
    return {
        "account": _account(user),
        "addresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "connected_accounts": list(
            SocialAccount.objects.filter(user=user).values("provider", "uid", "extra_data", "date_joined", "last_login")
        ),
        "submissions": _submissions(user),
        "notifications": list(NotificationSettings.objects.filter(user=user).values("by_email", "webhook_url")),
        "messages": list(
            Delivery.objects.filter(recipient=user).values(
                "run_id", "channel", "address", "state", "content", "created_at", "finished_at"
            )
        ),
        "claims": list(
            OwnerClaim.objects.filter(claimant=user).values(
                "repo_id", "token", "proof", "commit", "proven_at", "is_shown", "created_at"
            )
        ),
        "findings": list(
            TrainingDataMark.objects.filter(marked_by=user).values(
                "model__repo_id", "dataset", "verdict", "reason", "marked_at"
            )
        ),
        "acts": list(RunEvent.objects.filter(actor=user.get_username()).values("run_id", "at", "to_state", "reason")),
        "log": list(Act.objects.filter(actor=user.get_username()).values("at", "kind", "subject", "reason", "details")),
        "left_out": LEFT_OUT,
    }


def _account(user: User) -> dict[str, Any]:
    names = ("username", "email", "first_name", "last_name", "is_staff", "date_joined", "last_login",
             "submissions_per_day", "submissions_at_once")  # fmt: skip
    return {name: getattr(user, name) for name in names}


def _submissions(user: User) -> list[dict[str, Any]]:
    """Every submission with its runs and their main scores."""
    scores: dict[Any, list[dict[str, Any]]] = {}
    of_user = Score.objects.filter(task_run__run__submission__submitter=user, is_main=True)
    for run, task, metric, value, lower, upper in of_user.values_list(
        "task_run__run", "task_run__task__name", "metric", "value", "lower", "upper"
    ):
        scores.setdefault(run, []).append(
            {"task": task, "metric": metric, "value": value, "lower": lower, "upper": upper}
        )
    runs: dict[Any, list[dict[str, Any]]] = {}
    for run in Run.objects.filter(submission__submitter=user).order_by("attempt"):
        runs.setdefault(run.submission_id, []).append(
            {
                "run": run.pk,
                "attempt": run.attempt,
                "state": run.state,
                "is_published": run.is_published,
                "created_at": run.created_at,
                "finished_at": run.finished_at,
                "error": run.error_message,
                "scores": scores.get(run.pk, []),
            }
        )
    submissions = Submission.objects.filter(submitter=user).select_related("revision__model", "suite")
    return [
        {
            "submission": submission.pk,
            "model": submission.revision.model.repo_id,
            "commit": submission.revision.commit,
            "adapter": submission.revision.adapter_repo_id,
            "suite": str(submission.suite),
            "is_private": submission.is_private,
            "training_data": submission.training_data,
            "declared_training_data": submission.declared_training_data,
            "created_at": submission.created_at,
            "runs": runs.get(submission.pk, []),
        }
        for submission in submissions
    ]
