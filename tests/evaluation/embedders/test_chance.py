"""Guessing is the same for the same content and knows nothing else."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluation.decoding import DecodedInput, decode
from evaluation.embedders.chance import ChanceEmbedder, load_chance
from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.registry import load_embedder
from evaluation.embedders.tiny import write_chance
from evaluation.errors import ModelInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily


def texts(*words: str) -> list[DecodedInput]:
    return [DecodedInput(EmbeddingInput(text=word)) for word in words]


def test_the_same_content_has_the_same_vector_and_another_has_another(image_files: list[Path]) -> None:
    embedder = ChanceEmbedder(dimension=8, seed=1)
    batch = [decode(EmbeddingInput(images=(path,))) for path in image_files[:2]]
    rows = embedder.embed([*batch, *texts("a", "b"), batch[0]])
    assert (rows[0] == rows[4]).all()
    assert len({row.tobytes() for row in rows}) == 4
    assert (embedder.embed(texts("b"))[0] == rows[3]).all()
    assert (ChanceEmbedder(dimension=8, seed=2).embed(texts("a"))[0] != rows[2]).any()


def test_parts_cannot_be_confused() -> None:
    embedder = ChanceEmbedder(dimension=4, seed=0)
    one, other = EmbeddingInput(text="ab", instruction="c"), EmbeddingInput(text="a", instruction="bc")
    rows = embedder.embed([DecodedInput(one), DecodedInput(other)])
    assert (rows[0] != rows[1]).any()
    wide, tall = Image.new("RGB", (4, 1)), Image.new("RGB", (1, 4))
    rows = embedder.embed([DecodedInput(EmbeddingInput(), (image,)) for image in (wide, tall)])
    assert (rows[0] != rows[1]).any()


def test_directions_are_spread_evenly() -> None:
    rows = ChanceEmbedder(dimension=16, seed=0).embed(texts(*map(str, range(2000)))).astype(np.float64)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    # the mean of n uniform directions has squared length 1/n; five standard deviations of room
    assert np.linalg.norm(units.mean(axis=0)) < 2.5 / np.sqrt(2000)
    assert np.abs(units.T @ units / 2000 - np.eye(16) / 16).max() < 0.02


def test_the_written_repository_loads(tmp_path: Path) -> None:
    write_chance(tmp_path, dimension=12, seed=5)
    embedder = load_embedder(tmp_path)
    assert (embedder.description.family, embedder.description.dimension) == ("chance", 12)
    assert (embedder.embed(texts("a")) == ChanceEmbedder(dimension=12, seed=5).embed(texts("a"))).all()


@pytest.mark.parametrize(
    "change", [{"dimension": 0}, {"dimension": "8"}, {"dimension": True}, {"seed": None}, {"seed": 1.5}]
)
def test_settings_out_of_range_are_named(tmp_path: Path, change: dict[str, object]) -> None:
    settings = {"model_type": "medboard-chance", "dimension": 8, "seed": 0, **change}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelInvalid, match=next(iter(change))):
        load_chance(tmp_path, device="cpu", config=encode_config(EmbedderFamily.CHANCE))
