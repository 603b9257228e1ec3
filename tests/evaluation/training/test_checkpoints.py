"""Checkpoints appear whole or not at all, and are known by their training."""

from pathlib import Path

import pytest
import torch

from evaluation.errors import CheckpointInvalid
from evaluation.training import checkpoints
from evaluation.training.checkpoints import Checkpoint, newest_checkpoint, write_checkpoint
from evaluation.training.sources import Position


def checkpoint(step: int) -> Checkpoint:
    parameter = torch.nn.Parameter(torch.full((2,), float(step)))
    optimizer = torch.optim.AdamW([parameter])
    parameter.sum().backward()
    optimizer.step()
    return Checkpoint(step, Position(1, step), {"weight": parameter}, optimizer.state_dict())


def test_the_newest_is_read_and_two_are_kept(tmp_path: Path) -> None:
    assert newest_checkpoint(tmp_path / "none", training_sha256="a") is None
    for step in (1, 9, 10):
        write_checkpoint(tmp_path, checkpoint(step), training_sha256="a")
    assert len(list(tmp_path.iterdir())) == 2
    found = newest_checkpoint(tmp_path, training_sha256="a")
    assert found is not None
    assert (found.step, found.position) == (10, Position(1, 10))
    expected = checkpoint(10)
    assert torch.equal(found.weights["weight"], expected.weights["weight"])
    assert torch.equal(found.optimizer["state"][0]["exp_avg"], expected.optimizer["state"][0]["exp_avg"])


def test_another_trainings_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, checkpoint(1), training_sha256="a")
    with pytest.raises(CheckpointInvalid, match="other settings or data"):
        newest_checkpoint(tmp_path, training_sha256="b")


@pytest.mark.parametrize("name", ["trained.safetensors", "optimizer.pt", "state.json"])
def test_a_damaged_one_is_refused(tmp_path: Path, name: str) -> None:
    path = write_checkpoint(tmp_path, checkpoint(1), training_sha256="a") / name
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(CheckpointInvalid, match="is damaged"):
        newest_checkpoint(tmp_path, training_sha256="a")


def test_one_that_could_not_be_finished_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_checkpoint(tmp_path, checkpoint(1), training_sha256="a")

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "_to_disk", full)
    with pytest.raises(OSError, match="No space"):
        write_checkpoint(tmp_path, checkpoint(2), training_sha256="a")
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001"]
