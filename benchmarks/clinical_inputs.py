"""Invented texts and pictures that benchmarks of encoding and training measure with."""

from pathlib import Path

import numpy as np

WORDS = [
    "no",
    "acute",
    "finding",
    "in",
    "the",
    "left",
    "lower",
    "lobe",
    "of",
    "lung",
    "with",
    "small",
    "pleural",
    "effusion",
    "and",
    "heart",
    "size",
    "normal",
]
MEDIAN_WORDS, SPREAD = 24, 0.9
_SEED = 1


def make_texts(count: int, *, median_words: int = MEDIAN_WORDS, equal_words: int = 0) -> list[str]:
    """Texts of everyday clinical words: of log-normal lengths around a median, or all of `equal_words` words."""
    generator = np.random.default_rng(_SEED)
    lengths = np.exp(generator.normal(np.log(median_words), SPREAD, count)).astype(int) + 2
    if equal_words:
        lengths[:] = equal_words
    return [" ".join(generator.choice(WORDS, length)) for length in lengths]


def make_images(folder: Path, count: int) -> list[Path]:
    """PNG files of 300 to 500 pixels a side."""
    from PIL import Image  # noqa: PLC0415 - only where images are made

    generator = np.random.default_rng(2)
    files = []
    for number in range(count):
        coarse = Image.fromarray(generator.integers(0, 256, (9, 9, 3), dtype=np.uint8))
        width, height = generator.integers(300, 500, 2)
        files.append(folder / f"{number}.png")
        coarse.resize((int(width), int(height)), Image.Resampling.BICUBIC).save(files[-1])
    return files
