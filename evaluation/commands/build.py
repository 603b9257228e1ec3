"""`build`: make a suite, or a part of one, in a folder and say what is in it."""

from collections import Counter
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from evaluation.commands.build_medtec import (
    build_anchors_command,
    build_medtec_demo_command,
    build_medtec_mini_command,
    build_questions_command,
)
from evaluation.errors import EvaluationError
from evaluation.suites.building import SuiteDraft
from evaluation.suites.demo.suite import build_demo
from evaluation.suites.medtec.probe_building import build_probe_sets
from evaluation.suites.medtec.probe_checking import require_sound
from evaluation.suites.medtec.probe_reading import PROBES
from evaluation.suites.medtec.probe_writing import write_probe_file
from evaluation.suites.medtec.vocabulary_reading import read_vocabulary
from evaluation.suites.mini.suite import build_mini
from evaluation.vocabulary import DOMAIN_TITLES, FAMILY_TITLES, Domain, Family, Modality

app = typer.Typer(name="build", help="Build a suite or a part of one.", no_args_is_help=True)

Out = Annotated[Path, typer.Option(help="Where the suite goes; must not exist or be empty.")]


@app.callback()
def build() -> None:
    """Build a suite or a part of one."""


app.command("anchors")(build_anchors_command)
app.command("questions")(build_questions_command)
app.command("medtec-mini")(build_medtec_mini_command)
app.command("medtec-demo")(build_medtec_demo_command)


@app.command("demo")
def build_demo_command(out: Out) -> None:
    """Draw the synthetic demo suite, which needs no data."""
    try:
        draft = build_demo(out)
    except EvaluationError as error:
        _fail(error)
    _show(draft, out)


@app.command("mini")
def build_mini_command(
    raw: Annotated[Path, typer.Option(help="The folder of raw data sets, with open/ and research/.")], out: Out
) -> None:
    """Build the mini suite from small subsets of real public data."""
    try:
        draft = build_mini(raw, out)
    except EvaluationError as error:
        _fail(error)
    _show(draft, out)


@app.command("probes")
def build_probes_command(
    out: Annotated[Path, typer.Option(help="Folder of the probe files; that of the program by default.")] = PROBES,
) -> None:
    """Write MedTEC's probe texts from the vocabularies, one file a modality, if they keep every rule."""
    built = []
    for modality in Modality:
        vocabulary = read_vocabulary(modality)
        sets = build_probe_sets(vocabulary)
        require_sound(vocabulary, sets)
        built.append(sets)
    out.mkdir(parents=True, exist_ok=True)
    console = Console()
    for sets in built:
        path = write_probe_file(out, sets)
        console.print(f"{path}: {len(sets)} probe sets", highlight=False, soft_wrap=True)


def _fail(error: EvaluationError) -> NoReturn:
    Console(stderr=True).print(f"[red]{error.code}[/red]: {error.message}", highlight=False, soft_wrap=True)
    raise typer.Exit(1)


def _show(draft: SuiteDraft, out: Path) -> None:
    console = Console()
    table = Table(title=f"{draft.title}, version {draft.version}")
    for heading in ("Task", "Family", "Domain", "Form", "Pool", "Split"):
        table.add_column(heading)
    table.add_column("Queries", justify="right")
    for task in draft.tasks:
        spec = task.spec
        table.add_row(
            spec.name,
            FAMILY_TITLES[spec.family],
            DOMAIN_TITLES[spec.domain],
            spec.evidence_form,
            spec.pool,
            spec.split,
            str(len(task.records)),
        )
    console.print(table)
    console.print(_coverage(draft))
    queries = sum(len(task.records) for task in draft.tasks)
    pairs = sum(len(pairs) for pairs in draft.training.values())
    console.print(f"{len(draft.tasks)} tasks, {queries} queries, {pairs} training pairs in {out}", soft_wrap=True)
    for note in draft.notes:
        console.print(f"- {note}", soft_wrap=True, highlight=False)


def _coverage(draft: SuiteDraft) -> Table:
    """How many tasks there are for each family and domain."""
    counts = Counter((task.spec.family, task.spec.domain) for task in draft.tasks)
    table = Table(title="Tasks by family and domain")
    table.add_column("Family")
    for domain in Domain:
        table.add_column(DOMAIN_TITLES[domain], justify="right")
    for family in Family:
        cells = [counts[family, domain] for domain in Domain]
        table.add_row(FAMILY_TITLES[family], *(str(count) if count else "-" for count in cells))
    return table
