"""Errors of the leaderboard: each has a stable code and a sentence for people."""


class ApplicationError(Exception):
    """A rule of the application was broken; the message can be shown to the person who caused it."""

    code = "application_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class TransitionRefused(ApplicationError):
    """The object is not in a state from which this step is allowed."""

    code = "transition_refused"


class LeaseLost(ApplicationError):
    """The worker's lease expired or was given to another; its write is refused."""

    code = "lease_lost"


class SubmissionsPaused(ApplicationError):
    """An administrator paused submissions."""

    code = "submissions_paused"


class DuplicateSubmission(ApplicationError):
    """The revision was already evaluated, or is being evaluated, on this suite."""

    code = "duplicate_submission"


class QuotaExceeded(ApplicationError):
    """The person has submitted as much as they may for now."""

    code = "quota_exceeded"


class PreflightFailed(ApplicationError):
    """The hub's repository cannot be evaluated."""

    code = "preflight_failed"


class SuiteMissing(ApplicationError):
    """No such suite, or nothing of it is installed."""

    code = "suite_missing"


class AdministratorRefused(ApplicationError):
    """No administrator can be made with this name or password."""

    code = "administrator_refused"


class BackupFailed(ApplicationError):
    """The database cannot be written to, or read from, a backup."""

    code = "backup_failed"
