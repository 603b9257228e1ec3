"""A value with its interval, and the difference of two paired values, both from bootstrap replicates.

Replicates are one-dimensional: the observed value first, then one value a resample.
"""

from dataclasses import dataclass

import numpy as np

from evaluation.statistics.bootstrap import FloatArray, percentile_interval

EQUAL = 1e-9
"""Values that differ by no more are equal: sums in another order differ in the last bits."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with the ends of its 95% interval; both ends are None where some resample has no value."""

    value: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A minus B with its interval, and the share of resamples in which A is higher, a tie counting half.

    That share is the bootstrap's estimate of the probability that A would be the higher one if other queries of the
    same kind had been asked.
    """

    value: float
    lower: float
    upper: float
    probability_higher: float

    @property
    def is_separated(self) -> bool:
        """Whether the interval excludes zero."""
        return self.lower > EQUAL or self.upper < -EQUAL


def estimate(replicates: FloatArray) -> Estimate:
    """The observed value and its percentile interval, widened to hold the value where rounding put it outside.

    Raises:
        ValueError: the observed value is not finite.
    """
    value = float(replicates[0])
    if not np.isfinite(value):
        raise ValueError(f"the observed value is {value}, which no interval can hold")
    if not np.isfinite(replicates).all():
        return Estimate(value, None, None)
    lower, upper = (float(end) for end in percentile_interval(replicates[1:]))
    return Estimate(value, min(lower, value), max(upper, value))


def difference(one: FloatArray, other: FloatArray) -> Difference:
    """The paired difference of two replicates that share their resamples.

    Raises:
        ValueError: a replicate is not finite.
    """
    gaps = one - other
    found = estimate(gaps)
    if found.lower is None or found.upper is None:
        raise ValueError("a resample without a value has no difference")
    higher = (gaps[1:] > EQUAL).mean() + (np.abs(gaps[1:]) <= EQUAL).mean() / 2
    return Difference(found.value, found.lower, found.upper, float(higher))
