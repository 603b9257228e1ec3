"""The loop: it learns, goes on to the same weights, refuses what makes no sense, and is one over several processes."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file

from evaluation.errors import CheckpointInvalid, TrainingDiverged, TrainingRefused
from evaluation.training.loop import Reporting, StepReport, train
from evaluation.training.processes import Processes
from evaluation.training.settings import TrainingSettings
from evaluation.training.sources import TrainingData
from tests.evaluation.training.conftest import WORDS, line, write_lines
from tests.evaluation.training.networks import SETTINGS, LetterTrainable


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    folder = tmp_path_factory.mktemp("letters")
    generator = np.random.default_rng(2)
    lines = []
    for number in range(21):
        words = " ".join(generator.choice(WORDS, 2 + number % 6))
        negatives = [[{"role": "user", "content": " ".join(generator.choice(WORDS, 4))}]] * (number < 2)
        lines.append(line(words, words[: len(words) // 2 + 2], negative_messages=negatives))
    write_lines(folder, "letters", lines)
    return TrainingData(folder)


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one.detach() - other.detach()).abs().max())


def alone() -> Processes:
    return Processes(Accelerator(cpu=True))


def trained(
    data: TrainingData, settings: TrainingSettings = SETTINGS, *, dropout: float = 0.0, **reporting: object
) -> tuple[LetterTrainable, list[StepReport]]:
    encoder = LetterTrainable(dropout=dropout)
    reports: list[StepReport] = []
    told = Reporting(on_step=reports.append, **reporting)  # type: ignore[arg-type]
    train(encoder, data, settings=settings, processes=alone(), reporting=told, identity="training")
    return encoder, reports


def test_the_loss_falls_and_every_step_is_reported(data: TrainingData) -> None:
    pauses: list[int] = []
    _, reports = trained(data, replace(SETTINGS, steps=60), on_pause=pauses.append, pause_every=25)
    assert [report.step for report in reports] == list(range(1, 61))
    assert pauses == [0, 25, 50, 60]
    losses = [report.loss for report in reports]
    assert np.mean(losses[-6:]) < 0.5 * np.mean(losses[:6])
    # Three batches of 8, 8 and 5 records an epoch.
    assert [report.records for report in reports[:4]] == [8, 8, 5, 8]
    assert [report.epoch for report in reports[:4]] == [0, 0, 0, 1]
    assert sum(report.tokens for report in reports[:3]) == sum(
        len(item.text) for record in data.read(range(21)) for item in record.inputs
    )
    assert reports[0].learning_rate == pytest.approx(0.025)


def test_chunks_do_not_change_the_weights(data: TrainingData) -> None:
    whole, _ = trained(data, replace(SETTINGS, chunk_tokens=10**6, kept_tokens=10**6))
    pieces, _ = trained(data, replace(SETTINGS, chunk_tokens=40))
    assert distance(whole.network.first, pieces.network.first) < 1e-5


@pytest.mark.parametrize("stopped_at", [2, 5])
def test_a_stopped_training_goes_on_to_identical_weights(data: TrainingData, tmp_path: Path, stopped_at: int) -> None:
    whole, reports = trained(data, dropout=0.3)

    class Stopped(Exception):
        pass

    def stop(report: StepReport) -> None:
        if report.step == stopped_at + 1:
            raise Stopped

    with pytest.raises(Stopped):
        train(
            LetterTrainable(dropout=0.3),
            data,
            settings=SETTINGS,
            processes=alone(),
            reporting=Reporting(on_step=stop, checkpoints=tmp_path, checkpoint_every=1),
            identity="training",
        )
    resumed, rest = trained(data, dropout=0.3, checkpoints=tmp_path, checkpoint_every=4)
    assert [report.step for report in rest] == list(range(stopped_at + 1, 10))
    assert [report.loss for report in rest] == [report.loss for report in reports[stopped_at:]]
    for one, other in zip(whole.network.parameters(), resumed.network.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_checkpoint_of_another_training_is_refused(data: TrainingData, tmp_path: Path) -> None:
    trained(data, replace(SETTINGS, steps=1), checkpoints=tmp_path, checkpoint_every=1)
    with pytest.raises(CheckpointInvalid, match="other settings or data"):
        train(
            LetterTrainable(),
            data,
            settings=SETTINGS,
            processes=alone(),
            reporting=Reporting(checkpoints=tmp_path, checkpoint_every=1),
            identity="another",
        )


def test_a_loss_that_is_no_number_ends_the_training(data: TrainingData) -> None:
    encoder = LetterTrainable()
    with torch.no_grad():
        encoder.network.first[0, 0] = torch.nan
    with pytest.raises(TrainingDiverged, match="Step 0: the loss is nan"):
        train(encoder, data, settings=SETTINGS, processes=alone(), reporting=Reporting())


def test_a_model_with_nothing_to_train_is_refused(data: TrainingData) -> None:
    encoder = LetterTrainable()
    encoder.network.requires_grad_(False)
    with pytest.raises(TrainingRefused, match="No parameter"):
        train(encoder, data, settings=SETTINGS, processes=alone(), reporting=Reporting())


def test_two_processes_train_what_one_trains(data: TrainingData, tmp_path: Path) -> None:
    """Negatives of both processes, in batches that they share unevenly; the last batch of an epoch has five records.

    Two records have hard negatives, so one batch of each epoch or more has none.
    """
    whole, reports = trained(data)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.evaluation.training.shared_training", str(data.folder), str(tmp_path)]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "ACCELERATE_USE_CPU": "true"}
    both = [
        subprocess.Popen(
            command,
            env={**os.environ, **shared, "RANK": rank, "LOCAL_RANK": rank},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in ("0", "1")
    ]
    errors = [process.communicate(timeout=200)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], "\n".join(errors)[-3000:]
    found = load_file(tmp_path / "weights.safetensors")
    losses = json.loads((tmp_path / "losses.json").read_text())
    assert losses == pytest.approx([report.loss for report in reports], abs=1e-5)
    for name, parameter in whole.network.named_parameters():
        assert distance(parameter, found[name]) < 1e-5, name
