"""MedEmb's recipe on a tiny base: adapters learn, survive a kill, load to the same vectors and pass the board's checks."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from typer.testing import CliRunner

from evaluation.commands.train import app
from evaluation.decoding import decode
from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.registry import load_embedder
from evaluation.errors import EvaluationError
from evaluation.inputs import EmbeddingInput
from evaluation.training.adapters import LANGUAGE_MODULES, AdapterSettings
from evaluation.training.dev_suite import DevScores
from evaluation.training.qwen_trainable import QwenTrainable
from evaluation.training.tensorboard_log import TensorBoardLog
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.suite_folders import write_text_suite
from workers.hub import HuggingFaceHub
from workers.local_hub.server import running_hub

# peft reads a property that transformers renames
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")

STEPS = 6


def arguments(data: Path, base: Path, out: Path) -> list[str]:
    command = ["medemb", "--suite", str(data), "--base", str(base), "--base-name", "demo/qwen3-vl-tiny"]
    command += ["--out", str(out), "--steps", str(STEPS), "--pairs", "10", "--sub-batch", "5", "--rank", "4"]
    command += ["--alpha", "8", "--dropout", "0.1", "--learning-rate", "0.02", "--warm-up", "2", "--temperature", "0.1"]
    return [
        *command,
        "--chunk-tokens",
        "600",
        "--kept-tokens",
        "900",
        "--checkpoint-every",
        "2",
        "--weight",
        "images=2",
    ]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[EmbeddingInput]:
    folder = tmp_path_factory.mktemp("inputs")
    files = []
    for number in range(3):
        pixels = np.random.default_rng(number).integers(0, 256, (64, 96, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        files.append(folder / f"{number}.png")
    return [
        EmbeddingInput(text="nodule"),
        EmbeddingInput(text="What is shown?", images=(files[0],), instruction="Find it."),
        EmbeddingInput(images=tuple(files), is_volume=True),
    ]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, mixed_folder: Path, base_folder: Path) -> tuple[Path, str]:
    """An adapter, trained with a dev suite, and what was printed."""
    out = tmp_path_factory.mktemp("undisturbed") / "adapter"
    dev = tmp_path_factory.mktemp("dev")
    write_text_suite(dev, tasks=1, queries=3)
    more = ["--dev-suite", str(dev), "--dev-every", "4"]
    result = CliRunner().invoke(app, [*arguments(mixed_folder, base_folder, out), *more])
    assert result.exit_code == 0, result.output
    return out, result.stdout


def test_scores_are_told_early_at_intervals_and_at_the_end(undisturbed: tuple[Path, str]) -> None:
    out, printed = undisturbed
    lines = [text for text in printed.splitlines() if text.startswith("after ")]
    assert [text.split(":")[0] for text in lines] == ["after 0 steps", "after 4 steps", "after 6 steps"]
    assert all("Hit@1" in text and "text_to_text" in text for text in lines)
    log = EventAccumulator(str(out.with_name("adapter.training") / "tensorboard")).Reload()
    assert [event.step for event in log.Scalars("loss")] == list(range(1, STEPS + 1))
    assert [event.step for event in log.Scalars("dev/overall")] == [0, 4, 6]
    assert {"temperature", "negatives/masked", "tokens/a_second", "tokens/padding"} <= set(log.Tags()["scalars"])
    assert log.Scalars("negatives/masked")[0].value > 0


def test_the_adapter_comes_with_its_card_and_encode_config(undisturbed: tuple[Path, str]) -> None:
    out, _ = undisturbed
    assert sorted(path.name for path in out.iterdir()) == [
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
        "encode_config.json",
    ]
    config = json.loads((out / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], config["base_model_name_or_path"]) == (4, 8, "demo/qwen3-vl-tiny")
    assert set(config["target_modules"]) == set(LANGUAGE_MODULES)
    assert json.loads((out / "encode_config.json").read_text())["default_instruction"] == "Represent the user's input."
    card = (out / "README.md").read_text()
    assert card.startswith("---\nbase_model: demo/qwen3-vl-tiny\n")
    assert "| reports | 14 |" in card
    assert "| training.loss.temperature | 0.1 |" in card
    assert "Hit@1 in percent on Example 1" in card
    weights = load_file(out / "adapter_model.safetensors")
    # Seven layers in each of two blocks, two matrices each; those that began at zero have moved.
    assert len(weights) == 28
    assert all(float(tensor.abs().max()) > 0 for tensor in weights.values())


def test_a_killed_training_goes_on_to_identical_weights(
    undisturbed: tuple[Path, str], mixed_folder: Path, base_folder: Path, tmp_path: Path
) -> None:
    command = arguments(mixed_folder, base_folder, tmp_path / "adapter")
    killed = subprocess.run(
        [sys.executable, "-m", "tests.evaluation.training.killed_training", *command],
        env={**os.environ, "KILLED_AFTER": "5"},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
    assert not (tmp_path / "adapter").exists()
    assert (tmp_path / "adapter.training" / "checkpoints" / "step-00000004").is_dir()
    resumed = CliRunner().invoke(app, command)
    assert resumed.exit_code == 0, resumed.output
    expected = load_file(undisturbed[0] / "adapter_model.safetensors")
    found = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    assert all(np.array_equal(tensor.numpy(), found[name].numpy()) for name, tensor in expected.items())
    assert not (tmp_path / "adapter.training" / "checkpoints").exists()
    log = EventAccumulator(str(tmp_path / "adapter.training" / "tensorboard")).Reload()
    assert [event.step for event in log.Scalars("loss")] == list(range(1, STEPS + 1))


@pytest.mark.parametrize("dora", [False, True])
def test_a_saved_adapter_loads_to_the_same_vectors(
    base_folder: Path, tmp_path: Path, inputs: list[EmbeddingInput], *, dora: bool
) -> None:
    encoder = QwenTrainable(
        base_folder,
        base_name="demo/qwen3-vl-tiny",
        adapter=AdapterSettings(rank=4, alpha=8, dora=dora),
        config=encode_config(EmbedderFamily.QWEN3_VL),
        device="cpu",
        seed=3,
    )
    batch = [decode(item) for item in inputs]
    encoder.network.train()
    encoder.vectors(encoder.tensors(batch)).sum().backward()
    for name, parameter in encoder.network.named_parameters():
        assert ("lora_" in name) == parameter.requires_grad
        if parameter.grad is not None:
            parameter.data -= 0.3 * parameter.grad
    encoder.network.eval()
    encoder.save(tmp_path)
    loaded = load_embedder(base_folder, adapter_folder=tmp_path).embed(batch)
    assert np.abs(loaded - encoder.embedder().embed(batch)).max() < 2e-6
    assert np.abs(loaded - load_embedder(base_folder).embed(batch)).max(axis=1).min() > 1e-3


def test_the_adapter_can_be_submitted(
    undisturbed: tuple[Path, str], base_folder: Path, tmp_path: Path, inputs: list[EmbeddingInput]
) -> None:
    root = tmp_path / "hub"
    (root / "demo").mkdir(parents=True)
    (root / "demo" / "qwen3-vl-tiny").symlink_to(base_folder)
    (root / "demo" / "medemb-tiny").symlink_to(undisturbed[0])
    with running_hub(root) as hub:
        report = HuggingFaceHub(endpoint=hub.endpoint, token="").preflight(
            repo_id="demo/qwen3-vl-tiny", adapter_repo_id="demo/medemb-tiny"
        )
    assert report.passed, report.problems


def refused(*command: str) -> str:
    result = CliRunner().invoke(app, list(command))
    assert isinstance(result.exception, EvaluationError), result.output
    return f"{result.exception.code}: {result.exception.message}"


def test_what_cannot_be_trained_is_refused(
    undisturbed: tuple[Path, str], mixed_folder: Path, base_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "adapter"
    assert "training_refused" in refused(*arguments(mixed_folder, base_folder, undisturbed[0]))
    unknown = refused(*arguments(mixed_folder, base_folder, out), "--weight", "other=1")
    assert "training_refused: There is no source 'other'" in unknown
    assert "is not SOURCE=NUMBER" in refused(*arguments(mixed_folder, base_folder, out), "--weight", "images")
    (tmp_path / "chance").mkdir()
    (tmp_path / "chance" / "config.json").write_text('{"model_type": "medboard-chance", "dimension": 4, "seed": 1}')
    assert "is of the family chance" in refused(*arguments(mixed_folder, tmp_path / "chance", out))
    assert "data_missing" in refused(*arguments(tmp_path, base_folder, out))
    assert not out.exists()


def test_files_of_one_second_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        with TensorBoardLog(tmp_path, is_written=True) as log:
            log.scores(step, DevScores(outcomes={}, families={"text_to_text": step / 4}))
    seconds = sorted(int(file.name.split(".")[3]) for file in tmp_path.iterdir())
    assert len(set(seconds)) == 3
    read = EventAccumulator(str(tmp_path)).Reload()
    assert [event.step for event in read.Scalars("dev/overall")] == [1, 2, 3]
