"""`python -m evaluation`: evaluate models, list tasks, read results, and serve a worker."""

import sys

import typer
from rich.console import Console

from evaluation.commands.analyse import analyse
from evaluation.commands.build import app as build_app
from evaluation.commands.check import app as check_app
from evaluation.commands.compare import compare
from evaluation.commands.convert import convert
from evaluation.commands.models import models
from evaluation.commands.run import run, score
from evaluation.commands.serve import serve
from evaluation.commands.suites import app as suites_app
from evaluation.commands.table import table
from evaluation.commands.tasks import tasks
from evaluation.commands.train import app as train_app
from evaluation.errors import EvaluationError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Evaluate medical embedding models on retrieval suites.",
)
for command in (tasks, models, convert, run, score, serve, table, compare, analyse):
    app.command()(command)
app.add_typer(build_app)
app.add_typer(check_app)
app.add_typer(suites_app)
app.add_typer(train_app)


def main() -> None:
    """Run a command; an expected error is one sentence on standard error and exit code 1."""
    try:
        app()
    except EvaluationError as error:
        Console(stderr=True).print(f"{error.code}: {error.message}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
