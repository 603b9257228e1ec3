"""A volume on another grid: other voxels, a window of intensities, a fixed extent."""

import numpy as np

from evaluation.decoding.volumes import FloatGrid, Triple, Volume


def resample(volume: Volume, spacing: Triple) -> Volume:
    """The volume with voxels of `spacing` mm, by linear interpolation along its own axes.

    The centres of the first voxels coincide, and an axis of n voxels of a mm gets round((n - 1) * a / b + 1) voxels of
    b mm; where that reaches past the last centre, the last voxel is repeated. MONAI's `Spacing` does the same with
    its defaults (`bilinear`, border).
    """
    values = volume.values
    for axis in np.argsort([new / old for new, old in zip(spacing, volume.spacing, strict=True)])[::-1]:
        values = _resample_axis(values, int(axis), ratio=spacing[axis] / volume.spacing[axis])
    return Volume(values, spacing)


def windowed(values: FloatGrid, low: float, high: float) -> FloatGrid:
    """`low`..`high` mapped linearly to 0..1 and cut off beyond."""
    scaled: FloatGrid = np.clip((values - np.float32(low)) / np.float32(high - low), 0, 1)
    return scaled


def centred(values: FloatGrid, shape: tuple[int, int, int]) -> FloatGrid:
    """The middle of the grid with the given shape, zeros around where it is smaller.

    Where the margins of an axis differ by one, the zeros after are one more, and a cut starts at
    n // 2 - shape // 2, as in MONAI's `SpatialPad` and `CenterSpatialCrop`.
    """
    missing = [max(wanted - found, 0) for wanted, found in zip(shape, values.shape, strict=True)]
    padded = np.pad(values, [(count // 2, count - count // 2) for count in missing])
    starts = [found // 2 - wanted // 2 for wanted, found in zip(shape, padded.shape, strict=True)]
    x, y, z = (slice(start, start + wanted) for start, wanted in zip(starts, shape, strict=True))
    return padded[x, y, z]


def _resample_axis(values: FloatGrid, axis: int, *, ratio: float) -> FloatGrid:
    last = values.shape[axis] - 1
    count = int(np.rint(last / ratio + 1))
    positions = np.minimum(np.arange(count) * ratio, last)
    below = positions.astype(np.intp)
    above = np.minimum(below + 1, last)
    share = (positions - below).astype(np.float32)
    share = share.reshape([-1 if number == axis else 1 for number in range(values.ndim)])
    mixed: FloatGrid = np.take(values, below, axis) * (1 - share) + np.take(values, above, axis) * share
    return mixed
