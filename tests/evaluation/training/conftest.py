"""A tiny base model and training files, written once."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from evaluation.embedders import tiny

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


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Small models are fastest, and the machine is shared."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def base_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bases") / "qwen3-vl-tiny"
    tiny.write_tiny_qwen3_vl(folder, 7)
    return folder


def line(query: str, positive: str, **more: Any) -> dict[str, Any]:
    """A record of texts."""
    return {
        "messages": [{"role": "system", "content": "Find it."}, {"role": "user", "content": query}],
        "positive_messages": [[{"role": "user", "content": positive}]],
        **more,
    }


def write_lines(folder: Path, name: str, lines: list[dict[str, Any]]) -> None:
    (folder / "Train_Data").mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(each) + "\n" for each in lines)
    (folder / "Train_Data" / f"{name}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture(scope="session")
def mixed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sources: reports of mixed lengths, and images with labels and a hard negative."""
    folder = tmp_path_factory.mktemp("training")
    generator = np.random.default_rng(4)
    reports = [
        line(
            " ".join(generator.choice(WORDS, 2 + number % 9)),
            f"report {number} " + " ".join(generator.choice(WORDS, 3)),
        )
        for number in range(14)
    ]
    write_lines(folder, "reports", reports)
    images = []
    for number in range(6):
        pixels = generator.integers(0, 256, (64, 64 + 32 * (number % 3), 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        label = ("nodule", "normal")[number % 2]
        negative = [[{"role": "user", "content": ("normal", "nodule")[number % 2]}]]
        images.append(
            line("<image>What is shown?", label, images=[f"{number}.png"], label=label, negative_messages=negative)
        )
    write_lines(folder, "images", images)
    return folder
