"""One place that turns whatever a decoder raises into an error that names the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from evaluation.errors import EvaluationError, InputTooLarge, InputUnreadable


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Translate every fault inside the block into `InputUnreadable` or `InputTooLarge` naming `path`."""
    try:
        yield
    except EvaluationError:
        raise
    except FileNotFoundError as error:
        raise InputUnreadable(f"{path} does not exist; install the images of this task.") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning, MemoryError) as error:
        why = str(error) or "it needs more memory than may be used"  # of a lack of memory Python says nothing
        raise InputTooLarge(f"{path} is too large to decode: {why}") from error
    except Exception as error:  # decoders raise anything at all on damaged files
        raise InputUnreadable(f"{path} cannot be decoded ({type(error).__name__}: {error}); check the file.") from error
