"""What a person or program sees of an installed suite: progress, a table, a summary, a JSON object."""

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from evaluation.suites.medheb.catalogue import data_sources
from evaluation.suites.medheb.lock import SuiteLock
from evaluation.suites.medheb.readiness import Readiness, TaskReadiness, explain
from evaluation.types import SuiteSpec, TaskSpec

_WORDS = {
    Readiness.READY: "ready",
    Readiness.NOT_INSTALLED: "not installed",
    Readiness.IMAGES_MISSING: "images missing",
    Readiness.BROKEN: "broken",
}


class InstallationReport:
    """Shows how far an installation or a survey is; warnings stay on the screen."""

    def __init__(self, console: Console, n_tasks: int) -> None:
        self._console = console
        hidden = not console.is_terminal
        self._transfer = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=hidden,
        )
        self._survey = Progress(
            TextColumn("reading tasks"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=hidden,
        )
        self._tasks = self._survey.add_task("", total=n_tasks)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._transfer.stop()
        self._survey.stop()

    def fetching(self, n_files: int, n_bytes: int) -> Callable[[int], None]:
        """So many files are fetched next."""
        self._transfer.start()
        bar = self._transfer.add_task(f"fetching {n_files:,} files", total=n_bytes)
        return lambda count: self._transfer.advance(bar, count)

    def unpacking(self, archive: str) -> None:
        """An archive is being unpacked."""
        self._console.print(f"unpacking {archive}", markup=False, highlight=False)

    def verified(self, readiness: TaskReadiness) -> None:
        """A task was read."""
        self._transfer.stop()
        self._survey.start()
        self._survey.advance(self._tasks)

    def warn(self, message: str) -> None:
        """Something was left out."""
        self._console.print(message, markup=False, highlight=False, soft_wrap=True)


def show_status(console: Console, suite: SuiteSpec, found: Sequence[TaskReadiness]) -> None:
    """Print the table and what unready tasks wait for."""
    console.print(_status_table(suite, found))
    console.print(_summary(suite, found), markup=False, highlight=False, soft_wrap=True)


def _status_table(suite: SuiteSpec, found: Sequence[TaskReadiness]) -> Table:
    """One row a task: its state, its queries if it is ready, and its image files."""
    table = Table(title=f"{suite.title} {suite.version}")
    table.add_column("task", overflow="fold")
    table.add_column("state")
    for heading in ("queries", "files"):
        table.add_column(heading, justify="right")
    for readiness in found:
        queries = "" if readiness.n_queries is None else f"{readiness.n_queries:,}"
        files = f"{readiness.files_present:,} of {readiness.files_expected:,}" if readiness.files_expected else ""
        table.add_row(readiness.task, _WORDS[readiness.state], queries, files)
    return table


def _summary(suite: SuiteSpec, found: Sequence[TaskReadiness]) -> str:
    """What each task that is not ready waits for, a line each, and how many tasks are in which state."""
    specs = {spec.name: spec for spec in suite.tasks}
    reasons = [(readiness, explain(specs[readiness.task], readiness)) for readiness in found]
    waiting = [f"{readiness.task}: {_WORDS[readiness.state]}: {reason}" for readiness, reason in reasons if reason]
    counts = Counter(readiness.state for readiness in found)
    states = ", ".join(f"{counts[state]} {words}" for state, words in _WORDS.items() if counts[state])
    return "\n".join([*waiting, f"{suite.title} {suite.version}: of {len(found)} tasks {states}."])


def status_document(
    suite: SuiteSpec, lock: SuiteLock, specs: Sequence[TaskSpec], found: Sequence[TaskReadiness]
) -> str:
    """A JSON object with the keys `suite`, `version`, `source`, `revision`, `installed_at` and `tasks`.

    Each task has what `TaskReadiness` holds, its `image_root`, and its `sources` with who grants access to them.
    """
    document = {
        "suite": suite.slug,
        "version": suite.version,
        "source": lock.source,
        "revision": lock.revision,
        "installed_at": lock.installed_at,
        "tasks": [
            {
                **dataclasses.asdict(readiness),
                "reason": explain(spec, readiness),
                "data_path": spec.data_path,
                "image_root": spec.image_root,
                "sources": [dataclasses.asdict(source) for source in data_sources(spec)],
            }
            for spec, readiness in zip(specs, found, strict=True)
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False)
