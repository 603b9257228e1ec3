"""Training lite-dual end to end on a suite of a few images."""

import inspect
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from PIL import Image
from typer.testing import CliRunner

from evaluation.commands.train import app
from evaluation.inputs import EmbeddingInput
from evaluation.manifest import write_manifest
from evaluation.suites.records import Evidence, TrainingPair, pair_to_json
from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import EvidenceForm, Family, PairingType, Parser
from tests.evaluation.suite_folders import suite_of, task_spec, write_records

# peft reads a property that transformers renames
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")

COLOURS = {"red": (200, 30, 30), "green": (30, 180, 40), "blue": (30, 40, 200)}


def paint(path: Path, colour: tuple[int, int, int], seed: int) -> None:
    path.parent.mkdir(exist_ok=True)
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

    result = CliRunner().invoke(
        app, ["lite-dual", "--suite", str(suite), "--steps", "60", "--out", str(tmp_path / "model")]
    )
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

    again = CliRunner().invoke(
        app, ["lite-dual", "--suite", str(suite), "--steps", "60", "--out", str(tmp_path / "again")]
    )
    assert again.exit_code == 0, again.output
    for file in sorted((tmp_path / "model").iterdir()):
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name

    refused = CliRunner().invoke(
        app, ["lite-dual", "--suite", str(suite), "--steps", "60", "--out", str(tmp_path / "again")]
    )
    assert refused.exit_code == 1
    assert "already holds files" in str(refused.exception)


def test_adapters_on_the_text_tower_are_merged_into_the_saved_model(suite: Path, tmp_path: Path) -> None:
    from evaluation.decoding import DecodedInput
    from evaluation.embedders.registry import load_embedder
    from evaluation.training.lite_dual import LiteSettings, lite_trainable, training_settings
    from evaluation.training.loop import Reporting, train
    from evaluation.training.processes import Processes
    from evaluation.training.sources import TrainingData

    settings, data = LiteSettings(steps=3, text_adapter=True), TrainingData(suite)
    encoder = lite_trainable(data, settings, {})
    batch = [DecodedInput(EmbeddingInput(text=text, instruction="Name it.")) for text in ("red", "a blue one")]
    before = encoder.embedder().embed(batch)
    train(
        encoder,
        data,
        settings=training_settings(data, settings),
        processes=Processes(Accelerator(cpu=True)),
        reporting=Reporting(),
    )
    moved = [tensor for name, tensor in encoder.network.named_parameters() if "lora_B" in name]
    assert moved
    assert all(float(tensor.detach().abs().max()) > 0 for tensor in moved)
    encoder.save(tmp_path / "model")
    after = load_embedder(tmp_path / "model").embed(batch)
    unit = after / np.linalg.norm(after, axis=1, keepdims=True)
    with torch.no_grad():
        running = encoder.vectors(encoder.tensors(batch)).numpy()
    assert np.abs(unit - running).max() < 1e-6
    assert np.abs(after - before).max() > 1e-3
    # what the tower said of these texts before it was trained is not remembered
    np.testing.assert_array_equal(encoder.embedder().embed(batch), after)


def test_the_ablation_shows_what_masking_does(tmp_path: Path) -> None:
    """Three images of each colour share their label, each with a text of its own: a quarter of all negatives is false."""
    task = colour_task()
    write_manifest(tmp_path, suite_of(task))
    pairs, records = [], []
    for name, colour in COLOURS.items():
        for number, words in enumerate(("in the upper field", "near the border", "of moderate size")):
            paint(tmp_path / "train" / f"{name}{number}.png", colour, number)
            image = Evidence(images=(f"train/{name}{number}.png",))
            pairs.append(TrainingPair("Describe it.", image, Evidence(text=f"{name} {words}"), name))
        paint(tmp_path / "test" / f"{name}.png", colour, 50)
        texts = [name, *(other for other in COLOURS if other != name)]
        records.append({"qry_inst": "Describe it.", "qry_text": "", "qry_img_path": f"{name}.png", "tgt_text": texts})
    write_records(tmp_path, task, records)
    (tmp_path / "Train_Data").mkdir()
    lines = "".join(json.dumps(pair_to_json(pair)) + "\n" for pair in pairs)
    (tmp_path / "Train_Data" / "colours.jsonl").write_text(lines)
    command = ["ablation", "--suite", str(tmp_path), "--steps", "30", "--trainings", "2"]
    result = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    rows = {
        cells[0]: cells
        for cells in ([cell.strip() for cell in text.split("│")[1:-1]] for text in result.stdout.splitlines())
        if len(cells) == 6
    }
    assert "means of 2 trainings" in result.stdout
    losses = {name: float(cells[1]) for name, cells in rows.items()}
    trained = [f"{whose} recipe, masking {way}" for whose in ("lite-dual's", "MedEmb's") for way in ("on", "off")]
    assert list(rows) == ["untrained", *trained]
    for masked, unmasked in (trained[:2], trained[2:]):
        assert losses[masked] < losses[unmasked]
        assert losses[masked] < losses["untrained"]
        assert rows[masked][2] == "100.0"
        assert rows[masked][4:] == ["–", "–"]
        mean, each = rows[unmasked][4].split()[0], rows[unmasked][5].split(", ")
        assert float(mean) == pytest.approx(sum(map(float, each)) / 2, abs=0.11)
    assert rows["untrained"][3:] == ["–", "–", "–"]


def test_the_ablation_takes_the_batches_and_the_loss_that_medemb_is_trained_with() -> None:
    from evaluation.commands.train_medemb import train_medemb_command
    from evaluation.training.ablation import MEDEMB_LOSS, MEDEMB_PAIRS, MEDEMB_SUB_BATCH

    defaults = {name: option.default for name, option in inspect.signature(train_medemb_command).parameters.items()}
    assert (defaults["pairs"], defaults["sub_batch"]) == (MEDEMB_PAIRS, MEDEMB_SUB_BATCH)
    for name, value in asdict(MEDEMB_LOSS).items():
        assert value == defaults[name], name


def colour_task() -> TaskSpec:
    return task_spec(
        "Colour_cls",
        family=Family.IMAGE_TO_LABEL,
        evidence_form=EvidenceForm.IMAGE_2D,
        pairing_type=PairingType.IMAGE_TEXT,
        parser=Parser.IMAGE_CLS,
        image_root="test",
        data_path="2D_Task/Colour_cls.json",
    )
