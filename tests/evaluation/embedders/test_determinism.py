"""Deterministic algorithms: asked for before a model is loaded, and told of where a model has operations without."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluation.decoding import DecodedInput
from evaluation.embedders.chance import ChanceEmbedder
from evaluation.embedders.determinism import require_determinism
from evaluation.embedding.encode import InputEncoder
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix

ROOT = Path(__file__).parents[3]
TEXTS = [EmbeddingInput(text=text) for text in ("nodule", "effusion")]


@pytest.fixture
def free_again() -> Iterator[None]:
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    yield
    torch.use_deterministic_algorithms(before[0], warn_only=before[1])


class Putting(ChanceEmbedder):
    """Uses an operation of torch that has no deterministic form on any device."""

    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        rows = torch.from_numpy(super().embed(batch))
        return rows.put_(torch.tensor([0]), torch.tensor([7.0])).numpy()


class Broken(ChanceEmbedder):
    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")


@pytest.mark.usefixtures("free_again")
def test_an_operation_without_deterministic_form_is_used_and_told() -> None:
    require_determinism()
    plain, putting = (InputEncoder(kind(dimension=8, seed=1)) for kind in (ChanceEmbedder, Putting))
    list(plain.pieces(TEXTS))
    assert plain.model_calls().deterministic
    assert torch.are_deterministic_algorithms_enabled()
    assert not torch.is_deterministic_algorithms_warn_only_enabled()
    with pytest.warns(UserWarning, match="put_ does not have a deterministic implementation"):
        rows = [piece for _, piece in putting.pieces(TEXTS)]
    assert rows[0][0].argmax() == 0
    assert np.isfinite(rows[0]).all()
    assert not putting.model_calls().deterministic
    assert torch.are_deterministic_algorithms_enabled(), "the other operations keep their deterministic forms"


@pytest.mark.usefixtures("free_again")
def test_other_errors_of_torch_stay_errors() -> None:
    require_determinism()
    with pytest.raises(RuntimeError, match="shapes cannot"):
        list(InputEncoder(Broken(dimension=8, seed=1)).pieces(TEXTS))


def test_every_command_that_evaluates_loads_its_model_so(clip_folder: Path) -> None:
    """In a process of its own, because the choice is the process's; chance does without torch."""
    code = f"""
import os, sys
from evaluation.commands.models_to_run import find_model
find_model("chance").load("cpu")
print("torch" in sys.modules)
find_model({str(clip_folder)!r}).load("cpu")
import torch
print(torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled())
print(os.environ["CUBLAS_WORKSPACE_CONFIG"])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, timeout=120
    )
    assert done.stdout.split() == ["False", "True", "False", ":4096:8"]
