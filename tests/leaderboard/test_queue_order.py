"""Who is served when: turns between people, small before large, visitors before reruns, and nothing starves."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.models import EmbeddingModel, ModelRevision, Run, RunEvent, Suite, User
from leaderboard.models.runs import Priority
from leaderboard.models.vocabulary import RunState, WorkerClass
from leaderboard.selectors.queue_order import PRIORITY_STEP, first_waiting_locked, waiting_line
from leaderboard.services import leases, runs
from tests.factories import make_revision, make_run, make_suite, make_user

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@contextmanager
def undone() -> Iterator[None]:
    """Everything in the block is rolled back at its end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def queued(
    suite: Suite, user: User, *, seconds: float = 0, waited: timedelta = timedelta(0), priority: int = Priority.VISITOR
) -> Run:
    run = make_run(suite=suite, user=user)
    Run.objects.filter(pk=run.pk).update(
        expected_seconds=seconds, priority=priority, created_at=timezone.now() - waited
    )
    return run


def taken() -> Run | None:
    """The run that a worker takes next; it ends at once."""
    run = leases.run_next_claim(worker="w1")
    if run is not None:
        runs.run_cancel(run_id=run.pk, actor="test")
    return run


def test_people_take_turns_however_much_one_of_them_submits() -> None:
    suite, many, few = make_suite(n_tasks=1), make_user(), make_user()
    first = [queued(suite, many) for _ in range(4)]
    then = [queued(suite, few) for _ in range(2)]
    assert [taken() for _ in range(6)] == [first[0], then[0], first[1], then[1], first[2], first[3]]


def test_who_comes_back_waits_for_a_turn_and_not_for_the_whole_line() -> None:
    suite, a, b, newcomer = make_suite(n_tasks=1), make_user(), make_user(), make_user()
    for user in (a, a, a, b, b, b):
        queued(suite, user)
    assert [taken().requested_by for _ in range(2)] == [a, b]
    queued(suite, newcomer)
    assert taken().requested_by == newcomer
    assert [taken().requested_by for _ in range(2)] == [a, b]


def test_small_goes_before_large_within_a_share_until_the_large_one_has_waited_as_much_longer() -> None:
    suite, user = make_suite(n_tasks=1), make_user()
    large = queued(suite, user, seconds=5 * 3600, waited=2 * HOUR)
    small = queued(suite, user, seconds=60)
    assert waiting_line() == [small.pk, large.pk]
    Run.objects.filter(pk=large.pk).update(created_at=timezone.now() - 6 * HOUR)
    assert waiting_line() == [large.pk, small.pk]


def test_visitors_go_before_reruns_and_both_before_demonstrations() -> None:
    suite = make_suite(n_tasks=1)
    demonstration = queued(suite, make_user(), priority=Priority.DEMONSTRATION, waited=3 * HOUR)
    rerun = queued(suite, make_user(), priority=Priority.RERUN, waited=2 * HOUR)
    visitor = queued(suite, make_user())
    assert waiting_line() == [visitor.pk, rerun.pk, demonstration.pk]


@pytest.mark.parametrize(("days", "is_first"), [(0.9, False), (1.1, True)])
def test_a_rerun_that_waited_a_day_stands_with_the_visitors(days: float, *, is_first: bool) -> None:
    suite, visitor = make_suite(n_tasks=1), make_user()
    rerun = queued(suite, make_user(), priority=Priority.RERUN, waited=timedelta(days=days))
    for _ in range(3):
        queued(suite, visitor)
    assert (waiting_line()[0] == rerun.pk) is is_first


def test_a_run_that_needs_more_memory_is_left_for_a_larger_worker() -> None:
    suite, user = make_suite(n_tasks=1), make_user()
    large, small = queued(suite, user), queued(suite, user)
    Run.objects.filter(pk=large.pk).update(worker_class=WorkerClass.GPU_48)
    assert leases.run_next_claim(worker="w1", worker_class=WorkerClass.GPU_24) == small
    assert leases.run_next_claim(worker="w1", worker_class=WorkerClass.GPU_24) is None
    assert leases.run_next_claim(worker="w2", worker_class=WorkerClass.GPU_80) == large


def test_a_weak_worker_takes_no_task_of_a_large_run() -> None:
    run = queued(make_suite(n_tasks=2), make_user())
    Run.objects.filter(pk=run.pk).update(worker_class=WorkerClass.GPU_48)
    leases.run_next_claim(worker="large", worker_class=WorkerClass.GPU_48)
    leases.run_start(run_id=run.pk, worker="large")
    assert leases.task_group_claim(run_id=run.pk, worker="weak", worker_class=WorkerClass.GPU_24) == []
    assert leases.run_next_claim(worker="weak", worker_class=WorkerClass.GPU_24) is None
    assert leases.task_group_claim(run_id=run.pk, worker="large", worker_class=WorkerClass.GPU_48)


def test_what_is_put_back_for_later_stands_in_nobodys_way() -> None:
    suite, user = make_suite(n_tasks=1), make_user()
    later, now = queued(suite, user), queued(suite, user)
    Run.objects.filter(pk=later.pk).update(retry_at=timezone.now() + HOUR)
    assert taken() == now
    assert taken() is None
    assert waiting_line() == [later.pk]
    Run.objects.filter(pk=later.pk).update(retry_at=timezone.now() - HOUR)
    assert taken() == later


def test_a_begun_run_without_a_worker_goes_first_and_one_with_a_worker_last() -> None:
    suite, other = make_suite(n_tasks=4), make_suite("other", n_tasks=1)
    begun = queued(suite, make_user())
    leases.run_next_claim(worker="w1")
    leases.run_start(run_id=begun.pk, worker="w1")
    waiting = queued(other, make_user())
    assert leases.run_next_claim(worker="w2") == begun
    assert leases.task_group_claim(run_id=begun.pk, worker="w1")
    assert leases.run_next_claim(worker="w2") == waiting
    assert leases.run_next_claim(worker="w3") == begun


class Turns:
    """An independent account of who is served: a queue of people, each with a queue of runs."""

    def __init__(self) -> None:
        self.runs: dict[int, list[object]] = {}
        self.served: dict[int, int] = {}
        self.arrivals: dict[object, int] = {}

    def submit(self, person: int, run: object) -> None:
        self.arrivals[run] = len(self.arrivals)
        self.runs.setdefault(person, []).append(run)

    def serve(self) -> object | None:
        waiting = [person for person, line in self.runs.items() if line]
        if not waiting:
            return None
        person = min(waiting, key=lambda one: (self.served.get(one, -1), self.arrivals[self.runs[one][0]]))
        self.served[person] = max(self.served.values(), default=-1) + 1
        return self.runs[person].pop(0)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.integers(0, 3), st.none()), min_size=1, max_size=25))
def test_any_course_of_events_gives_the_turns_of_an_independent_account(events: list[int | None]) -> None:
    with undone():
        suite, people, account = make_suite(n_tasks=1), [make_user() for _ in range(4)], Turns()
        for event in [*events, *[None] * len(events)]:
            if event is not None:
                account.submit(event, queued(suite, people[event]))
                continue
            predicted = next(iter(waiting_line()), None)
            found = taken()
            assert found == account.serve()
            assert predicted == (found.pk if found else None)


@dataclass(frozen=True)
class Wait:
    """A waiting run in a random queue; times in hours."""

    person: int
    priority: int
    waited: float
    seconds: float
    is_put_back: bool
    worker_class: str


waits = st.builds(
    Wait,
    person=st.integers(0, 3),
    priority=st.sampled_from(Priority.values),
    waited=st.sampled_from([0.0, 1.0, 5.0, 23.0, 25.0, 47.0, 49.0, 100.0]),
    seconds=st.sampled_from([0.0, 60.0, 7200.0, 90_000.0]),
    is_put_back=st.booleans(),
    worker_class=st.sampled_from([WorkerClass.CPU.value, WorkerClass.GPU_24.value]),
)


def written(rows: list[tuple[Wait, Run]], last_served: list[float | None]) -> list[Run]:
    """The order of the module's description, worked out in Python. `last_served`: how many hours ago, by person."""

    def own_place(row: tuple[Wait, Run]) -> tuple[float, object]:
        return row[0].seconds / 3600 - row[0].waited, row[1].pk

    def place(row: tuple[Wait, Run]) -> tuple[object, ...]:
        same_share = [other for other in rows if (group(other), other[0].person) == (group(row), row[0].person)]
        served = last_served[row[0].person]
        turn = sorted(same_share, key=own_place).index(row)
        return group(row), turn, served is not None, -(served or 0), own_place(row)

    def group(row: tuple[Wait, Run]) -> int:
        return max(Priority.VISITOR, row[0].priority - PRIORITY_STEP * int(row[0].waited // 24))

    return [run for _, run in sorted(rows, key=place)]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(waits, min_size=1, max_size=12),
    st.lists(st.sampled_from([None, 0.5, 2.0, 30.0]), min_size=4, max_size=4),
)
def test_any_queue_is_served_in_the_order_that_is_written_down(
    found: list[Wait], last_served: list[float | None]
) -> None:
    with undone():
        now = timezone.now()
        suite, people, model = make_suite(n_tasks=1), [make_user() for _ in range(4)], make_revision().model
        ended = [
            new_run(suite, model, people[person], state=RunState.SUCCEEDED, started_at=at, finished_at=at)
            for person, ago in enumerate(last_served)
            if ago is not None and (at := now - ago * HOUR)
        ]
        rows = [
            (
                wait,
                new_run(
                    suite,
                    model,
                    people[wait.person],
                    priority=wait.priority,
                    expected_seconds=wait.seconds,
                    worker_class=wait.worker_class,
                    retry_at=now + HOUR if wait.is_put_back else None,
                ),
            )
            for wait in found
        ]
        new = [*ended, *(run for _, run in rows)]
        ModelRevision.objects.bulk_create([run.revision for run in new])
        Run.objects.bulk_create(new)
        for wait, run in rows:
            run.created_at = now - wait.waited * HOUR
        Run.objects.bulk_update([run for _, run in rows], ["created_at"])

        assert waiting_line() == [run.pk for run in written(rows, last_served)]
        for worker_class in (WorkerClass.CPU, WorkerClass.GPU_48):
            able = [
                (wait, run)
                for wait, run in rows
                if not wait.is_put_back and worker_class in (wait.worker_class, WorkerClass.GPU_48)
            ]
            assert first_waiting_locked(worker_class) == next(iter(written(able, last_served)), None)


def new_run(suite: Suite, model: EmbeddingModel, user: User, **fields: Any) -> Run:
    """A run of a revision of its own, neither of which is stored."""
    revision = ModelRevision(model=model, commit=f"{uuid4().hex:0>40}")
    return Run(revision=revision, suite=suite, attempt=1, requested_by=user, **fields)


@pytest.mark.django_db(transaction=True)
def test_what_others_are_taking_is_passed_over_in_the_order_of_the_line() -> None:
    """Two people with three visitors' runs and two reruns each; others hold the locks of ever more of the line."""
    suite = make_suite(n_tasks=1)
    for user in (make_user(), make_user()):
        for number in range(3):
            queued(suite, user, seconds=number)
        for _ in range(2):
            queued(suite, user, priority=Priority.RERUN)
    line = waiting_line()
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            for run_id in line:
                with undone():
                    assert first_waiting_locked(WorkerClass.CPU).pk == run_id
                cursor.execute("SELECT FROM leaderboard_run WHERE id = %s FOR UPDATE", [run_id])
        with undone():
            assert first_waiting_locked(WorkerClass.CPU) is None
    finally:
        other.close()


def thousand_runs(suite: Suite) -> dict[int, int]:
    """A thousand waiting runs of thirty people, very unevenly many each; how many by person."""
    people = [make_user() for _ in range(30)]
    shares = {user.pk: 1 + number * number // 9 for number, user in enumerate(people)}
    shares[people[-1].pk] += 1000 - sum(shares.values())
    model = make_revision().model
    rows = []
    for user, share in sorted(shares.items(), reverse=True):  # the greediest comes first
        for _ in range(share):
            revision = ModelRevision(model=model, commit=f"f{len(rows):039x}")
            rows.append(Run(revision=revision, suite=suite, attempt=1, requested_by_id=user))
    ModelRevision.objects.bulk_create([run.revision for run in rows])
    Run.objects.bulk_create(rows)
    return shares


def test_of_a_thousand_runs_by_thirty_people_nobody_waits_longer_than_their_share_and_one() -> None:
    """The k-th run of a person who waits starts when nobody has been served more than k times."""
    shares = thousand_runs(make_suite(n_tasks=1))
    assert sum(shares.values()) == 1000
    persons = dict(Run.objects.filter(state=RunState.QUEUED).values_list("pk", "requested_by_id"))
    served: Counter[int] = Counter()
    for run_id in waiting_line():
        person = persons[run_id]
        served[person] += 1
        assert max(served.values()) <= served[person]
    assert served == Counter(shares)


def test_claims_follow_the_line_at_depth() -> None:
    thousand_runs(make_suite(n_tasks=1))
    line = waiting_line()
    found = [leases.run_next_claim(worker=f"w{number}").pk for number in range(60)]
    assert found == line[:60]
    assert RunEvent.objects.filter(to_state=RunState.PREPARING).count() == 60
    assert Run.objects.filter(pk__in=found, claims=F("attempt")).count() == 60
