"""A run from the queue to the board, and every way in which workers can lose it."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from leaderboard.exceptions import LeaseLost, TransitionRefused
from leaderboard.models import Run, TaskRun
from leaderboard.models.vocabulary import RunState, TaskRunState
from leaderboard.services import failures, leases, publishing, results, runs
from tests.factories import make_published_run, make_run, make_suite, make_user

pytestmark = pytest.mark.django_db

OUTCOME = results.TaskOutcome(
    main_metric="hit@1",
    scores=(results.ScoreValue("hit@1", 0.5, 0.4, 0.6),),
    chance=0.25,
    n_queries=4,
    hit_at_1_optimistic=0.5,
    hit_at_1_pessimistic=0.5,
    self_excluded=0,
    n_inputs=8,
    seconds_embedding=1.0,
    seconds_ranking=0.1,
    peak_memory_bytes=1,
    data_sha256="0" * 64,
    outcomes=b"x",
)
AGGREGATES = [results.Aggregate("overall", "", "hit@1", 0.5, 0.4, 0.6, 4, 4)]


def start(run: Run, worker: str = "w1") -> None:
    assert leases.run_next_claim(worker=worker) == run
    leases.run_start(run_id=run.pk, worker=worker)


def finish(run: Run, worker: str = "w1") -> None:
    while claims := leases.task_group_claim(run_id=run.pk, worker=worker):
        for claim in claims:
            results.task_run_succeed(claim=claim, worker=worker, outcome=OUTCOME)
    assert results.run_scoring_claim(worker=worker) == run
    results.run_succeed(run_id=run.pk, worker=worker, aggregates=AGGREGATES)


def expire(run: Run) -> None:
    past = Now() - timedelta(seconds=1)
    TaskRun.objects.filter(run=run, state=TaskRunState.CLAIMED).update(lease_expires_at=past)
    Run.objects.filter(pk=run.pk).exclude(lease_owner="").update(lease_expires_at=past)


def test_a_run_goes_through_every_state_and_is_published() -> None:
    run = make_run()
    start(run)
    finish(run)
    run.refresh_from_db()
    assert run.state == RunState.SUCCEEDED
    assert run.is_published
    assert list(run.events.values_list("to_state", flat=True)) == [
        "succeeded" if state == "published" else state
        for state in ["queued", "preparing", "running", "scoring", "succeeded", "published"]
    ]


def test_tasks_that_share_data_are_claimed_together_and_only_once() -> None:
    run = make_run(suite=make_suite(n_tasks=4))
    start(run)
    first = leases.task_group_claim(run_id=run.pk, worker="w1")
    second = leases.task_group_claim(run_id=run.pk, worker="w2")
    assert [claim.task_name for claim in first] == ["task0", "task1"]
    assert [claim.task_name for claim in second] == ["task2", "task3"]
    assert leases.task_group_claim(run_id=run.pk, worker="w3") == []


def test_an_expired_lease_is_reaped_and_the_zombies_write_is_refused() -> None:
    run = make_run()
    start(run)
    (claim, *_rest) = leases.task_group_claim(run_id=run.pk, worker="w1")
    expire(run)
    assert leases.leases_reap() == 2
    (again, *_) = leases.task_group_claim(run_id=run.pk, worker="w2")
    assert again.task_run_id == claim.task_run_id
    with pytest.raises(LeaseLost):
        results.task_run_succeed(claim=claim, worker="w1", outcome=OUTCOME)
    results.task_run_succeed(claim=again, worker="w2", outcome=OUTCOME)


def test_the_same_worker_cannot_write_with_an_old_claim() -> None:
    run = make_run()
    start(run)
    (old, *_) = leases.task_group_claim(run_id=run.pk, worker="w1")
    expire(run)
    leases.leases_reap()
    leases.task_group_claim(run_id=run.pk, worker="w1")
    with pytest.raises(LeaseLost):
        results.task_run_succeed(claim=old, worker="w1", outcome=OUTCOME)


def test_a_task_that_kills_its_worker_three_times_fails_and_the_run_still_ends() -> None:
    run = make_run(suite=make_suite(n_tasks=1))
    start(run)
    for _ in range(3):
        leases.task_group_claim(run_id=run.pk, worker="w1")
        expire(run)
        leases.leases_reap()
    task_run = run.task_runs.get()
    assert (task_run.state, task_run.error_code) == (TaskRunState.FAILED, "worker_lost")
    results.run_scoring_claim(worker="w2")
    run.refresh_from_db()
    assert (run.state, run.error_code) == (RunState.FAILED, "worker_lost")


@pytest.mark.parametrize("by", ["reaper", "worker"])
def test_tasks_that_waited_behind_the_one_in_work_are_not_blamed(by: str) -> None:
    run = make_run(suite=make_suite(n_tasks=2))
    start(run)
    for _ in range(3):
        claims = leases.task_group_claim(run_id=run.pk, worker="w1")
        if by == "reaper":
            expire(run)
            leases.leases_reap()
        else:
            leases.claims_return(claims=claims, worker="w1")
    states = dict(run.task_runs.values_list("task__name", "state"))
    assert states == {"task0": TaskRunState.FAILED, "task1": TaskRunState.PENDING}


def test_losses_count_only_since_a_task_was_done() -> None:
    run = make_run(suite=make_suite(n_tasks=4))
    start(run)
    for number in range(4):
        for _ in range(2 if number % 2 == 0 else 0):
            leases.run_give_back(run_id=run.pk, claim=run.claims, worker="w1", reason="the child ended")
        if number % 2 == 0:
            claims = leases.task_group_claim(run_id=run.pk, worker="w1")
        results.task_run_succeed(claim=claims[number % 2], worker="w1", outcome=OUTCOME)
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    for _ in range(3):
        leases.run_give_back(run_id=run.pk, claim=run.claims, worker="w1", reason="the child ended")
    run.refresh_from_db()
    assert (run.state, run.error_code) == (RunState.FAILED, "worker_lost")


def test_a_run_whose_preparer_vanished_is_queued_again() -> None:
    run = make_run()
    leases.run_next_claim(worker="w1")
    expire(run)
    leases.leases_reap()
    assert leases.run_next_claim(worker="w2") == run
    with pytest.raises(LeaseLost):
        leases.run_start(run_id=run.pk, worker="w1")
    leases.run_start(run_id=run.pk, worker="w2")


def test_a_run_whose_closer_vanished_is_closed_by_another() -> None:
    run = make_run(suite=make_suite(n_tasks=1))
    start(run)
    (claim,) = leases.task_group_claim(run_id=run.pk, worker="w1")
    results.task_run_succeed(claim=claim, worker="w1", outcome=OUTCOME)
    results.run_scoring_claim(worker="w1")
    expire(run)
    leases.leases_reap()
    results.run_scoring_claim(worker="w2")
    with pytest.raises(LeaseLost):
        results.run_succeed(run_id=run.pk, worker="w1", aggregates=AGGREGATES)
    results.run_succeed(run_id=run.pk, worker="w2", aggregates=AGGREGATES)


def test_cancel_works_in_every_active_state_and_workers_learn_of_it() -> None:
    for step in ["queued", "preparing", "running"]:
        run = make_run(suite=make_suite(f"suite-{step}"))
        if step != "queued":
            leases.run_next_claim(worker="w1")
        if step == "running":
            leases.run_start(run_id=run.pk, worker="w1")
            leases.task_group_claim(run_id=run.pk, worker="w1")
        runs.run_cancel(run_id=run.pk, actor="somebody")
        assert set(run.task_runs.values_list("state", flat=True)) == {"cancelled"}
        with pytest.raises(LeaseLost):
            leases.leases_renew(run_id=run.pk, worker="w1")
        with pytest.raises(TransitionRefused):
            runs.run_cancel(run_id=run.pk, actor="somebody")


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED])
def test_a_rerun_starts_from_any_state(state: RunState) -> None:
    old = make_run(state=state)
    new = runs.run_rerun(run_id=old.pk, actor=make_user(is_staff=True))
    old.refresh_from_db()
    assert new.attempt == 2
    assert new.rerun_of == old
    assert old.state == (RunState.CANCELLED if state == RunState.QUEUED else state)
    assert new.task_runs.filter(state=TaskRunState.PENDING).count() == old.task_runs.count()


def test_a_rerun_of_failed_tasks_carries_the_others_over() -> None:
    old = make_run(suite=make_suite(n_tasks=2))
    start(old)
    good, bad = leases.task_group_claim(run_id=old.pk, worker="w1")
    results.task_run_succeed(claim=good, worker="w1", outcome=OUTCOME)
    failures.task_failure_report(
        claim=bad, worker="w1", worker_class="cpu", code="input_unreadable", kind="data", message="a.png is empty"
    )
    results.run_scoring_claim(worker="w1")
    results.run_succeed(run_id=old.pk, worker="w1", aggregates=AGGREGATES)
    new = runs.run_rerun(run_id=old.pk, actor=make_user(is_staff=True), failed_only=True)
    carried = new.task_runs.get(task__name="task0")
    assert carried.state == TaskRunState.SUCCEEDED
    assert carried.carried_from_id == old.task_runs.get(task__name="task0").pk
    assert carried.scores.get().value == 0.5
    assert new.task_runs.get(task__name="task1").state == TaskRunState.PENDING


def test_a_rerun_of_failed_tasks_needs_a_failed_task() -> None:
    run = make_published_run(suite=make_suite())
    with pytest.raises(TransitionRefused):
        runs.run_rerun(run_id=run.pk, actor=make_user(is_staff=True), failed_only=True)


def test_a_rerun_replaces_the_published_run_only_when_a_person_says_so() -> None:
    old = make_published_run(suite=make_suite())
    new = runs.run_rerun(run_id=old.pk, actor=make_user(is_staff=True))
    start(new)
    finish(new)
    old.refresh_from_db()
    new.refresh_from_db()
    assert old.is_published
    assert not new.is_published
    publishing.run_publish(run_id=new.pk, actor="admin")
    old.refresh_from_db()
    assert not old.is_published


def test_visitors_go_before_reruns() -> None:
    rerun = runs.run_rerun(run_id=make_run(state=RunState.FAILED).pk, actor=make_user(is_staff=True))
    visitor = make_run(suite=make_suite("another"))
    assert leases.run_next_claim(worker="w1") == visitor
    assert leases.run_next_claim(worker="w1") == rerun
