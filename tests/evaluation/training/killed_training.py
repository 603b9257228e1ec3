"""`train ...` in a process that is killed, as by a lack of memory, right after the step that KILLED_AFTER names."""

import os
import signal
import sys

import torch

from evaluation.commands.train import app
from evaluation.training import tensorboard_log
from evaluation.training.loop import StepReport


class KilledLog(tensorboard_log.TensorBoardLog):
    def step(self, report: StepReport) -> None:
        super().step(report)
        if report.step == int(os.environ["KILLED_AFTER"]):
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    torch.set_num_threads(1)
    tensorboard_log.TensorBoardLog = KilledLog  # type: ignore[misc]
    app(sys.argv[1:])
