"""Checkpoints: everything that a training needs to go on to the same weights as if it had never stopped.

A checkpoint is a folder that appears under its name when it is whole. Of random states none is kept, because dropout and
the order of records are functions of the seed and the step; a checkpoint's step is its place in both.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from evaluation.errors import CheckpointInvalid
from evaluation.training.sources import Position

_PREFIX = "step-"
_WEIGHTS, _OPTIMIZER, _STATE = "trained.safetensors", "optimizer.pt", "state.json"
_KEPT = 2


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """After `step` steps: where the next batch stands, the trained parameters, and the optimizer's state."""

    step: int
    position: Position
    weights: Mapping[str, torch.Tensor]
    optimizer: Mapping[str, Any]


def write_checkpoint(folder: Path, checkpoint: Checkpoint, *, training_sha256: str) -> Path:
    """Write a checkpoint below `folder`, and remove all but the newest two.

    Args:
        folder: of the training's checkpoints.
        checkpoint: what is kept.
        training_sha256: of the settings and data, so that no other training goes on from it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder))
    try:
        save_file(
            {name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.weights.items()},
            staging / _WEIGHTS,
        )
        torch.save(checkpoint.optimizer, staging / _OPTIMIZER)
        state = {
            "step": checkpoint.step,
            "epoch": checkpoint.position.epoch,
            "batch": checkpoint.position.batch,
            "training_sha256": training_sha256,
        }
        (staging / _STATE).write_text(json.dumps(state), encoding="utf-8")
        for path in staging.iterdir():
            _to_disk(path)
        target = folder / f"{_PREFIX}{checkpoint.step:08d}"
        shutil.rmtree(target, ignore_errors=True)
        staging.rename(target)
        _to_disk(folder)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    for old in _whole(folder)[:-_KEPT]:
        shutil.rmtree(old)
    return target


def newest_checkpoint(folder: Path, *, training_sha256: str) -> Checkpoint | None:
    """The newest checkpoint below `folder`; None where there is none.

    Raises:
        CheckpointInvalid: it is damaged, or of a training with other settings or data.
    """
    whole = _whole(folder)
    if not whole:
        return None
    path = whole[-1]
    try:
        state = json.loads((path / _STATE).read_text(encoding="utf-8"))
        known, step, position = state["training_sha256"], int(state["step"]), Position(state["epoch"], state["batch"])
        weights = load_file(path / _WEIGHTS)
        optimizer = torch.load(path / _OPTIMIZER, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged files make readers raise anything at all
        raise CheckpointInvalid(f"{path} is damaged ({error}); remove it to go on from the one before.") from error
    if known != training_sha256:
        raise CheckpointInvalid(
            f"{path} is of a training with other settings or data; give those again, or train into another folder."
        )
    return Checkpoint(step, position, weights, optimizer)


def _whole(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{_PREFIX}*")) if folder.is_dir() else []


def _to_disk(path: Path) -> None:
    """Ask that a file, or a folder's names, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
