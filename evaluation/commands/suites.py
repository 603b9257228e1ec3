"""`suites install` brings the published release here; `suites status` says which of its tasks can be evaluated."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evaluation.commands.options import DEFAULT_ENDPOINT, TasksOption
from evaluation.commands.suite_reporting import InstallationReport, show_status, status_document
from evaluation.errors import DataMissing, RequestInvalid, SuiteInvalid
from evaluation.manifest import MANIFEST_NAME
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.lock import SuiteLock, read_lock, write_lock
from evaluation.suites.medheb.reader import read_suite, select_tasks
from evaluation.suites.medheb.readiness import Readiness, survey_suite
from evaluation.types import SuiteSpec

RELEASE_REPOSITORY = "MEDHEB/MedHEB-Bench"
HUB = "hub"

app = typer.Typer(name="suites", no_args_is_help=True, help="Install a suite, and see what is there of it.")

SuiteArgument = Annotated[str, typer.Argument(metavar="SUITE", help="The suite's name, e.g. medheb.")]
FolderOption = Annotated[
    Path, typer.Option("--suites-dir", envvar="SUITES_DIR", help="Folder in which suites lie, each in one of its name.")
]
_DEFAULT_FOLDER = Path(".data/suites")


@app.command()
def install(
    suite: SuiteArgument,
    *,
    source: Annotated[
        str, typer.Option("--source", help="'hub', or a folder in the layout of the release.", metavar="hub|DIR")
    ] = HUB,
    revision: Annotated[
        str, typer.Option("--revision", help="Branch, tag or commit on the hub; of a folder, for the record.")
    ] = "",
    tasks: TasksOption = None,
    suites_dir: FolderOption = _DEFAULT_FOLDER,
    endpoint: Annotated[
        str, typer.Option("--endpoint", envvar=["HUB_ENDPOINT", "HF_ENDPOINT"], help="Address of the hub.")
    ] = DEFAULT_ENDPOINT,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="File with a hub token; else HUB_TOKEN or HF_TOKEN is used.")
    ] = None,
    token: Annotated[str, typer.Option(envvar=["HUB_TOKEN", "HF_TOKEN"], hidden=True, show_envvar=False)] = "",
) -> None:
    """Fetch a suite's task files and images, unpack archives, read every record and write the lock file.

    An installation that was interrupted goes on where it ended when it is started again.
    """
    # Here, so that the commands that speak to no hub do not load what does.
    from evaluation.hub.connection import HubConnection  # noqa: PLC0415
    from evaluation.suites.medheb import installation  # noqa: PLC0415
    from evaluation.suites.medheb.release_source import FolderRelease, HubRelease, ReleaseSource  # noqa: PLC0415

    declared = medheb_suite()
    if suite != declared.slug:
        raise SuiteInvalid(f"Only {declared.slug} is published; 'build' makes other suites from data that you have.")
    specs = select_tasks(declared, tasks or [])
    release: ReleaseSource
    if source == HUB:
        secret = token if token_file is None else _token_in(token_file)
        release = HubRelease(HubConnection(endpoint=endpoint, token=secret), RELEASE_REPOSITORY, revision)
    else:
        release = FolderRelease(Path(source), revision)
    console = Console()
    order = installation.Installation(suite=declared, specs=specs, source=release, folder=suites_dir / suite)
    with InstallationReport(console, len(specs)) as report:
        lock = installation.install(order, report)
    found = tuple(lock.tasks[spec.name] for spec in specs)
    show_status(console, declared, found)
    if any(readiness.state is Readiness.BROKEN for readiness in found):
        raise typer.Exit(code=1)


@app.command()
def status(
    suite: SuiteArgument,
    *,
    verify: Annotated[bool, typer.Option("--verify", help="Read every record and decode every image again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead of a table.")] = False,
    tasks: TasksOption = None,
    suites_dir: FolderOption = _DEFAULT_FOLDER,
) -> None:
    """Show for each task of a suite whether it is ready, and what it waits for if it is not."""
    folder = suites_dir / suite
    declared = _suite_in(folder, suite)
    specs = select_tasks(declared, tasks or [])
    lock = read_lock(folder, suite=declared.slug)
    console = Console(stderr=as_json)
    with InstallationReport(console, len(specs)) as report:
        found = survey_suite(folder, specs, known={} if verify else lock.tasks, on_task=report.verified)
    renewed = {**lock.tasks, **{readiness.task: readiness for readiness in found}}
    if renewed != lock.tasks and folder.is_dir():
        _remember(folder, replace(lock, tasks=renewed), console)
    if as_json:
        typer.echo(status_document(declared, lock, specs, found))
        return
    show_status(console, declared, found)


def _suite_in(folder: Path, slug: str) -> SuiteSpec:
    """The suite of a folder; for the release its catalogue, even while nothing is installed."""
    if slug != medheb_suite().slug and not folder.is_dir():
        raise DataMissing(f"{folder} does not exist. Name the folder of suites with --suites-dir.")
    is_release = slug == medheb_suite().slug and not (folder / MANIFEST_NAME).exists()
    return medheb_suite() if is_release else read_suite(folder)


def _remember(folder: Path, lock: SuiteLock, console: Console) -> None:
    """Keep what was found for the next time; a folder that may only be read is looked through every time."""
    try:
        write_lock(folder, lock)
    except OSError as error:
        console.print(
            f"{folder} cannot be written to ({error.strerror}); the next status reads all again.", markup=False
        )


def _token_in(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise RequestInvalid(f"{path} cannot be read as a token: {error}.") from error
