"""The expected maximum of independent standard normal numbers, by quadrature.

It is what the Discrimination Score of a model that knows nothing rests on: with exchangeable similarities its mean is
the expected maximum over the positives minus that over the negatives, in standard deviations of the similarities.
"""

from functools import cache

import numpy as np

# The integrand vanishes within rounding at both ends, where the trapezoidal rule gains digits with every point.
_GRID = (-12.0, 12.0, 24_001)


def null_difference(positives: int, negatives: int) -> float:
    """Mean of max over `positives` minus max over `negatives` numbers, e.g. -0.39 for 4 against 8.

    Raises:
        ValueError: one side is empty.
    """
    return expected_normal_maximum(positives) - expected_normal_maximum(negatives)


@cache
def expected_normal_maximum(count: int) -> float:
    """Mean of the largest of `count` independent standard normal numbers: the integral of x k f(x) F(x)^(k - 1).

    Raises:
        ValueError: count is below 1.
    """
    if count < 1:
        raise ValueError(f"there is no largest of {count} numbers")
    points = np.linspace(*_GRID)
    density = np.exp(-(points**2) / 2) / np.sqrt(2 * np.pi)
    steps = (density[1:] + density[:-1]) / 2 * np.diff(points)
    below = np.concatenate([[0.0], np.cumsum(steps)])
    return float(np.trapezoid(points * count * density * below ** (count - 1), points))
