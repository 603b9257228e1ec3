"""Ranks of the relevant candidates, without sorting and without a doubt about ties.

The similarity of a pair is defined as the float32 nearest to the dot product of two float32 unit vectors summed in
float64 (`pair_similarities`). It depends on the two vectors alone, so equal vectors tie exactly, and neither the order
of candidates nor the way a matrix product is cut into blocks can change a rank. Large shared pools are first compared
with a float32 matrix product, whose error is bounded; only candidates closer to the relevant one than that bound need
the exact value.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.types import FloatMatrix, IntVector, RankOutcomes, RetrievalQuery

FloatVector = NDArray[np.float32]
Positions = NDArray[np.intp]
Counts = NDArray[np.int64]

_QUERY_BLOCK = 1024
_CANDIDATE_BLOCK = 2048
_PAIR_BLOCK_NUMBERS = 1 << 18
_MAX_WAITING_PAIRS = 1 << 16
_BELOW_ALL = np.float32(-2)


def rank_outcomes(vectors: FloatMatrix, queries: Sequence[RetrievalQuery]) -> RankOutcomes:
    """Where the relevant candidates of each query stand.

    Args:
        vectors: float32 rows of unit length, shape (inputs, dimension); queries and candidates are positions in it.
        queries: at least one; a pool shared by queries is one tuple object.
    """
    above, tied = np.zeros((2, len(queries)), dtype=np.int64)
    for positions in _by_pool(queries):
        if len(positions) == 1:
            (position,) = positions
            above[position], tied[position] = _count_in_own_pool(vectors, queries[position])
        else:
            members = [queries[position] for position in positions]
            above[positions], tied[positions] = _count_in_shared_pool(vectors, members)
    return RankOutcomes(
        above=above.astype(np.int32),
        tied=tied.astype(np.int32),
        relevant=_int_vector(len(query.relevant) for query in queries),
        pool=_int_vector(len(query.pool) - (query.excluded is not None) for query in queries),
    )


def pair_similarities(left: FloatMatrix, right: FloatMatrix) -> FloatVector:
    """Similarity of row i of `left` with row i of `right` (or of one row with all), for unit vectors in [-1, 1].

    Products of float32 numbers are exact in float64, and each row is summed in the same order whatever stands around
    it, so a pair has one value everywhere.
    """
    products = np.multiply(left, right, dtype=np.float64)
    similarities: FloatVector = np.add.reduce(products, axis=1).astype(np.float32)
    return similarities


def product_error_bound(dimension: int) -> float:
    """How far a float32 matrix product of unit vectors can be from `pair_similarities`.

    A sum of d products in any order has an error of at most d u / (1 - d u) times the sum of their magnitudes (Higham,
    Accuracy and Stability of Numerical Algorithms, section 3.1), which is at most 1 for unit vectors; u = 2^-24. Four u
    more cover the rounding of the two exact values and of the limits, and a hundredth lengths that are not quite 1.
    """
    unit_roundoff = 2.0**-24
    growth = dimension * unit_roundoff
    return 1.01 * (growth / (1 - growth) + 4 * unit_roundoff)


def _by_pool(queries: Sequence[RetrievalQuery]) -> list[list[int]]:
    """Positions of the queries that share a pool, pool by pool."""
    groups: dict[int, list[int]] = {}
    for position, query in enumerate(queries):
        groups.setdefault(id(query.pool), []).append(position)
    return list(groups.values())


def _count_in_own_pool(vectors: FloatMatrix, query: RetrievalQuery) -> tuple[int, int]:
    row = vectors[[query.query]]
    tally = _ExactTally(row, vectors, pair_similarities(row, vectors[[min(query.relevant)]]))
    others = _not_rivals(query)
    tally.add(0, np.array([position for position in query.pool if position not in others], dtype=np.intp))
    tally.settle()
    return int(tally.above[0]), int(tally.tied[0])


def _count_in_shared_pool(vectors: FloatMatrix, queries: Sequence[RetrievalQuery]) -> tuple[Counts, Counts]:
    pool = np.array(queries[0].pool, dtype=np.intp)
    columns = {position: column for column, position in enumerate(queries[0].pool)}
    above, tied = np.zeros((2, len(queries)), dtype=np.int64)
    for start in range(0, len(queries), _QUERY_BLOCK):
        block = queries[start : start + _QUERY_BLOCK]
        rows = vectors[[query.query for query in block]]
        thresholds = pair_similarities(rows, vectors[[min(query.relevant) for query in block]])
        tally = _ExactTally(rows, vectors, thresholds)
        _sift(tally, pool, _own_columns(block, columns))
        above[start : start + len(block)] = tally.above
        tied[start : start + len(block)] = tally.tied
    return above, tied


def _own_columns(queries: Sequence[RetrievalQuery], columns: Mapping[int, int]) -> tuple[Positions, Positions]:
    """Row and column of everything that is no rival of its query, by column: the relevant candidates and its own copy."""
    pairs = [(columns[position], row) for row, query in enumerate(queries) for position in _not_rivals(query)]
    own_columns, rows = np.array(sorted(pairs), dtype=np.intp).T
    return rows, own_columns


class _ExactTally:
    """Counts rivals above and at the threshold of each row; pairs are collected and compared many at a time."""

    def __init__(self, rows: FloatMatrix, vectors: FloatMatrix, thresholds: FloatVector) -> None:
        self.rows = rows
        self.vectors = vectors
        self.thresholds = thresholds
        self.above, self.tied = np.zeros((2, len(rows)), dtype=np.int64)
        self._pairs: list[tuple[int, Positions]] = []
        self._n_pairs = 0

    def add(self, row: int, positions: Positions) -> None:
        """Note that these rivals of a row need an exact comparison."""
        self._pairs.append((row, positions))
        self._n_pairs += len(positions)
        if self._n_pairs >= _MAX_WAITING_PAIRS:
            self.settle()

    def settle(self) -> None:
        """Compare everything that was noted."""
        if self._n_pairs:
            rows = np.repeat([row for row, _ in self._pairs], [len(positions) for _, positions in self._pairs])
            self._compare(rows, np.concatenate([positions for _, positions in self._pairs]))
        self._pairs, self._n_pairs = [], 0

    def _compare(self, rows: Positions, positions: Positions) -> None:
        size = max(1, _PAIR_BLOCK_NUMBERS // self.vectors.shape[1])
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            similarities = pair_similarities(self.rows[part], self.vectors[positions[start : start + size]])
            self.above += np.bincount(part[similarities > self.thresholds[part]], minlength=len(self.above))
            self.tied += np.bincount(part[similarities == self.thresholds[part]], minlength=len(self.tied))


def _sift(tally: _ExactTally, pool: Positions, own: tuple[Positions, Positions]) -> None:
    """Tally a shared pool: by matrix product where its error cannot matter, exactly where it could."""
    rows = tally.rows
    bound = np.float32(product_error_bound(rows.shape[1]))
    low, high = tally.thresholds - bound, tally.thresholds + bound
    own_rows, own_columns = own
    buffer = np.empty(len(rows) * _CANDIDATE_BLOCK, dtype=np.float32)
    for start in range(0, len(pool), _CANDIDATE_BLOCK):
        block = pool[start : start + _CANDIDATE_BLOCK]
        similarities = buffer[: len(rows) * len(block)].reshape(len(rows), len(block))
        np.matmul(rows, tally.vectors[block].T, out=similarities)
        first, last = np.searchsorted(own_columns, (start, start + len(block)))
        similarities[own_rows[first:last], own_columns[first:last] - start] = _BELOW_ALL
        for number, row in enumerate(similarities):
            not_below = row >= low[number]
            above = row > high[number]
            n_above = np.count_nonzero(above)
            tally.above[number] += n_above
            if np.count_nonzero(not_below) > n_above:
                tally.add(number, block[not_below ^ above])
    tally.settle()


def _not_rivals(query: RetrievalQuery) -> frozenset[int]:
    return query.relevant if query.excluded is None else query.relevant | {query.excluded}


def _int_vector(values: Iterable[int]) -> IntVector:
    return np.fromiter(values, dtype=np.int32)
