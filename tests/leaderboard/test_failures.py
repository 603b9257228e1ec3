"""What becomes of failures by kind, how a run moves to a larger worker, and that nobody writes what is not theirs."""

from datetime import timedelta
from uuid import UUID

import pytest
import redis
from django.utils import timezone

from leaderboard import queue
from leaderboard.config.celery import celery_client
from leaderboard.exceptions import LeaseLost
from leaderboard.models import Run, TaskRun, Worker
from leaderboard.models.vocabulary import RunState, TaskRunState, WorkerClass
from leaderboard.services import failures, leases, results, runs
from leaderboard.services.administration import worker_report
from tests.factories import make_run, make_suite
from tests.leaderboard.test_lifecycle import AGGREGATES, OUTCOME, expire, finish, start

pytestmark = pytest.mark.django_db


def report(run: Run, *, claim: int = 1, worker: str = "w1", kind: str = "infrastructure", code: str = "odd") -> Run:
    return failures.run_failure_report(
        run_id=run.pk,
        claim=claim,
        worker=worker,
        worker_class=WorkerClass.CPU,
        code=code,
        kind=kind,
        message="It broke.",
    )


def report_task(
    claim: leases.TaskClaim, *, worker: str = "w1", kind: str = "infrastructure", code: str = "odd"
) -> None:
    failures.task_failure_report(
        claim=claim,
        worker=worker,
        worker_class=WorkerClass.CPU,
        code=code,
        kind=kind,
        message="It broke.",
    )


def time_passes() -> None:
    """What was put back for later is due."""
    past = timezone.now() - timedelta(hours=1)
    Run.objects.exclude(retry_at=None).update(retry_at=past)
    TaskRun.objects.exclude(retry_at=None).update(retry_at=past)


def larger_worker(worker_class: str = WorkerClass.GPU_48) -> None:
    worker_report(name="large", device="cuda", versions={}, worker_class=worker_class)


def seconds_until(run_id: UUID) -> float:
    return (Run.objects.get(pk=run_id).retry_at - timezone.now()).total_seconds()


def test_a_machines_failure_is_tried_again_three_times_and_later_each_time(settings: object) -> None:
    settings.RETRY_SECONDS = 10
    run = make_run()
    for attempt, pause in enumerate([10, 40, 160], start=1):
        assert leases.run_next_claim(worker="w1") == run
        report(run, claim=attempt)
        assert seconds_until(run.pk) == pytest.approx(pause, abs=5)
        assert leases.run_next_claim(worker="w1") is None
        time_passes()
    leases.run_next_claim(worker="w1")
    report(run, claim=4)
    run.refresh_from_db()
    assert (run.state, run.error_kind, run.retries) == (RunState.FAILED, "infrastructure", 3)


@pytest.mark.parametrize("kind", ["model", "data", "limit"])
def test_any_other_failure_is_final_at_once(kind: str) -> None:
    run = make_run()
    leases.run_next_claim(worker="w1")
    report(run, kind=kind)
    run.refresh_from_db()
    assert (run.state, run.error_kind, run.retries) == (RunState.FAILED, kind, 0)


def test_a_run_goes_on_from_its_last_finished_task() -> None:
    run = make_run(suite=make_suite(n_tasks=4))
    start(run)
    for claim in leases.task_group_claim(run_id=run.pk, worker="w1"):
        results.task_run_succeed(claim=claim, worker="w1", outcome=OUTCOME)
    report(run)
    assert leases.run_next_claim(worker="w2") is None
    assert results.run_scoring_claim(worker="w2") is None
    time_passes()
    assert leases.run_next_claim(worker="w2") == run
    finish(run, worker="w2")
    run.refresh_from_db()
    assert run.state == RunState.SUCCEEDED
    assert list(run.task_runs.values_list("claims", flat=True)) == [1, 1, 1, 1]


def test_a_task_is_tried_again_for_a_machines_failure_while_the_others_go_on() -> None:
    run = make_run(suite=make_suite(n_tasks=2))
    start(run)
    first, second = leases.task_group_claim(run_id=run.pk, worker="w1")
    for attempt in range(3):
        report_task(first)
        assert leases.task_group_claim(run_id=run.pk, worker="w1") == []
        assert results.run_scoring_claim(worker="w1") is None
        time_passes()
        (first,) = leases.task_group_claim(run_id=run.pk, worker="w1")
        assert first.claim == attempt + 2
    results.task_run_succeed(claim=second, worker="w1", outcome=OUTCOME)
    report_task(first)
    task_run = TaskRun.objects.get(pk=first.task_run_id)
    assert (task_run.state, task_run.error_code, task_run.retries) == (TaskRunState.FAILED, "odd", 3)
    assert results.run_scoring_claim(worker="w1") == run


@pytest.mark.parametrize("kind", ["model", "data", "limit"])
def test_a_task_fails_at_once_for_anything_else(kind: str) -> None:
    run = make_run(suite=make_suite(n_tasks=1))
    start(run)
    (claim,) = leases.task_group_claim(run_id=run.pk, worker="w1")
    report_task(claim, kind=kind)
    assert run.task_runs.get().state == TaskRunState.FAILED


def test_a_lack_of_memory_moves_the_run_to_the_smallest_larger_worker_and_keeps_what_is_done() -> None:
    larger_worker(WorkerClass.GPU_80)
    larger_worker(WorkerClass.GPU_48)
    run = make_run(suite=make_suite(n_tasks=4))
    start(run)
    done, heavy = leases.task_group_claim(run_id=run.pk, worker="w1")
    (held, *_) = leases.task_group_claim(run_id=run.pk, worker="w2")
    results.task_run_succeed(claim=done, worker="w1", outcome=OUTCOME)
    report_task(heavy, kind="limit", code="out_of_memory")
    run.refresh_from_db()
    assert (run.state, run.worker_class) == (RunState.QUEUED, WorkerClass.GPU_48)
    assert "gpu-48" in run.events.last().reason
    with pytest.raises(LeaseLost):
        results.task_run_succeed(claim=held, worker="w2", outcome=OUTCOME)
    assert leases.run_next_claim(worker="w1") is None
    assert leases.run_next_claim(worker="large", worker_class=WorkerClass.GPU_48) == run
    leases.run_start(run_id=run.pk, worker="large")
    again = leases.task_group_claim(run_id=run.pk, worker="large", worker_class=WorkerClass.GPU_48)
    assert [claim.task_name for claim in again] == [heavy.task_name]


def test_a_lack_of_memory_while_loading_moves_the_run_too() -> None:
    larger_worker()
    run = make_run()
    leases.run_next_claim(worker="w1")
    report(run, kind="limit", code="out_of_memory")
    run.refresh_from_db()
    assert (run.state, run.worker_class, run.lease_owner) == (RunState.QUEUED, WorkerClass.GPU_48, "")


def test_without_a_larger_worker_a_lack_of_memory_is_a_clear_failure() -> None:
    larger_worker()
    Worker.objects.update(last_seen_at=timezone.now() - timedelta(days=2))
    run = make_run(suite=make_suite(n_tasks=1))
    start(run)
    (claim,) = leases.task_group_claim(run_id=run.pk, worker="w1")
    report_task(claim, kind="limit", code="out_of_memory")
    task_run = run.task_runs.get()
    assert (task_run.state, task_run.error_code) == (TaskRunState.FAILED, "out_of_memory")


def test_a_task_that_loses_its_worker_three_times_goes_to_a_larger_one_before_it_fails() -> None:
    larger_worker()
    run = make_run(suite=make_suite(n_tasks=1))
    start(run)
    for _ in range(3):
        leases.task_group_claim(run_id=run.pk, worker="w1")
        expire(run)
        leases.leases_reap()
    run.refresh_from_db()
    assert (run.state, run.worker_class) == (RunState.QUEUED, WorkerClass.GPU_48)
    assert run.task_runs.get().state == TaskRunState.PENDING


def test_a_worker_whose_run_was_taken_from_the_queue_anew_writes_nothing_of_it() -> None:
    run = make_run()
    leases.run_next_claim(worker="zombie")
    expire(run)
    leases.leases_reap()
    assert leases.run_next_claim(worker="w2") == run
    before = Run.objects.filter(pk=run.pk).values().get()
    for write in (
        lambda: report(run, claim=1, worker="zombie", kind="model"),
        lambda: results.run_model_describe(
            run_id=run.pk, claim=1, description={"dimension": 1}, environment={}, code_version=""
        ),
        lambda: leases.run_start(run_id=run.pk, worker="zombie"),
        lambda: results.run_succeed(run_id=run.pk, worker="zombie", aggregates=AGGREGATES),
    ):
        with pytest.raises(LeaseLost):
            write()
    leases.run_give_back(run_id=run.pk, claim=1, worker="zombie", reason="lost")
    assert Run.objects.filter(pk=run.pk).values().get() == before


def test_a_helper_cannot_fail_a_run_that_another_closes() -> None:
    run = make_run(suite=make_suite(n_tasks=1))
    start(run)
    (claim,) = leases.task_group_claim(run_id=run.pk, worker="w1")
    results.task_run_succeed(claim=claim, worker="w1", outcome=OUTCOME)
    results.run_scoring_claim(worker="w1")
    with pytest.raises(LeaseLost):
        report(run, worker="helper", kind="model")


def test_claims_only_grow_also_when_a_worker_was_told_to_stop() -> None:
    run = make_run(suite=make_suite(n_tasks=1))
    start(run)
    claims = leases.task_group_claim(run_id=run.pk, worker="w1")
    leases.claims_return(claims=claims, worker="w1", blameless=True)
    (again,) = leases.task_group_claim(run_id=run.pk, worker="w1")
    assert again.claim == claims[0].claim + 1
    assert run.task_runs.get().lost_leases == 0
    with pytest.raises(LeaseLost):
        results.task_run_succeed(claim=claims[0], worker="w1", outcome=OUTCOME)


@pytest.mark.parametrize("end", ["cancelled", "put back"])
def test_a_worker_can_tell_at_any_time_whether_its_run_goes_on(end: str) -> None:
    run = make_run()
    leases.run_next_claim(worker="w1")
    assert leases.run_is_worked_on(run_id=run.pk, claim=1)
    if end == "cancelled":
        runs.run_cancel(run_id=run.pk, actor="somebody")
    else:
        report(run)
        assert not leases.run_is_worked_on(run_id=run.pk, claim=1)
        time_passes()
        leases.run_next_claim(worker="w1")
        assert leases.run_is_worked_on(run_id=run.pk, claim=2)
    assert not leases.run_is_worked_on(run_id=run.pk, claim=1)


def test_unheard_bells_are_rung_again_but_never_more_than_a_few(
    settings: object, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    """On the real broker: a queue that nobody hears does not grow with every minute, nor with every run."""
    settings.REDIS_URL = settings.REDIS_URL.removesuffix("/0") + "/9"
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        broker.flushdb()
        monkeypatch.setattr(queue, "_client", celery_client)
        suite = make_suite(n_tasks=1)
        for _ in range(queue.MAX_BELLS + 3):
            make_run(suite=suite)
        for _ in range(3):
            with django_capture_on_commit_callbacks(execute=True):
                leases.leases_reap()
        assert broker.llen("evaluation-cpu") == queue.MAX_BELLS
        broker.flushdb()
        with django_capture_on_commit_callbacks(execute=True):
            leases.leases_reap()
        assert broker.llen("evaluation-cpu") == queue.MAX_BELLS
        broker.flushdb()


@pytest.mark.parametrize(
    ("states", "is_put_back", "bells"),
    [
        (["claimed", "claimed"], False, 0),
        (["claimed", "pending"], False, 1),
        (["claimed", "pending"], True, 0),
        (["succeeded", "claimed"], False, 0),
        (["succeeded", "failed"], False, 1),  # somebody must close it
    ],
)
def test_nobody_rings_for_a_run_of_which_others_hold_all_that_is_left(
    states: list[str],
    *,
    is_put_back: bool,
    bells: int,
    settings: object,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: object,
) -> None:
    """An idle worker that hears a bell looks for more before it rests; it must not ring for itself without end."""
    settings.REDIS_URL = settings.REDIS_URL.removesuffix("/0") + "/9"
    run = make_run(suite=make_suite(n_tasks=2), state=RunState.RUNNING)
    later = timezone.now() + timedelta(hours=1)
    for task_run, state in zip(run.task_runs.order_by("task__position"), states, strict=True):
        changes = {
            "claimed": {"lease_owner": "w1", "lease_expires_at": later},
            "pending": {"retry_at": later if is_put_back else None},
            "failed": {"error_code": "input_unreadable", "error_kind": "data", "error_message": "a.png is empty"},
            "succeeded": {"outcomes": b"0", "n_queries": 1, "chance": 0.5, "finished_at": timezone.now()},
        }[state]
        TaskRun.objects.filter(pk=task_run.pk).update(state=state, **changes)
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        broker.flushdb()
        monkeypatch.setattr(queue, "_client", celery_client)
        with django_capture_on_commit_callbacks(execute=True):
            leases.leases_reap()
        assert broker.llen("evaluation-cpu") == bells
        broker.flushdb()
