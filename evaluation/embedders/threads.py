"""How many threads a model computes with on a CPU."""

import sys

MAX_THREADS = 4


def fix_threads() -> int:
    """Let torch compute with at most `MAX_THREADS` threads from here on, and return how many.

    How a sum is split among threads can change its last bit, so the number must not follow the machine's cores as far
    as they allow. OMP_NUM_THREADS may set a smaller one. A model that needs no torch computes in one thread; torch is
    not loaded for its sake.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return 1
    threads: int = min(MAX_THREADS, torch.get_num_threads())
    torch.set_num_threads(threads)
    return threads
