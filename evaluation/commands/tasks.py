"""`tasks` lists the tasks of a suite, or what has to be embedded for them."""

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evaluation.commands.opening import open_suite
from evaluation.commands.options import TasksOption
from evaluation.commands.retrieval_suite import listing
from evaluation.commands.suites_to_run import SuiteToRun
from evaluation.errors import SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.reader import select_tasks


def tasks(
    *,
    suite: Annotated[Path | None, typer.Option("--suite", help="Folder of a suite; the catalogue by default.")] = None,
    names: TasksOption = None,
    inputs: Annotated[
        bool, typer.Option("--inputs", help="Print what is embedded, one JSON object a line, instead of the tasks.")
    ] = False,
) -> None:
    """List the tasks of a suite, or all distinct inputs of its installed tasks."""
    if suite is not None and inputs:
        _print_inputs(open_suite(suite), names or [])
    elif suite is not None:
        Console().print(open_suite(suite).listing(names or []))
    elif inputs:
        raise SuiteInvalid("The catalogue has no records; name the folder of a suite with --suite.")
    else:
        catalogue = medheb_suite()
        Console().print(listing(catalogue, select_tasks(catalogue, names or []), folder=None))


def _print_inputs(suite: SuiteToRun, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name, task in suite.loaded(names, FileHashes()):
        if task is None:
            sys.stderr.write(f"{name}: awaiting data, left out\n")
            continue
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
