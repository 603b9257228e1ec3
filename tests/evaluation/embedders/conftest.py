"""Tiny repositories, written once, and a few inputs with real image files."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from evaluation.embedders import tiny
from evaluation.inputs import EmbeddingInput

SEED = 7


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Small models are fastest, and the machine is shared."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "clip-tiny"
    tiny.write_tiny_clip(folder, SEED)
    return folder


@pytest.fixture(scope="session")
def siglip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "siglip-tiny"
    tiny.write_tiny_siglip(folder, SEED)
    return folder


@pytest.fixture(scope="session")
def qwen_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "qwen3-vl-tiny"
    tiny.write_tiny_qwen3_vl(folder, SEED)
    return folder


@pytest.fixture(scope="session")
def qwen_adapter_folder(tmp_path_factory: pytest.TempPathFactory, qwen_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("models") / "qwen3-vl-tiny-lora"
    tiny.write_tiny_qwen3_vl_adapter(folder, qwen_folder, SEED)
    return folder


@pytest.fixture(scope="session")
def image_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four images of different sizes."""
    folder = tmp_path_factory.mktemp("images")
    generator = np.random.default_rng(3)
    files = []
    for number, (height, width) in enumerate([(64, 64), (90, 130), (150, 70), (64, 200)]):
        coarse = Image.fromarray(generator.integers(0, 256, (6, 6, 3), dtype=np.uint8))
        path = folder / f"{number}.png"
        coarse.resize((width, height), Image.Resampling.BICUBIC).save(path)
        files.append(path)
    return files


@pytest.fixture(scope="session")
def mixed_inputs(image_files: list[Path]) -> list[EmbeddingInput]:
    """Every kind of input, short and long, with and without instruction."""
    first, second, third, fourth = image_files
    return [
        EmbeddingInput(text="a nodule"),
        EmbeddingInput(text="no acute finding, and a long explanation of it. " * 6, instruction="Find the image"),
        EmbeddingInput(images=(first,)),
        EmbeddingInput(images=(second, third)),
        EmbeddingInput(images=(first, second, third, fourth), is_volume=True),
        EmbeddingInput(text="pneumonia?", images=(fourth,), instruction="Answer the question."),
    ]
