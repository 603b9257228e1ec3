"""`train`: train a model on the train split of a suite, and show what masking of false negatives does."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from evaluation.commands.reporting import percent
from evaluation.commands.train_medemb import train_medemb_command
from evaluation.statistics.intervals import Difference

if TYPE_CHECKING:
    from evaluation.suites.medheb.repeated_trainings import RepeatedDifference
    from evaluation.training.ablation import AblationRow

app = typer.Typer(name="train", help="Train a model.", no_args_is_help=True)

_SuiteOption = Annotated[Path, typer.Option(help="A suite folder with training files (Train_Data).")]
_StepsOption = Annotated[int, typer.Option(help="Steps of the optimizer.", min=1)]
_SeedOption = Annotated[int, typer.Option(help="The same seed and suite give the same model.", min=0)]


@app.callback()
def train() -> None:
    """Train a model on a suite's train split."""


@app.command("lite-dual")
def train_lite_dual_command(
    suite: _SuiteOption,
    out: Annotated[Path, typer.Option(help="Where the model folder goes; must not exist or be empty.")],
    *,
    seed: _SeedOption = 42,
    steps: _StepsOption = 600,
    text_adapter: Annotated[bool, typer.Option(help="Train adapters on the text tower too; takes longer.")] = False,
) -> None:
    """Train the projections of a lite-dual model; its towers come with the installed packages."""
    # torch is loaded only when it is needed
    from evaluation.commands.training_progress import TrainingProgress  # noqa: PLC0415 - see above
    from evaluation.training.lite_dual import LiteSettings, train_lite_dual  # noqa: PLC0415 - see above
    from evaluation.training.loop import Reporting  # noqa: PLC0415 - see above

    console = Console()
    settings = LiteSettings(steps=steps, text_adapter=text_adapter)
    with TrainingProgress(console, steps=steps) as progress:
        outcome = train_lite_dual(suite, out, seed=seed, settings=settings, reporting=Reporting(on_step=progress.step))
    table = Table(title="Training records by source")
    table.add_column("Source")
    table.add_column("Records", justify="right")
    for source, count in outcome.records.items():
        table.add_row(source, str(count))
    console.print(table)
    console.print(f"Mean loss {outcome.first_loss:.3f} at the start, {outcome.last_loss:.3f} at the end.")
    console.print(f"The model is in {out}.", soft_wrap=True)


app.command("medemb")(train_medemb_command)


@app.command("ablation")
def ablation_command(
    suite: _SuiteOption,
    *,
    seed: _SeedOption = 42,
    trainings: Annotated[
        int, typer.Option(help="Trainings of each kind, with this seed and those after it.", min=1)
    ] = 3,
    steps: _StepsOption = 600,
) -> None:
    """Train lite-dual with masking of false negatives and without, and compare all with the untrained model."""
    from evaluation.commands.training_progress import TrainingProgress  # noqa: PLC0415 - torch, as above
    from evaluation.training.ablation import TRAINED, run_ablation  # noqa: PLC0415 - torch, as above

    console = Console()
    with TrainingProgress(console, steps=trainings * len(TRAINED) * steps) as progress:
        rows = run_ablation(
            suite,
            steps=steps,
            seeds=range(seed, seed + trainings),
            on_step=lambda done, report: progress.step(replace(report, step=done * steps + report.step)),
        )
    console.print(_ablation_table(rows, suite, trainings))


def _ablation_table(rows: "list[AblationRow]", suite: Path, trainings: int) -> Table:
    title = (
        f"lite-dual on {suite.name}: Hit@1 in percent on patients in no training record, means of {trainings} trainings"
    )
    table = Table(title=title)
    table.add_column("Model")
    for heading in ("Loss on equivalent pairs", "Hit@1", "Over untrained", "Over masking on", "In each"):
        table.add_column(heading, justify="right")
    for row in rows:
        cells = (f"{row.equivalent_loss:.3f}", percent(row.hit_at_1), _gap(row.lift), *_repeated(row.unmasked))
        table.add_row(row.variant.name, *cells)
    return table


def _repeated(found: "RepeatedDifference | None") -> tuple[str, str]:
    """The mean difference, and that of each training."""
    if found is None:
        return _gap(None), _gap(None)
    return _gap(found.difference), ", ".join(f"{100 * gap:+.1f}" for gap in found.by_training)


def _gap(gap: Difference | None) -> str:
    """A paired difference in points with its 95% interval."""
    if gap is None:
        return "–"
    return f"{100 * gap.value:+.1f} ({100 * gap.lower:+.1f} to {100 * gap.upper:+.1f})"
