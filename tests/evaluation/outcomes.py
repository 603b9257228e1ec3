"""Outcomes made by hand: which queries hit, in pools of a known size."""

from collections.abc import Sequence

import numpy as np

from evaluation.types import RankOutcomes


def outcomes_of(hits: Sequence[int], *, pool: int = 4, tied: int = 0) -> RankOutcomes:
    """One relevant candidate a query; a miss stands behind one other candidate, a hit beside `tied` equal ones."""
    missed = 1 - np.array(hits, dtype=np.int32)
    return RankOutcomes(
        above=missed,
        tied=np.where(missed == 0, tied, 0).astype(np.int32),
        relevant=np.ones_like(missed),
        pool=np.full_like(missed, pool),
    )


def share_of_hits(share: float, *, queries: int, pool: int = 4) -> RankOutcomes:
    """The first queries hit."""
    return outcomes_of([int(number < round(share * queries)) for number in range(queries)], pool=pool)
