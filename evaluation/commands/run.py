"""`run` evaluates a model, from a folder or from the hub; `score` evaluates embeddings that were computed elsewhere."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evaluation.commands.encoding import ModelEncoding, StoreLocation, read_embeddings
from evaluation.commands.evaluation_run import Evaluation, evaluate_to_file
from evaluation.commands.hub_models import fetch_repository
from evaluation.commands.models_to_run import ModelToRun, find_model
from evaluation.commands.opening import open_suite
from evaluation.commands.options import (
    STORE_BYTES,
    AdapterOption,
    DeviceOption,
    EncodeConfigOption,
    OutOption,
    StoreBytesOption,
    StoreOption,
    SuiteOption,
    TasksOption,
)
from evaluation.commands.suites_to_run import VectorSource
from evaluation.embedders.threads import fix_threads
from evaluation.embedding.text_limit import TextLimit
from evaluation.results import RunResult


def run(
    *,
    model: Annotated[str, typer.Option("--model", help="Folder of a model, its id on the hub, 'minilm', or 'chance'.")],
    suite: SuiteOption,
    out: OutOption,
    revision: Annotated[
        str, typer.Option("--revision", help="Branch, tag or commit of a hub id; of a folder, for the record.")
    ] = "",
    adapter: AdapterOption = "",
    tasks: TasksOption = None,
    device: DeviceOption = "cpu",
    encode_config: EncodeConfigOption = "",
    store: StoreOption = None,
    store_bytes: StoreBytesOption = STORE_BYTES,
) -> None:
    """Evaluate a model on a suite. An interrupted run goes on where it ended when it is started again."""
    console = Console()
    opened = open_suite(suite)
    names = opened.installed(tasks or [], console)
    found = find_model(model, revision=revision, adapter=adapter, fetch=fetch_repository)
    chosen = replace(found, encode_config=encode_config)
    embedder = chosen.load(device)
    location = StoreLocation(store, store_bytes) if store else None
    with ModelEncoding(chosen, embedder, device=device, location=location) as encoding:
        evaluation = Evaluation(
            suite=opened,
            names=names,
            model=chosen,
            source=VectorSource(encoding.store, embedder.description, TextLimit(embedder)),
            statistics=encoding.statistics,
            device=device,
            threads=fix_threads(),
        )
        result = evaluate_to_file(evaluation, out, console)
    _exit_without_scores(result)


def score(
    *,
    embeddings: Annotated[Path, typer.Option("--embeddings", help="An .npz file of ids and vectors.")],
    suite: SuiteOption,
    out: OutOption,
    tasks: TasksOption = None,
) -> None:
    """Evaluate embeddings that were computed elsewhere; 'tasks --inputs' lists what to embed."""
    console = Console()
    opened = open_suite(suite)
    names = opened.installed(tasks or [], console)
    given = read_embeddings(embeddings)
    evaluation = Evaluation(
        suite=opened,
        names=names,
        model=ModelToRun(id=embeddings.stem, revision="", folder=None),
        source=VectorSource(given.store, given.description, None),
        statistics=lambda: None,
        device="cpu",
        threads=1,
    )
    _exit_without_scores(evaluate_to_file(evaluation, out, console))


def _exit_without_scores(result: RunResult) -> None:
    if not result.tasks and not result.probe_tasks:
        raise typer.Exit(code=1)
