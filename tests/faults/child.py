"""`python -m tests.faults.child -m evaluation serve ...`: a real evaluating child on the embedder that sleeps."""

import sys

from evaluation.__main__ import app
from evaluation.commands.models_to_run import ModelToRun
from tests.faults.embedder import SleepingEmbedder, read_sleeping


def load(model: ModelToRun, device: str) -> SleepingEmbedder:
    assert model.folder is not None
    return read_sleeping(model.folder)


if __name__ == "__main__":
    ModelToRun.load = load
    app(sys.argv[3:])
