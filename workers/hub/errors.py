"""What preflight can find besides the errors of `evaluation.hub`."""

from evaluation.errors import ErrorKind, EvaluationError


class CheckFailed(EvaluationError):
    """A check broke on what the repository holds: a fault of ours."""

    code = "check_failed"
    kind = ErrorKind.INFRASTRUCTURE


class ModelTooLarge(EvaluationError):
    """The files to download are larger than the limit."""

    code = "model_too_large"
    kind = ErrorKind.LIMIT
