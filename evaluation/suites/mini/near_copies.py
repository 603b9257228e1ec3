"""Finds pictures that are copies of one another but for encoding or size, where a publisher gives no patient ids."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.suites.mini.source import RawCase

THUMBNAIL = 32
# Correlation of grey thumbnails. Copies measure 0.999 and more; different fundus photographs reach 0.996.
NEAR_COPY = 0.998


def thumbnails(files: Sequence[Path]) -> NDArray[np.float64]:
    """A centred unit vector of the grey thumbnail of each file, (len(files), 1024)."""
    rows = []
    for file in files:
        with Image.open(file) as image:
            grey = np.asarray(image.convert("L").resize((THUMBNAIL, THUMBNAIL)), dtype=np.float64).ravel()
        centred = grey - grey.mean()
        rows.append(centred / max(float(np.linalg.norm(centred)), 1e-9))
    return np.stack(rows)


def join_near_copies(cases: Sequence[RawCase], others: Sequence[RawCase] = ()) -> list[RawCase]:
    """The cases, each with the patient of its first near copy among `others` and the cases before it."""
    known = [*others, *cases]
    rows = thumbnails([case.file for case in known])
    alike = rows @ rows.T >= NEAR_COPY
    joined = list(known)
    for number in range(len(others), len(known)):
        first = int(np.flatnonzero(alike[number])[0])
        joined[number] = replace(known[number], patient=joined[first].patient)
    return joined[len(others) :]
