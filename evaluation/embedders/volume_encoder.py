"""Models with one tower for whole volumes and one for texts, in one space."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.decoding import DecodedInput
from evaluation.decoding.volumes import Volume
from evaluation.embedders.dual_encoder import PartsEncoder, TextSide


class VolumeTowers(TextSide, Protocol):
    """What a family of volumes provides."""

    def volume_features(self, volume: Volume) -> NDArray[np.float32]:
        """The vector of one volume as the tower gives it, shape (dimension,)."""
        ...


class VolumeEncoder(PartsEncoder):
    """A volume goes through its tower as a whole, with its measured intensities; one at a time, since it is large."""

    def __init__(self, towers: VolumeTowers) -> None:
        super().__init__(towers)
        self._towers = towers

    def _visual_rows(self, inputs: Sequence[DecodedInput]) -> list[NDArray[np.float32]]:
        return [self._towers.volume_features(decoded.volume()) for decoded in inputs]
