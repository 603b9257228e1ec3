"""Training lite-dual end to end on a suite of a few images."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from evaluation.commands.train import app
from evaluation.errors import DataMissing, RecordInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.manifest import write_manifest
from evaluation.suites.records import Evidence, TrainingPair, pair_to_json
from evaluation.training.pairs import read_training_pairs
from evaluation.types import SuiteSpec

COLOURS = {"red": (200, 30, 30), "green": (30, 180, 40), "blue": (30, 40, 200)}


def paint(path: Path, colour: tuple[int, int, int], seed: int) -> None:
    noise = np.random.default_rng(seed).integers(-25, 26, (48, 48, 3))
    Image.fromarray(np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8)).save(path)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("colours")
    (folder / "Train_Data").mkdir()
    write_manifest(folder, SuiteSpec("colours", "1", "Colours (synthetic)", synthetic=True, tasks=()))
    lines = []
    for name, colour in COLOURS.items():
        for number in range(3):
            paint(folder / f"{name}{number}.png", colour, number)
            pair = TrainingPair(
                "Name the colour.", Evidence(images=(f"{name}{number}.png",)), Evidence(text=name), name
            )
            lines.append(json.dumps(pair_to_json(pair)) + "\n")
    (folder / "Train_Data" / "colours.jsonl").write_text("".join(lines))
    return folder


def test_the_trained_model_names_unseen_images(suite: Path, tmp_path: Path) -> None:
    from evaluation.decoding import decode
    from evaluation.embedders.registry import load_embedder

    result = CliRunner().invoke(app, ["lite-dual", "--suite", str(suite), "--out", str(tmp_path / "model")])
    assert result.exit_code == 0, result.output
    model = load_embedder(tmp_path / "model")
    names = list(COLOURS)
    texts = model.embed([decode(EmbeddingInput(text=name)) for name in names])
    for number, (name, colour) in enumerate(COLOURS.items()):
        paint(tmp_path / f"{name}.png", colour, 100)
        image = model.embed([decode(EmbeddingInput(images=(tmp_path / f"{name}.png",)))])
        assert int((image @ texts.T).argmax()) == number

    card = (tmp_path / "model" / "README.md").read_text()
    assert "synthetic phantoms" in card
    assert "No score is claimed" in card

    again = CliRunner().invoke(app, ["lite-dual", "--suite", str(suite), "--out", str(tmp_path / "again")])
    assert again.exit_code == 0, again.output
    for file in sorted((tmp_path / "model").iterdir()):
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name

    refused = CliRunner().invoke(app, ["lite-dual", "--suite", str(suite), "--out", str(tmp_path / "again")])
    assert refused.exit_code == 1
    assert "already holds files" in refused.output


def test_pairs_are_read_as_they_were_written(suite: Path) -> None:
    pairs = read_training_pairs(suite)
    assert len(pairs) == 9
    assert pairs[0].source == "colours"
    assert pairs[0].instruction == "Name the colour."
    assert pairs[0].query.text == ""
    assert pairs[0].query.images == (suite / "red0.png",)
    assert pairs[0].positive.text == "red"
    assert pairs[0].label == "red"


def line_with(content: str) -> str:
    """A pair without images whose user says `content`."""
    messages = [{"role": "user", "content": content}]
    return json.dumps({"messages": messages, "images": [], "positive_messages": [[{"role": "user", "content": "x"}]]})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1 is not a training pair"),
        ('{"messages": []}', "line 1 is not a training pair"),
        (line_with("<image>"), "1 <image> marks for 0 images"),
        (line_with(" "), "neither text nor images"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "Train_Data").mkdir()
    (tmp_path / "Train_Data" / "set.jsonl").write_text(line + "\n")
    with pytest.raises(RecordInvalid, match=message):
        read_training_pairs(tmp_path)


def test_missing_pairs_and_images_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="holds no training pairs"):
        read_training_pairs(tmp_path)
    (tmp_path / "Train_Data").mkdir()
    pair = TrainingPair("", Evidence(images=("gone.png",)), Evidence(text="x"))
    (tmp_path / "Train_Data" / "set.jsonl").write_text(json.dumps(pair_to_json(pair)) + "\n")
    with pytest.raises(DataMissing, match=r"gone\.png does not exist"):
        read_training_pairs(tmp_path)
