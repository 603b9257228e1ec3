"""CheXzero: OpenAI's names to the CLIP family, with the authors' own way to see a radiograph."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional
from transformers import AutoTokenizer

from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import ConversionRefused
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.official_networks import Random, State, convert_tiny, write_byte_pairs
from tests.evaluation.embedders.open_clip_layouts import (
    clip_image_forward,
    clip_image_state,
    clip_text_forward,
    clip_text_state,
)
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone
from tests.evaluation.embedders.tiny_bert import tokens_of

WORDS, DIMENSION = 2 * 256 + 2, 24
MEAN, DEVIATION = 101.48761, 83.43944


def official_state() -> State:
    """As the authors' ViT-B/32: 224 pixels in patches of 32."""
    random = Random(21)
    state = clip_image_state(random, pixels=224, patch=32, dimension=DIMENSION)
    state |= clip_text_state(random, words=WORDS, tokens=77, dimension=DIMENSION)
    return state | {"logit_scale": torch.tensor(4.6)}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    marks = ("<|startoftext|>", "<|endoftext|>")
    folder = write_byte_pairs(tmp_path_factory.mktemp("chexzero") / "tokenizer", marks, end_of_word="</w>")
    settings = {"tokenizer_class": "CLIPTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: Path) -> Path:
    base = tmp_path_factory.mktemp("chexzero")
    return convert_tiny("chexzero", official_state(), base / "official", tokenizer=tokenizer)


def unit(row: torch.Tensor) -> np.ndarray[Any, Any]:
    return functional.normalize(row.double(), dim=0).numpy()


def cubic(distance: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Keys' kernel with a = -0.75, as torch has it."""
    a, x = -0.75, np.abs(distance)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def shrink(values: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    """Bicubic between four neighbours on each axis, without smoothing first; edges repeat."""
    matrix = np.zeros((size, len(values)))
    for row in range(size):
        middle = (row + 0.5) * len(values) / size - 0.5
        for neighbour in range(math.floor(middle) - 1, math.floor(middle) + 3):
            matrix[row, min(max(neighbour, 0), len(values) - 1)] += cubic(np.array(middle - neighbour))
    return matrix @ values @ matrix.T


def expected_pixels(path: Path) -> torch.Tensor:
    """Within 320 x 320 on black, grey, standardised on 0..255, then 224 x 224."""
    image = Image.open(path).convert("RGB")
    ratio = 320 / max(image.size)
    resized = image.resize(tuple(int(side * ratio) for side in image.size), Image.Resampling.LANCZOS).convert("L")
    left, top = (320 - resized.width) // 2, (320 - resized.height) // 2
    stored = np.zeros((320, 320))
    stored[top : top + resized.height, left : left + resized.width] = np.asarray(resized)
    small = shrink((stored - MEAN) / DEVIATION, 224)
    return torch.tensor(small, dtype=torch.float32)[None].repeat(3, 1, 1)


@torch.inference_mode()
def test_radiographs_are_seen_as_the_authors_code_sees_them(folder: Path, image_files: list[Path]) -> None:
    rows = embed_inputs(load_embedder(folder), [EmbeddingInput(images=(path,)) for path in image_files], batch_size=3)
    for row, path in zip(rows, image_files, strict=True):
        expected = clip_image_forward(official_state(), expected_pixels(path), quick=True)
        assert row @ unit(expected) > 1 - 1e-5


@torch.inference_mode()
def test_clips_own_preparation_would_be_another_vector(folder: Path, image_files: list[Path]) -> None:
    inputs = [EmbeddingInput(images=(path,)) for path in image_files]
    own, clips = (
        embed_inputs(load_embedder(folder, encode_config=name), inputs, batch_size=3) for name in ("", "default")
    )
    assert np.einsum("ij,ij->i", own, clips).max() < 0.999


@pytest.mark.parametrize("text", ["no pneumonia", "Pneumothorax", "effusion " * 30])
@torch.inference_mode()
def test_texts_are_those_of_clip(folder: Path, tokenizer: Path, text: str) -> None:
    """A text of more than 77 tokens, which the authors' code refuses, is cut with the end mark kept."""
    tokens = tokens_of(AutoTokenizer.from_pretrained(tokenizer), text, 77)
    expected = clip_text_forward(official_state(), tokens, quick=True)
    embedder = load_embedder(folder)
    assert embed_inputs(embedder, [EmbeddingInput(text=text)], batch_size=1)[0] @ unit(expected) > 1 - 1e-5
    assert embedder.cuts([text]) == [len(tokens) == 77]


def test_a_batch_of_one_equals_a_batch_of_many(folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(folder)
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < 1e-6
    assert len({row.tobytes() for row in many}) == len(mixed_inputs)


def test_a_converted_folder_is_a_clip_with_a_config_of_its_own(folder: Path) -> None:
    description = load_embedder(folder).description
    assert description.family is EmbedderFamily.CLIP
    assert description.dimension == DIMENSION
    assert description.encode_config["name"] == "chexzero"
    assert "101.48761" in str(description.encode_config["image"])
    assert "refuses" in str(description.encode_config["text"])


def test_a_very_narrow_picture_keeps_a_line(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "narrow.png"
    Image.new("RGB", (1_000, 2), (200, 200, 200)).save(path)
    row = embed_inputs(load_embedder(folder), [EmbeddingInput(images=(path,))], batch_size=1)[0]
    assert np.isfinite(row).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("visual.proj", None),
        ("text_projection", None),
        ("transformer.resblocks.1.attn.in_proj_bias", None),
        ("visual.transformer.resblocks.0.attn.in_proj_weight", torch.ones(4, 128)),
        ("backdoor", torch.ones(1)),
    ],
)
def test_other_checkpoints_are_not_converted(
    tokenizer: Path, tmp_path: Path, name: str, value: torch.Tensor | None
) -> None:
    state = official_state()
    state.pop(name, None)
    state |= {} if value is None else {name: value}
    with pytest.raises(ConversionRefused):
        convert_tiny("chexzero", state, tmp_path / "official", tokenizer=tokenizer)


def test_what_a_gpu_computes_in_is_close_to_float32(
    folder: Path, mixed_inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = embed_inputs(load_embedder(folder), mixed_inputs, batch_size=3)
    monkeypatch.setattr("evaluation.embedders.clip.compute_dtype", lambda _device, _config: torch.bfloat16)
    embedder = load_embedder(folder)
    assert embedder.description.encode_config["dtype"] == "bfloat16"
    rows = embed_inputs(embedder, mixed_inputs, batch_size=3)
    assert np.einsum("ij,ij->i", exact, rows).min() > 0.99
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6


def test_the_vector_of_an_image_depends_on_nothing_else(folder: Path, image_files: list[Path]) -> None:
    assert_images_stand_alone(load_embedder(folder), image_files)
