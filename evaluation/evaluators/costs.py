"""What it took to get the vectors of a task."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbeddingCost:
    """Seconds of embedding, and the largest memory of the process so far."""

    seconds: float = 0.0
    peak_memory_bytes: int = 0
