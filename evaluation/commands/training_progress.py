"""How a training looks on the console: a bar with what the last step did, and a line for each score."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evaluation.training.dev_suite import DevScores
from evaluation.training.loop import StepReport


class TrainingProgress:
    """A bar over the steps; on a console that is no terminal only scores are printed."""

    def __init__(self, console: Console, *, steps: int) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("training", total=steps, state="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def step(self, report: StepReport) -> None:
        """Show what a step did."""
        state = (
            f"loss {report.loss:.3f} at temperature {report.temperature:g}, {report.masked:.1%} masked, "
            f"{report.tokens / report.seconds:,.0f} tokens/s, {report.waste:.1%} padding"
        )
        self._bar.update(self._task, completed=report.step, state=state)

    def scores(self, step: int, scores: DevScores) -> None:
        """Print a line: Hit@1 on the dev suite."""
        families = ", ".join(f"{family} {value:.1%}" for family, value in scores.families.items())
        self._bar.console.print(f"after {step} steps: Hit@1 {scores.overall:.1%} ({families})", highlight=False)
