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


class OwnerOptedOut(ApplicationError):
    """The owner of the repository does not want it evaluated here."""

    code = "owner_opted_out"


class SuiteInapplicable(ApplicationError):
    """No installed task of the suite asks for what the model can embed."""

    code = "suite_inapplicable"


class TrainingDataUnknown(ApplicationError):
    """A data set was named that is in no suite of the board, or what was said of training data contradicts itself."""

    code = "training_data_unknown"


class EncodeConfigUnknown(ApplicationError):
    """The model's family has no such way to encode."""

    code = "encode_config_unknown"


class ClaimRefused(ApplicationError):
    """A claim of ownership is not proven, or is not this person's."""

    code = "claim_refused"


class PreflightFailed(ApplicationError):
    """The hub's repository cannot be evaluated."""

    code = "preflight_failed"


class SuiteMissing(ApplicationError):
    """No such suite, or nothing of it is installed."""

    code = "suite_missing"


class TokenLimitReached(ApplicationError):
    """The person has as many API tokens as one may have."""

    code = "token_limit_reached"


class AdministratorRefused(ApplicationError):
    """No administrator can be made with this name or password."""

    code = "administrator_refused"


class BackupFailed(ApplicationError):
    """The database cannot be written to, or read from, a backup."""

    code = "backup_failed"
