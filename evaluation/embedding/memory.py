"""Going on when a batch does not fit into memory: half of it at a time, down to one input."""

import sys
from collections.abc import Callable, Sequence

import numpy as np

from evaluation.decoding import DecodedInput
from evaluation.errors import EvaluationError, OutOfMemory, UnexpectedFailure
from evaluation.types import FloatMatrix

Embed = Callable[[Sequence[DecodedInput]], FloatMatrix]

# What torch and its back ends say when an allocation fails, on a GPU and on a CPU.
_SIGNS = ("out of memory", "can't allocate memory", "not enough memory", "alloc_failed")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory did not suffice. torch raises plain RuntimeErrors for most such failures."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)


def unexpected_failure(error: Exception) -> EvaluationError:
    """What to report of an error that nobody raised on purpose: a lack of memory, or a defect."""
    words = f"{type(error).__name__}: {error}"
    if is_out_of_memory(error):
        return OutOfMemory(f"The memory did not suffice ({words[:200]}). Use a device with more memory.")
    return UnexpectedFailure(words)


def embed_in_parts(
    embed: Embed, batch: Sequence[DecodedInput], *, on_halving: Callable[[int], None], depth: int = 0
) -> FloatMatrix:
    """Embed a batch; where memory does not suffice, its first half and then its second, and so on.

    Args:
        embed: gives one row an input.
        batch: at least one input.
        on_halving: called before each retry with half of the inputs, with how often this part was halved: 1, 2 ...
        depth: how often the batch was halved before.

    Raises:
        OutOfMemory: one input alone does not fit; the message names it.
    """
    reason = ""
    try:
        return embed(batch)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        reason = str(error)
    # Outside of the handler: its traceback would keep the failed attempt's tensors alive.
    _release_cached_memory()
    if len(batch) == 1:
        raise OutOfMemory(
            f"{batch[0].source.label}: it does not fit into memory on its own ({reason[:200]}). "
            "Use a device with more memory."
        )
    on_halving(depth + 1)
    middle = (len(batch) + 1) // 2
    return np.concatenate(
        [
            embed_in_parts(embed, part, on_halving=on_halving, depth=depth + 1)
            for part in (batch[:middle], batch[middle:])
        ]
    )


def _release_cached_memory() -> None:
    """Give back what torch keeps for later, so that smaller blocks can be cut from it."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
