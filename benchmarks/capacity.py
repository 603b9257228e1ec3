"""Ten thousand submissions and 64 workers: the real queue code with made-up times, against first come, first served.

    python benchmarks/capacity.py [--submissions 10000] [--write]

Workers, submissions and times are simulated; every claim, start, result and end is a call of the services that real
workers call, on a Postgres of its own. The clock of that database is the simulation's: `now()` and its like are found
in a schema of this benchmark before those of Postgres, so that no line of the project's code is changed. Bells are
counted instead of sent. Times of runs are log-normal around what the board expects. Arrivals keep the workers busy for
nine tenths of the time, and in the middle one person submits five hundred at once. The peer serves the same runs, with
the same times, in the order in which they came.

Prints how long people wait, how fair that is, and what it costs the database.
"""

import argparse
import heapq
import itertools
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from leaderboard.config import embedded

WORKERS = {"cpu": 8, "gpu-24": 40, "gpu-80": 16}
RUNS = {"cpu": 0.15, "gpu-24": 0.65, "gpu-80": 0.20}
CLASSES = tuple(WORKERS)
PEOPLE, BURST, BUSY = 400, 500, 0.9
RERUNS = 0.1
FEW = 20
"""A person with more submissions than that counts as one who comes often."""
LOAD_SECONDS, SPREAD = 45.0, 0.5
EXPECTED = {"cpu": 1800.0, "gpu-24": 2400.0, "gpu-80": 3600.0}
START = datetime(2030, 1, 1, tzinfo=UTC)
_NOW = """CREATE FUNCTION simulated.{}() RETURNS timestamptz STABLE LANGUAGE sql
    AS $$ SELECT current_setting('simulation.now')::timestamptz $$"""
CLOCK = [
    "CREATE SCHEMA simulated",
    *(_NOW.format(name) for name in ("now", "statement_timestamp", "clock_timestamp")),
    "SET search_path = simulated, pg_catalog, public",
]


@dataclass(frozen=True, slots=True)
class Order:
    """One submission: when it comes, whose it is, what it needs, and how long it really takes."""

    number: int
    at: float
    person: int
    needs: str
    is_rerun: bool
    seconds: float


@dataclass
class Costs:
    """What calls of the services cost the database, by name."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    queries: Counter[str] = field(default_factory=Counter)
    current: str = ""

    def count(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        """Django's wrapper of each query."""
        self.queries[self.current] += 1
        return execute(*arguments)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Whatever happens inside is this call's."""
        self.current, started = name, time.perf_counter()
        yield
        self.seconds.setdefault(name, []).append(time.perf_counter() - started)
        self.current = ""


def main() -> None:
    """Simulate, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help="write the figures to RESULTS.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="capacity-benchmark-") as folder:
        os.environ |= {"MEDBOARD_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings"}
        for name in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(name, None)
        servers = embedded.start(with_broker=False)
        try:
            text = run(options.submissions)
        finally:
            servers.stop()
    print(text)
    if options.write:
        write_section(text)


def run(n_submissions: int) -> str:
    """The figures as markdown."""
    import django  # noqa: PLC0415 - Django can only be set up once the servers' addresses are known

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415 - the same

    call_command("migrate", verbosity=0, interactive=False)
    orders = make_orders(n_submissions)
    started = time.perf_counter()
    board = Board(orders)
    board.play()
    return report(orders, board, first_come(orders), time.perf_counter() - started)


def make_orders(count: int) -> list[Order]:
    """Arrivals of a Poisson process, some people coming far more often than others, and a burst in the middle."""
    chance = random.Random(1)
    mean = sum(share * EXPECTED[needs] for needs, share in RUNS.items()) * pow(2.718281828, SPREAD**2 / 2)
    gap = (mean + LOAD_SECONDS) / (BUSY * sum(WORKERS.values()))
    weights = [1 / (rank + 1) ** 0.8 for rank in range(PEOPLE)]
    burst = min(BURST, count // 4)
    clock, found = 0.0, []
    for number in range(count - burst):
        clock += chance.expovariate(1 / gap)
        found.append((clock, chance.choices(range(PEOPLE), weights)[0], number))
    found += [(clock / 2, PEOPLE, count - burst + number) for number in range(burst)]
    return [
        Order(
            number=number,
            at=at,
            person=person,
            needs=(needs := chance.choices(list(RUNS), list(RUNS.values()))[0]),
            is_rerun=person != PEOPLE and chance.random() < RERUNS,
            seconds=EXPECTED[needs] * chance.lognormvariate(0, SPREAD),
        )
        for at, person, number in sorted(found)
    ]


class Board:
    """The simulated workers, and the real database that they ask."""

    def __init__(self, orders: Sequence[Order]) -> None:
        from django.db import connection  # noqa: PLC0415 - needs Django set up

        from leaderboard import queue  # noqa: PLC0415 - the same
        from leaderboard.models import ModelRevision, User  # noqa: PLC0415 - the same
        from tests.factories import make_revision, make_suite, make_task  # noqa: PLC0415 - the same

        self.costs, self.bells, self.waits = Costs(), Counter(), dict[int, float]()
        self.joined = 0
        queue._send = self._ring  # noqa: SLF001 - bells are counted, not sent
        self.connection = connection
        model = make_revision().model
        self.people = User.objects.bulk_create([User(username=f"person {n}") for n in range(PEOPLE + 1)])
        self.revisions = ModelRevision.objects.bulk_create(
            [ModelRevision(model=model, commit=f"f{order.number:039x}") for order in orders]
        )
        self.suite = make_suite("capacity", n_tasks=0, synthetic=True)
        for position in range(2):
            make_task(self.suite, position=position, data_group=f"group{position}")
        self.orders = {str(revision.pk): order for revision, order in zip(self.revisions, orders, strict=True)}
        self.arrivals = deque(zip(orders, self.revisions, strict=True))
        with connection.cursor() as cursor:
            for statement in CLOCK:
                cursor.execute(statement)
        self.workers = [(f"{name} {n}", name) for name, count in WORKERS.items() for n in range(count)]
        self.idle = list(self.workers)
        self.events: list[tuple[float, int, Callable[[float], None]]] = []
        self.numbers = itertools.count()

    def _ring(self, message: str, *_: Any, **__: Any) -> None:
        self.bells[message] += 1

    def play(self) -> None:
        """From the first arrival until the last run has ended."""
        with self.connection.execute_wrapper(self.costs.count):
            while self.arrivals or self.events:
                next_arrival = self.arrivals[0][0].at if self.arrivals else float("inf")
                if self.events and self.events[0][0] <= next_arrival:
                    at, _, act = heapq.heappop(self.events)
                    self._set_clock(at)
                    act(at)
                else:
                    order, revision = self.arrivals.popleft()
                    self._set_clock(order.at)
                    self._arrive(order, revision)

    def _set_clock(self, at: float) -> None:
        from django.utils import timezone  # noqa: PLC0415 - needs Django set up

        moment = START + timedelta(seconds=at)
        timezone.now = lambda: moment
        self.costs.current = "clock"
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT set_config('simulation.now', %s, false)", [moment.isoformat()])

    def _later(self, at: float, act: Callable[[float], None]) -> None:
        heapq.heappush(self.events, (at, next(self.numbers), act))

    def _arrive(self, order: Order, revision: Any) -> None:
        from django.db import transaction  # noqa: PLC0415 - needs Django set up

        from leaderboard.models import Priority, Run  # noqa: PLC0415 - the same
        from leaderboard.services.runs import run_create  # noqa: PLC0415 - the same

        with self.costs.of("queue a run"), transaction.atomic():
            queued = run_create(
                revision=revision,
                suite=self.suite,
                requested_by=self.people[order.person],
                priority=Priority.RERUN if order.is_rerun else Priority.VISITOR,
                worker_class=order.needs,
            )
        Run.objects.filter(pk=queued.pk).update(expected_seconds=EXPECTED[order.needs])
        self._wake(order.needs, order.at)

    def _wake(self, needs: str, at: float) -> None:
        """A bell reaches one idle worker that can hold the run, the smallest first."""
        fitting = [worker for worker in self.idle if CLASSES.index(worker[1]) >= CLASSES.index(needs)]
        if fitting:
            worker = min(fitting, key=lambda one: CLASSES.index(one[1]))
            self.idle.remove(worker)
            self._later(at, lambda moment: self._look(worker, moment))

    def _look(self, worker: tuple[str, str], at: float) -> None:
        from leaderboard.models.vocabulary import RunState  # noqa: PLC0415 - needs Django set up
        from leaderboard.services.leases import run_next_claim  # noqa: PLC0415 - the same

        name, worker_class = worker
        with self.costs.of("claim a run"):
            run = run_next_claim(worker=name, worker_class=worker_class)
        if run is None:
            self.idle.append(worker)
            return
        order = self.orders[str(run.revision_id)]
        if run.state == RunState.PREPARING:
            self.waits[order.number] = at - order.at
        else:
            self.joined += 1
        self._later(at + LOAD_SECONDS, lambda moment: self._begin(worker, run, order, moment))

    def _begin(self, worker: tuple[str, str], run: Any, order: Order, at: float) -> None:
        from leaderboard.models.vocabulary import RunState  # noqa: PLC0415 - needs Django set up
        from leaderboard.services.leases import run_start  # noqa: PLC0415 - the same

        if run.state == RunState.PREPARING:
            with self.costs.of("start a run"):
                run_start(run_id=run.pk, worker=worker[0])
            self._wake(order.needs, at)
        self._next_group(worker, run, order, at)

    def _next_group(self, worker: tuple[str, str], run: Any, order: Order, at: float) -> None:
        from leaderboard.services.leases import task_group_claim  # noqa: PLC0415 - needs Django set up

        with self.costs.of("claim tasks"):
            claims = task_group_claim(run_id=run.pk, worker=worker[0], worker_class=worker[1])
        if claims:
            end = at + order.seconds / self.suite.tasks.count()
            self._later(end, lambda moment: self._store(worker, run, order, claims, moment))
        else:
            self._close(worker, at)

    def _store(self, worker: tuple[str, str], run: Any, order: Order, claims: Sequence[Any], at: float) -> None:
        from leaderboard.services.results import ScoreValue, TaskOutcome, task_run_succeed  # noqa: PLC0415 - the same

        outcome = TaskOutcome(
            scores=(ScoreValue("hit@1", 0.5),),
            main_metric="hit@1",
            chance=0.25,
            n_queries=4,
            n_inputs=8,
            seconds_embedding=order.seconds,
            seconds_ranking=1.0,
            peak_memory_bytes=10**9,
            data_sha256="d" * 64,
            outcomes=b"none",
            hit_at_1_optimistic=0.5,
            hit_at_1_pessimistic=0.5,
            self_excluded=0,
        )
        for claim in claims:
            with self.costs.of("store a task"):
                task_run_succeed(claim=claim, worker=worker[0], outcome=outcome)
        self._next_group(worker, run, order, at)

    def _close(self, worker: tuple[str, str], at: float) -> None:
        from leaderboard.services.results import run_scoring_claim, run_succeed  # noqa: PLC0415 - needs Django set up

        with self.costs.of("close a run"):
            ended = run_scoring_claim(worker=worker[0])
            if ended is not None:
                run_succeed(run_id=ended.pk, worker=worker[0], aggregates=[])
        self._look(worker, at)


def first_come(orders: Sequence[Order]) -> dict[int, float]:
    """The waits if each free worker took the oldest run that it can hold, alone."""
    free = [
        (0.0, CLASSES.index(name), n) for n, name in enumerate(itertools.chain(*([c] * k for c, k in WORKERS.items())))
    ]
    waits, waiting = {}, {name: deque[Order]() for name in CLASSES}
    arrivals = deque(orders)
    heapq.heapify(free)
    idle: list[tuple[int, int]] = []

    def serve(at: float) -> None:
        for size, number in sorted(idle):
            lines = [waiting[name] for name in CLASSES[: size + 1] if waiting[name]]
            if lines:
                order = min(lines, key=lambda line: line[0].at).popleft()
                idle.remove((size, number))
                waits[order.number] = at - order.at
                heapq.heappush(free, (at + LOAD_SECONDS + order.seconds, size, number))

    while arrivals or any(waiting.values()):
        next_arrival = arrivals[0].at if arrivals else float("inf")
        if free and free[0][0] <= next_arrival:
            at, size, number = heapq.heappop(free)
            idle.append((size, number))
        else:
            order = arrivals.popleft()
            at = order.at
            waiting[order.needs].append(order)
        serve(at)
    return waits


def report(orders: Sequence[Order], board: Board, peer: dict[int, float], seconds: float) -> str:
    """All tables."""
    from leaderboard.models import Run  # noqa: PLC0415 - needs Django set up

    succeeded = Run.objects.filter(state="succeeded").count()
    if not succeeded == len(orders) == len(board.waits):
        raise SystemExit(f"{succeeded} of {len(orders)} runs succeeded")
    days = orders[-1].at / 86_400
    own = Counter(order.person for order in orders)
    burst = [order for order in orders if order.person == PEOPLE]
    until = max(order.at + board.waits[order.number] for order in burst)
    groups = {
        "everybody": orders,
        f"people with 1 to {FEW}": [o for o in orders if own[o.person] <= FEW and not o.is_rerun],
        "people with more": [o for o in orders if own[o.person] > FEW and o.person != PEOPLE and not o.is_rerun],
        "the burst of one person": burst,
        "others while the burst waits": [o for o in orders if o.person != PEOPLE and burst[0].at <= o.at <= until],
        "reruns": [o for o in orders if o.is_rerun],
        **{f"runs of class {name}": [o for o in orders if o.needs == name] for name in CLASSES},
    }
    waits = [
        [name, f"{len(members):,}", *minutes(board.waits, members), *minutes(peer, members)]
        for name, members in groups.items()
        if members
    ]
    calls = [
        [
            name,
            f"{len(took):,}",
            f"{board.costs.queries[name] / len(took):.1f}",
            f"{statistics.median(took) * 1e3:.2f}",
            f"{statistics.quantiles(took, n=100)[-1] * 1e3:.2f}",
        ]
        for name, took in board.costs.seconds.items()
    ]
    busy = sum(sum(took) for took in board.costs.seconds.values())
    queries = sum(board.costs.queries[name] for name in board.costs.seconds)
    return (
        f"# Capacity\n\n`python benchmarks/capacity.py --submissions {len(orders)} --write`, {machine()}.\n\n"
        f"{len(orders):,} submissions of {PEOPLE + 1} people within {days:.1f} simulated days, {sum(WORKERS.values())} workers"
        f" ({', '.join(f'{count} {name}' for name, count in WORKERS.items())}); every run\nsucceeded."
        f" {board.joined:,} times an idle worker joined a run. Waits in minutes; the peer is first come, first"
        f" served.\n\n"
        f"{markdown_table(['who', 'runs', 'median', '95%', 'longest', 'peer: median', 'peer: 95%', 'peer: longest'], waits)}\n\n"
        f"The database: {queries / len(orders):.0f} queries and {busy / len(orders) * 1e3:.0f} ms a run of two tasks, one"
        f" connection; so one connection alone\ncould serve {len(orders) / busy * 86_400:,.0f} such runs a day."
        f" {sum(board.bells.values()):,} bells. The simulation took {seconds:.0f} s.\n\n"
        f"{markdown_table(['call', 'times', 'queries', 'median ms', '99% ms'], calls)}\n"
    )


def minutes(waits: dict[int, float], members: Sequence[Order]) -> list[str]:
    """Median, 95% and longest wait."""
    found = sorted(waits[order.number] / 60 for order in members)
    return [f"{value:.0f}" for value in (statistics.median(found), found[int(0.95 * (len(found) - 1))], found[-1])]


if __name__ == "__main__":
    main()
