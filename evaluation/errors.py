"""Errors of the evaluation library.

Each has a stable `code` (stored, shown, tested), a `kind` that tells a worker whether trying again can help, and a
message that names the file, record or field and says what to do next.
"""

from enum import StrEnum


class ErrorKind(StrEnum):
    """Who has to act. Only `infrastructure` is ever retried without a person."""

    MODEL = "model"
    DATA = "data"
    INFRASTRUCTURE = "infrastructure"
    LIMIT = "limit"


class EvaluationError(Exception):
    """Base of every error that this library raises on purpose."""

    code = "evaluation_error"
    kind = ErrorKind.INFRASTRUCTURE

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InputUnreadable(EvaluationError):
    """An image, volume or text cannot be read."""

    code = "input_unreadable"
    kind = ErrorKind.DATA


class InputTooLarge(InputUnreadable):
    """An image has more pixels, or a volume more slices, than the limit allows."""

    code = "input_too_large"


class SuiteInvalid(EvaluationError):
    """A suite's manifest or folder is not what the format asks for."""

    code = "suite_invalid"
    kind = ErrorKind.DATA


class RecordInvalid(SuiteInvalid):
    """A record of a task file breaks the record format."""

    code = "record_invalid"


class DataMissing(SuiteInvalid):
    """A task file or an image of it is not installed."""

    code = "data_missing"


class ArchiveInvalid(SuiteInvalid):
    """An archive of images is damaged, of a kind that is not unpacked, or does not fit what lies there already."""

    code = "archive_invalid"


class ArchiveUnsafe(ArchiveInvalid):
    """An archive would write outside its folder, make links or devices, or fill the disk."""

    code = "archive_unsafe"


class TaskUnknown(EvaluationError):
    """A task was asked for that the suite does not have."""

    code = "task_unknown"
    kind = ErrorKind.DATA


class ModelUnsupported(EvaluationError):
    """The repository's architecture is not one that can be loaded."""

    code = "model_unsupported"
    kind = ErrorKind.MODEL


class ModelUnsafe(EvaluationError):
    """The repository would need code or pickled weights of its own to run."""

    code = "model_unsafe"
    kind = ErrorKind.MODEL


class OwnCode(ModelUnsafe):
    """A configuration file asks for code from the repository."""

    code = "own_code"


class OwnModules(ModelUnsafe):
    """modules.json names a class that is not of sentence-transformers."""

    code = "own_modules"


class AttentionUnknown(ModelUnsafe):
    """A configuration file asks for an attention that may be code from elsewhere."""

    code = "attention_unknown"


class TemplateUnsafe(ModelUnsafe):
    """A chat template is huge or may run without end."""

    code = "template_unsafe"


class PathOutside(ModelUnsafe):
    """A file of the repository names files outside of it."""

    code = "path_outside"


class LinkOutside(ModelUnsafe):
    """A file of a model folder is a link to what lies outside of it."""

    code = "link_outside"


class PicklesOnly(ModelUnsafe):
    """The weights are there only as pickles, which can run code."""

    code = "weights_pickled"


class HeaderTooLarge(ModelUnsafe):
    """A weight file announces a header that would fill the memory."""

    code = "header_too_large"


class SizesImplausible(ModelUnsafe):
    """A configuration describes a network far larger than the weights beside it."""

    code = "sizes_implausible"


class ModelInvalid(EvaluationError):
    """Files of the repository are missing, damaged or do not fit together."""

    code = "model_invalid"
    kind = ErrorKind.MODEL


class WeightsDamaged(ModelInvalid):
    """A weight file is cut, or its header does not fit what follows."""

    code = "weights_damaged"


class AdapterMismatch(ModelInvalid):
    """An adapter's weights do not all find their place in the base model."""

    code = "adapter_mismatch"


class ConversionRefused(ModelInvalid):
    """A file is not the official checkpoint that a conversion was asked for."""

    code = "conversion_refused"


class SystemsInvalid(EvaluationError):
    """The table of known systems breaks its format."""

    code = "systems_invalid"
    kind = ErrorKind.DATA


class InputUnsupported(EvaluationError):
    """The embedder cannot embed this kind of input."""

    code = "input_unsupported"
    kind = ErrorKind.MODEL


class ProbeTooLong(EvaluationError):
    """The model would read only the beginning of a probe, whose meaning may hang on its end."""

    code = "probe_too_long"
    kind = ErrorKind.MODEL


class EmbeddingInvalid(EvaluationError):
    """An embedding is not finite, is zero, or has the wrong shape."""

    code = "embedding_invalid"
    kind = ErrorKind.MODEL


class OutOfMemory(EvaluationError):
    """The model, or one input alone, needs more memory than there is."""

    code = "out_of_memory"
    kind = ErrorKind.LIMIT


class StoreUnavailable(EvaluationError):
    """The folder of the embedding store cannot be used."""

    code = "store_unavailable"


class ResultInvalid(EvaluationError):
    """A result file or embeddings file does not follow its schema."""

    code = "result_invalid"
    kind = ErrorKind.DATA


class UnexpectedFailure(EvaluationError):
    """A defect of this program or a lack of memory ended a task; the log has the traceback."""

    code = "unexpected_failure"


class RequestInvalid(EvaluationError):
    """A worker sent something that is no request."""

    code = "request_invalid"


class TrainingRefused(EvaluationError):
    """A training cannot start as it was asked for: its settings, its sources or its folder do not allow it."""

    code = "training_refused"
    kind = ErrorKind.DATA


class CheckpointInvalid(EvaluationError):
    """A checkpoint of a training is damaged, or belongs to another training."""

    code = "checkpoint_invalid"
    kind = ErrorKind.DATA


class TrainingDiverged(EvaluationError):
    """The loss or a gradient is no longer a finite number."""

    code = "training_diverged"
    kind = ErrorKind.MODEL
