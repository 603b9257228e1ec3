"""Steps and scores of a training as TensorBoard reads them."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from torch.utils.tensorboard import SummaryWriter

from evaluation.training.dev_suite import DevScores
from evaluation.training.loop import StepReport


class TensorBoardLog:
    """Writes event files into a folder from the first step on; nothing where it is not to be written.

    A training that goes on adds to the folder, and what was written of steps that it takes again is left out.
    """

    def __init__(self, folder: Path, *, is_written: bool) -> None:
        self._folder = folder
        self._is_written = is_written
        self._writer: SummaryWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()

    def step(self, report: StepReport) -> None:
        """One point on every curve."""
        for name, value in {
            "loss": report.loss,
            "temperature": report.temperature,
            "negatives/masked": report.masked,
            "negatives/hardest": report.hardest,
            "learning_rate": report.learning_rate,
            "gradient_norm": report.gradient_norm,
            "tokens/a_second": report.tokens / report.seconds,
            "tokens/padding": report.waste,
            "records/a_second": report.records / report.seconds,
        }.items():
            self._add(name, value, report.step)

    def scores(self, step: int, scores: DevScores) -> None:
        """Hit@1 on the dev suite after so many steps."""
        self._add("dev/overall", scores.overall, step)
        for family, value in scores.families.items():
            self._add(f"dev/{family}", value, step)

    def _add(self, name: str, value: float, step: int) -> None:
        if not self._is_written:
            return
        if self._writer is None:
            _wait_for_a_later_name(self._folder)
            self._writer = SummaryWriter(str(self._folder), purge_step=step)
        self._writer.add_scalar(name, value, step)


def _wait_for_a_later_name(folder: Path) -> None:
    """Event files are read in the order of their names, which begin with the second: no two files share one."""
    seconds = {int(file.name.split(".")[3]) for file in folder.glob("events.out.tfevents.*")}
    if int(now := time.time()) in seconds:
        time.sleep(1 - now % 1)
