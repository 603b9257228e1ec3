"""What each of several processes runs: the training of test_loop, whose first process writes losses and weights."""

import json
import os
import sys
from pathlib import Path

import torch
from accelerate import Accelerator
from safetensors.torch import save_file

from evaluation.training.loop import Reporting, train
from evaluation.training.processes import Processes
from evaluation.training.sources import TrainingData
from tests.evaluation.training.networks import SETTINGS, LetterTrainable


def main(folder: Path, out: Path) -> None:
    torch.set_num_threads(1)
    encoder, losses = LetterTrainable(), []
    processes = Processes(Accelerator(cpu=True))
    assert processes.count == int(os.environ["WORLD_SIZE"]) == 2
    reporting = Reporting(on_step=lambda report: losses.append(report.loss))
    train(encoder, TrainingData(folder), settings=SETTINGS, processes=processes, reporting=reporting)
    if processes.is_first:
        save_file(encoder.network.state_dict(), out / "weights.safetensors")
        (out / "losses.json").write_text(json.dumps(losses))
    processes.wait()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
