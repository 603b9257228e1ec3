"""`tasks` lists the tasks of a suite, or what has to be embedded for them."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from evaluation.commands.options import TasksOption
from evaluation.errors import SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.reader import load_task, read_suite, select_tasks, task_is_installed
from evaluation.types import SuiteSpec, TaskSpec


def tasks(
    *,
    suite: Annotated[Path | None, typer.Option("--suite", help="Folder of a suite; the catalogue by default.")] = None,
    names: TasksOption = None,
    inputs: Annotated[
        bool, typer.Option("--inputs", help="Print what is embedded, one JSON object a line, instead of the tasks.")
    ] = False,
) -> None:
    """List the tasks of a suite, or all distinct inputs of its installed tasks."""
    declared = medheb_suite() if suite is None else read_suite(suite)
    specs = select_tasks(declared, names or [])
    if not inputs:
        Console().print(_task_table(declared, specs, suite))
    elif suite is None:
        raise SuiteInvalid("The catalogue has no records; name the folder of a suite with --suite.")
    else:
        _print_inputs(suite, specs)


def _task_table(declared: SuiteSpec, specs: tuple[TaskSpec, ...], folder: Path | None) -> Table:
    table = Table(title=f"{declared.title} {declared.version}: {len(specs)} tasks")
    for heading in ("task", "family", "domain", "form", "split", "pool", "data"):
        table.add_column(heading, overflow="fold")
    for spec in specs:
        state = "" if folder is None else _state(folder, spec)
        table.add_row(spec.name, spec.family, spec.domain, spec.evidence_form, spec.split, spec.pool, state)
    return table


def _state(folder: Path, spec: TaskSpec) -> str:
    return "installed" if task_is_installed(folder, spec) else "awaiting data"


def _print_inputs(folder: Path, specs: tuple[TaskSpec, ...]) -> None:
    hashes = FileHashes()
    seen: set[str] = set()
    for spec in specs:
        if not task_is_installed(folder, spec):
            sys.stderr.write(f"{spec.name}: awaiting data, left out\n")
            continue
        task = load_task(folder, spec, hashes=hashes)
        for key, source in zip(task.keys, task.inputs, strict=True):
            if key in seen:
                continue
            seen.add(key)
            line = {
                "id": key,
                "text": source.text,
                "instruction": source.instruction,
                "images": [str(path) for path in source.images],
                "is_volume": source.is_volume,
                "plane": None if source.plane is None else dataclasses.asdict(source.plane),
            }
            sys.stdout.write(json.dumps(line) + "\n")
