"""Algorithms that give the same bits every time, chosen for the whole process before a model is loaded.

torch has such a form of most operations. Where a model uses one of the others, it may go on with it, and the result
says so.
"""

import os
import sys

_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
_FIXED_WORKSPACE = ":4096:8"  # one of the two under which cuBLAS repeats itself; read when CUDA starts
_SIGN = "does not have a deterministic implementation"


def prepare_determinism() -> None:
    """Set what CUDA reads when it starts, so call this before a model is loaded."""
    os.environ[_WORKSPACE] = _FIXED_WORKSPACE


def require_determinism(*, strictly: bool = True) -> None:
    """From here on torch takes deterministic forms; `strictly`, an operation without one is an error.

    A model that needs no torch is repeatable anyway; torch is not loaded for its sake.
    """
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.use_deterministic_algorithms(True, warn_only=not strictly)
        # No operation here reads what it did not write, and filling costs time.
        torch.utils.deterministic.fill_uninitialized_memory = False


def lacks_deterministic_form(error: RuntimeError) -> bool:
    """Whether an error says that an operation has no deterministic form."""
    return _SIGN in str(error)
