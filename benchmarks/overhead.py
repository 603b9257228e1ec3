"""What a worker costs beside the evaluation itself: claims, heartbeat, sealed child, checked messages, ingest, closing.

    python benchmarks/overhead.py [--rounds N] [--write]

The same generated suites, a small and a large one, are evaluated by `python -m evaluation run` and by a worker that is up
and has the model, on servers of its own, once sealed off and once not. Wall time is that of the command, and from queued
to succeeded; processor time is that of all processes but the servers. Rounds alternate and the least counts. Of two sizes
follow a share, which grows with the work, and a constant. With `--write` the figures go to benchmarks/RESULTS.md.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.generated import write_generated_suite
from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from evaluation.embedders.packaged import minilm_folder
from leaderboard.config import embedded
from workers.child import EvaluatingChild
from workers.sandbox.choice import best_sandbox_name

TITLE = "Overhead of a worker"
DATASETS = {"small": 1, "large": 5}
TASKS, TEXTS = 4, 120
REPOSITORY = "demo/minilm"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds on the clock, and of processors."""

    wall: float
    processor: float


def least(costs: list[Cost]) -> Cost:
    """The least of each."""
    return Cost(min(cost.wall for cost in costs), min(cost.processor for cost in costs))


def measured(work: Callable[[], float | None]) -> Cost:
    """The cost of work that may know its wall time better itself."""
    started, before = time.monotonic(), _processor_seconds()
    own = work()
    return Cost(time.monotonic() - started if own is None else own, _processor_seconds() - before)


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used) + WatchedChild.seconds_inside


class WatchedChild(EvaluatingChild):
    """An evaluating child that tells what its descendants took: the kernel forgets it of a process that is killed."""

    seconds_inside = 0.0

    def __exit__(self, *exception: object) -> None:
        """Count those below the process that the worker started, which is counted when it is waited for."""
        for process in psutil.Process(self._running().pid).children(recursive=True):
            times = process.cpu_times()
            WatchedChild.seconds_inside += times.user + times.system
        super().__exit__(*exception)


def by_command(suite: Path, folder: Path) -> None:
    """Evaluate as a person would, in a store that is empty."""
    store, out = folder / "store-of-command", folder / "result.json"
    shutil.rmtree(store, ignore_errors=True)
    out.unlink(missing_ok=True)
    command = [sys.executable, "-m", "evaluation", "run", "--model", str(folder / "hub" / REPOSITORY)]
    command += ["--suite", str(suite), "--store", str(store), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[1])


def by_worker(slug: str, sandbox: str) -> float:
    """Evaluate as a worker does, in a store that is empty; from queued to succeeded."""
    from django.conf import settings  # noqa: PLC0415 - needs Django set up

    from leaderboard.models import Run, Suite  # noqa: PLC0415 - the same
    from workers.identity import worker_identity  # noqa: PLC0415 - the same
    from workers.runner import work_until_idle  # noqa: PLC0415 - the same
    from workers.sealing import worker_sandbox  # noqa: PLC0415 - the same

    settings.SANDBOX = sandbox
    worker_sandbox.cache_clear()
    worker_sandbox()
    shutil.rmtree(settings.EMBEDDING_STORE_DIR, ignore_errors=True)
    run = _queued(Suite.objects.get(slug=slug))
    work_until_idle(worker_identity())
    run = Run.objects.get(pk=run)
    if run.state != "succeeded":
        raise RuntimeError(f"{run.state}: {run.error_message}")
    return (run.finished_at - run.created_at).total_seconds()


def _queued(suite: object) -> object:
    from leaderboard.models import Run, User  # noqa: PLC0415 - needs Django set up
    from leaderboard.ports import model_hub  # noqa: PLC0415 - the same
    from leaderboard.services.runs import run_rerun  # noqa: PLC0415 - the same
    from leaderboard.services.submissions import submission_create  # noqa: PLC0415 - the same

    somebody, _ = User.objects.get_or_create(username="somebody")
    if old := Run.objects.filter(suite=suite).first():
        return run_rerun(run_id=old.pk, actor=somebody).pk
    report = model_hub().preflight(repo_id=REPOSITORY)
    return submission_create(submitter=somebody, report=report, suite=suite).runs.get().pk


def prepare(folder: Path) -> None:
    """Suites, a hub's folder and tables."""
    import django  # noqa: PLC0415 - settings are read once the servers' addresses are known

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415 - needs Django set up

    from workers import runner  # noqa: PLC0415 - the same
    from workers.catalogue import sync_catalogue  # noqa: PLC0415 - the same

    for name, datasets in DATASETS.items():
        write_generated_suite(
            folder / "suites" / name, datasets=datasets, tasks_a_dataset=TASKS, passages=TEXTS, queries=TEXTS, slug=name
        )
    shutil.copytree(minilm_folder(), folder / "hub" / REPOSITORY)
    runner.EvaluatingChild = WatchedChild
    call_command("migrate", verbosity=0, interactive=False)
    sync_catalogue()


def compare(folder: Path, rounds: int, sandbox: str) -> dict[tuple[str, str], Cost]:
    """The least cost of each way on each suite; a first run of the worker fetches the model and is not counted."""
    by_worker("small", sandbox)
    costs: dict[tuple[str, str], list[Cost]] = {}
    for _ in range(rounds):
        for size in DATASETS:
            ways: dict[str, Callable[[], float | None]] = {
                "command": lambda size=size: by_command(folder / "suites" / size, folder),
                sandbox: lambda size=size: by_worker(size, sandbox),
                "none": lambda size=size: by_worker(size, "none"),
            }
            for way, work in ways.items():
                costs.setdefault((way, size), []).append(measured(work))
    return {key: least(found) for key, found in costs.items()}


def section(costs: dict[tuple[str, str], Cost], rounds: int, sandbox: str) -> str:
    """The figures for RESULTS.md."""
    rows, findings = [], []
    for way, title in (("command", "the command"), ("none", "a worker, not sealed"), (sandbox, f"a worker, {sandbox}")):
        found = [costs[way, size] for size in DATASETS]
        rows.append([title, *(f"{value:.2f}" for cost in found for value in (cost.wall, cost.processor))])
        if way != "command":
            findings.append(f"{title}: {_line(costs, way, 'wall')} wall; {_line(costs, way, 'processor')} processor.")
    inputs = ", ".join(f"{name} {TASKS * count} tasks" for name, count in DATASETS.items())
    return "\n\n".join([
        f"# {TITLE}",
        f"`python benchmarks/overhead.py --rounds {rounds} --write`, {machine()}, MiniLM, one thread; {inputs}.",
        "Over the command, as a share of its time plus a constant: " + " ".join(findings),
        markdown_table(["way", *(f"{name}, {kind} s" for name in DATASETS for kind in ("wall", "processor"))], rows),
    ])  # fmt: skip


def _line(costs: dict[tuple[str, str], Cost], way: str, kind: str) -> str:
    """The straight line through both sizes: what is added to the command's time."""
    x, y = ([getattr(costs[name, size], kind) for size in DATASETS] for name in ("command", way))
    slope = (y[1] - y[0]) / (x[1] - x[0])
    return f"{100 * (slope - 1):+.1f}% {y[0] - slope * x[0]:+.2f} s"


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    sandbox = best_sandbox_name()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"MEDBOARD_DATA_DIR": name, "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings"}
        servers = embedded.start()
        try:
            from workers.local_hub.server import running_hub  # noqa: PLC0415 - after the settings are known

            (folder / "hub").mkdir()
            with running_hub(folder / "hub") as hub:
                os.environ["HUB_ENDPOINT"] = hub.endpoint
                prepare(folder)
                text = section(compare(folder, arguments.rounds, sandbox), arguments.rounds, sandbox)
        finally:
            servers.stop()
    print(text)
    if arguments.write:
        write_section(text)


if __name__ == "__main__":
    main()
