"""Taking a run from a queue of a thousand, against the barest claim that Postgres allows, and the queue's page.

    python benchmarks/queue_order.py [--write] [--explain]

A thousand runs of thirty people and forty tasks each wait beside twenty thousand that ended. The peer is the claim of a
plain first-come-first-served queue, in the same transaction frame: the oldest row that is not locked. The page is asked
for through Django's test client, with its template. Medians of real times on a database of its own in a temporary
folder. With `--write` the figures go to benchmarks/RESULTS.md; `--explain` prints how Postgres finds the first run.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from leaderboard.config import embedded

PEOPLE, WAITING, ENDED, TASKS = 30, 1_000, 20_000, 40
CLAIMS = 200
PAGES = 20
PLAIN_CLAIM = """
    SELECT id FROM leaderboard_run WHERE state = 'queued' ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""
MILLISECONDS = 1e3


def main() -> None:
    """Fill a database, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the figures to RESULTS.md")
    parser.add_argument("--explain", action="store_true", help="print the plan of the claim")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="queue-benchmark-") as folder:
        os.environ |= {"MEDBOARD_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings"}
        os.environ |= {"DEBUG": "false", "ALLOWED_HOSTS": "testserver"}
        for name in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(name, None)
        servers = embedded.start()
        try:
            text = run(explain=options.explain)
        finally:
            servers.stop()
    print(text)
    if options.write:
        write_section(text)


def run(*, explain: bool) -> str:
    """The figures as markdown."""
    import django  # noqa: PLC0415 - Django can only be set up once the servers' addresses are known

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415 - the same

    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    fill()
    if explain:
        print(plan())
    figures = measure()
    rows = [[name, f"{seconds * MILLISECONDS:.2f}"] for name, seconds in figures.items()]
    ours, plain = list(figures.values())[:2]
    return (
        f"# Queue\n\n`python benchmarks/queue_order.py --write`, {machine()}.\n\n"
        f"{WAITING:,} runs of {PEOPLE} people wait, {TASKS} tasks each; {ENDED:,} runs have ended. A fair claim takes"
        f" {ours / plain:.1f} times as long as\na plain one with the same writes.\n\n"
        f"{markdown_table(['what', 'median ms'], rows)}\n"
    )


def fill() -> None:
    """People, runs that wait and that ended, their tasks, and two workers."""
    from django.db import connection  # noqa: PLC0415 - needs Django set up
    from django.utils import timezone  # noqa: PLC0415 - the same

    from leaderboard.models import ModelRevision, Run, TaskRun, User, Worker  # noqa: PLC0415 - the same
    from tests.factories import make_revision, make_suite  # noqa: PLC0415 - the same

    now = timezone.now()
    people = User.objects.bulk_create([User(username=f"person {number}") for number in range(PEOPLE)])
    suite, model = make_suite(n_tasks=TASKS), make_revision().model
    revisions = ModelRevision.objects.bulk_create(
        [ModelRevision(model=model, commit=f"f{number:039x}") for number in range(WAITING + ENDED)]
    )
    ended = {"state": "succeeded", "started_at": now, "finished_at": now}
    runs = Run.objects.bulk_create(
        [
            Run(
                revision=revision,
                suite=suite,
                attempt=1,
                requested_by=people[min(PEOPLE - 1, number % 97 % PEOPLE)],
                expected_seconds=60 + number % 1000,
                **(ended if number >= WAITING else {}),
            )
            for number, revision in enumerate(revisions)
        ]
    )
    tasks = list(suite.tasks.all())
    TaskRun.objects.bulk_create([TaskRun(run=run, task=task) for run in runs[:WAITING] for task in tasks])
    for name in ("w1", "w2"):
        Worker.objects.create(name=name, device="cpu", started_at=now, last_seen_at=now)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def measure() -> dict[str, float]:
    """Median seconds of each thing."""
    from django.db import connection, transaction  # noqa: PLC0415 - needs Django set up
    from django.test import Client  # noqa: PLC0415 - the same
    from django.urls import reverse  # noqa: PLC0415 - the same

    from leaderboard.models import Run  # noqa: PLC0415 - the same
    from leaderboard.models.vocabulary import RunState, WorkerClass  # noqa: PLC0415 - the same
    from leaderboard.selectors.queue_order import first_waiting_locked, waiting_line  # noqa: PLC0415 - the same
    from leaderboard.services.leases import (  # noqa: PLC0415 - the same
        ClockTimestamp,
        lease_end,
        run_next_claim,
    )
    from leaderboard.services.runs import run_move  # noqa: PLC0415 - the same

    def plain_claim() -> None:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(PLAIN_CLAIM)
                (run_id,) = cursor.fetchone()
            run = Run.objects.get(pk=run_id)
            lease = {"lease_owner": "w2", "lease_expires_at": lease_end(), "started_at": ClockTimestamp()}
            run_move(run, RunState.PREPARING, actor="w2", **lease)

    @transaction.atomic
    def find() -> None:
        first_waiting_locked(WorkerClass.CPU)

    client = Client()
    page = median(lambda: client.get(reverse("queue")), PAGES)  # before anything is taken: as many run as workers do
    return {
        "our claim, with its writes": median(lambda: run_next_claim(worker="w1"), CLAIMS),
        "plain claim, with the same writes": median(plain_claim, CLAIMS),
        "finding and locking the first run alone": median(find, CLAIMS),
        "the whole line": median(waiting_line, CLAIMS),
        "the queue's page": page,
    }


def median(do: Callable[[], object], times: int) -> float:
    """The median seconds of doing something, after it was done once."""
    do()
    found = []
    for _ in range(times):
        started = time.perf_counter()
        do()
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def plan() -> str:
    """How Postgres finds the first run."""
    from django.db import connection  # noqa: PLC0415 - needs Django set up

    from leaderboard.selectors import queue_order  # noqa: PLC0415 - the same

    parameters = queue_order._parameters(["cpu"], with_later=False)  # noqa: SLF001 - shown, not used
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN ANALYZE {queue_order._FIRST_FREE[0]}", parameters)  # noqa: SLF001 - the same
        return "\n".join(row[0] for row in cursor.fetchall())


if __name__ == "__main__":
    main()
