"""`train lite-dual`: train a small model on a suite's train split."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from evaluation.errors import EvaluationError

app = typer.Typer(name="train", help="Train a model.", no_args_is_help=True)


@app.callback()
def train() -> None:
    """Train a model on a suite's train split."""


@app.command("lite-dual")
def train_lite_dual_command(
    suite: Annotated[Path, typer.Option(help="A suite folder with training files (Train_Data).")],
    out: Annotated[Path, typer.Option(help="Where the model folder goes; must not exist or be empty.")],
    seed: Annotated[int, typer.Option(help="The same seed and suite give the same model.", min=0)] = 42,
) -> None:
    """Train the projections of a lite-dual model; its towers come with the installed packages."""
    from evaluation.training.lite_dual import train_lite_dual  # noqa: PLC0415 -- torch, only when it is needed

    try:
        outcome = train_lite_dual(suite, out, seed=seed)
    except EvaluationError as error:
        Console(stderr=True).print(f"[red]{error.code}[/red]: {error.message}", highlight=False, soft_wrap=True)
        raise typer.Exit(1) from error
    table = Table(title="Training pairs by source")
    table.add_column("Source")
    table.add_column("Pairs", justify="right")
    for source, count in outcome.pairs.items():
        table.add_row(source, str(count))
    console = Console()
    console.print(table)
    console.print(f"Mean loss {outcome.first_loss:.3f} at the start, {outcome.last_loss:.3f} at the end.")
    console.print(f"The model is in {out}.", soft_wrap=True)
