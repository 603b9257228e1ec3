"""What can go wrong between this program and a hub. The kind says whether trying again can help."""

from evaluation.errors import ErrorKind, EvaluationError


class HubUnavailable(EvaluationError):
    """The hub does not answer, answers with an error of its own, or refuses the token that it was given."""

    code = "hub_unavailable"
    kind = ErrorKind.INFRASTRUCTURE


class DownloadFailed(EvaluationError):
    """The files could not be stored, or what was stored is not what the hub lists."""

    code = "download_failed"
    kind = ErrorKind.INFRASTRUCTURE


class DiskFull(EvaluationError):
    """The disk, or the share of it that models may take, has no room for a download."""

    code = "disk_full"
    kind = ErrorKind.INFRASTRUCTURE


class RepositoryMissing(EvaluationError):
    """There is no such repository, or it is private: a hub does not tell which."""

    code = "repository_missing"
    kind = ErrorKind.MODEL


class RepositoryGated(EvaluationError):
    """The repository's files are given only to accounts that its owner let in."""

    code = "repository_gated"
    kind = ErrorKind.MODEL


class RepositoryForbidden(EvaluationError):
    """The hub refuses access for another reason, e.g. a disabled repository."""

    code = "repository_forbidden"
    kind = ErrorKind.MODEL


class RevisionMissing(EvaluationError):
    """The repository has no such branch, tag or commit."""

    code = "revision_missing"
    kind = ErrorKind.MODEL


class ModelTooLarge(EvaluationError):
    """The files to download are larger than the limit."""

    code = "model_too_large"
    kind = ErrorKind.LIMIT
