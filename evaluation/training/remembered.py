"""Frozen towers that remember the features of images: a dev suite shows them the same images after every few steps."""

import hashlib
from collections.abc import Sequence

import numpy as np
from PIL import Image

from evaluation.embedders.lite_towers import IMAGE_FEATURES, FrozenTowers
from evaluation.types import FloatMatrix

KnownImages = dict[bytes, FloatMatrix]


class RememberingTowers:
    """The towers, with features of images looked up in `known` by their pixels and added to it."""

    def __init__(self, towers: FrozenTowers, known: KnownImages) -> None:
        self._towers = towers
        self._known = known
        self.text_features = towers.text_features
        self.token_counts = towers.token_counts
        self.cuts = towers.cuts

    @property
    def parameters(self) -> int:
        """How many numbers both networks hold."""
        return self._towers.parameters

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit-length features, shape (len(images), 1280)."""
        keys = [_key(image) for image in images]
        new = {key: image for key, image in zip(keys, images, strict=True) if key not in self._known}
        if new:
            self._known.update(zip(new, self._towers.image_features(list(new.values())), strict=True))
        rows = [self._known[key] for key in keys]
        return np.stack(rows) if rows else np.empty((0, IMAGE_FEATURES), dtype=np.float32)


def _key(image: Image.Image) -> bytes:
    digest = hashlib.blake2b(f"{image.mode} {image.size}".encode(), digest_size=16)
    digest.update(image.tobytes())
    return digest.digest()
