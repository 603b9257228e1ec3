"""What people and machines see of the work: timelines, workers, logs, metrics."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.models import ChildLog, Run, RunEvent, Submission, TaskRun, User, Worker
from leaderboard.models.vocabulary import RunState, TaskRunState, WorkerClass
from leaderboard.selectors.runs import run_detail
from leaderboard.selectors.workers import worker_details
from leaderboard.services import failures, leases, results, runs
from leaderboard.services.administration import (
    submissions_pause,
    worker_class_pause,
    worker_report,
    worker_seen,
    worker_takes,
)
from leaderboard.services.child_logs import child_log_store
from leaderboard.views.timeline import LEFT, SMALLEST, WIDTH, run_timeline
from tests.factories import make_published_run, make_run, make_suite
from tests.leaderboard.pages import tables
from tests.leaderboard.test_lifecycle import OUTCOME

pytestmark = pytest.mark.django_db

NOTICE = r'<div class="notice warning" role="status">(.*?)</div>'
NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.get_current_timezone())


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def event(run: Run, state: str, seconds: float, *, came_from: str = "") -> None:
    row = RunEvent.objects.create(run=run, from_state=came_from, to_state=state, actor="w1")
    RunEvent.objects.filter(pk=row.pk).update(at=at(seconds))


@pytest.fixture
def told() -> Run:
    """Queued for an hour, prepared in 100 s, run for 300 s on two workers, closed in 100 s."""
    run = make_run(suite=make_suite(n_tasks=4), state=RunState.SUCCEEDED)
    run.events.all().delete()
    event(run, "queued", -3600)
    event(run, "preparing", 0, came_from="queued")
    event(run, "running", 100, came_from="preparing")
    event(run, "scoring", 400, came_from="running")
    event(run, "succeeded", 500, came_from="scoring")
    Run.objects.filter(pk=run.pk).update(started_at=at(0), finished_at=at(500), created_at=at(-3600))
    ends = {"task0": (100, 200, "w1"), "task1": (100, 250, "w1"), "task2": (100, 400, "w2"), "task3": (None, 500, "")}
    for name, (start, end, worker) in ends.items():
        task_runs = TaskRun.objects.filter(run=run, task__name=name)
        task_runs.update(
            state=TaskRunState.FAILED if worker else TaskRunState.CANCELLED,
            started_at=at(start) if start is not None else None,
            finished_at=at(end),
            finished_by=worker,
            **({"error_code": "x", "error_kind": "data", "error_message": "x"} if worker else {}),
        )
    return run


def test_a_timeline_has_the_stages_and_the_tasks_of_each_worker_one_after_the_other(told: Run) -> None:
    timeline = run_timeline(run_detail(told.pk), now=timezone.now())
    assert [(stage.title, stage.seconds) for stage in timeline.stages] == [
        ("Queued", 3600), ("Preparing", 100), ("Running", 300), ("Scoring", 100),
    ]  # fmt: skip
    assert [lane.name for lane in timeline.lanes] == ["Stages", "w1", "w2"]
    room = WIDTH - LEFT - SMALLEST
    places = [[(bar.x, bar.width) for bar in lane.bars] for lane in timeline.lanes]

    def bar(start: float, end: float) -> tuple[float, float]:
        return pytest.approx((LEFT + room * start / 500, room * (end - start) / 500), abs=0.06)

    # Both tasks of w1 were claimed at 100; the second was done after the first.
    assert places == [[bar(0, 100), bar(100, 400), bar(400, 500)], [bar(100, 200), bar(200, 250)], [bar(100, 400)]]
    assert timeline.lanes[1].bars[1].title == "Task number 1: failed, 50 s"
    assert timeline.seconds == 500


def test_a_run_that_was_taken_back_shows_that_it_waited_again() -> None:
    run = make_run()
    run.events.all().delete()
    for state, came_from, seconds in [
        ("queued", "", -10), ("preparing", "queued", 0), ("queued", "preparing", 30), ("preparing", "queued", 90),
    ]:  # fmt: skip
        event(run, state, seconds, came_from=came_from)
    Run.objects.filter(pk=run.pk).update(started_at=at(0))
    timeline = run_timeline(run_detail(run.pk), now=at(120))
    assert [(stage.state, stage.seconds) for stage in timeline.stages] == [
        ("queued", 10), ("preparing", 30), ("queued", 60), ("preparing", 30),
    ]  # fmt: skip
    assert len(timeline.lanes[0].bars) == 3


def test_every_bar_lies_inside_the_picture_whatever_the_clocks_said(told: Run) -> None:
    TaskRun.objects.filter(run=told, task__name="task0").update(started_at=at(-900), finished_at=at(-800))
    TaskRun.objects.filter(run=told, task__name="task2").update(started_at=at(600), finished_at=at(550))
    timeline = run_timeline(run_detail(told.pk), now=timezone.now())
    for lane in timeline.lanes:
        for bar in lane.bars:
            assert bar.width >= SMALLEST
            assert bar.x >= LEFT
            assert bar.x + bar.width <= WIDTH + 0.1


def test_the_page_draws_it_without_scripts_and_says_it_in_words(told: Run, client: Client) -> None:
    text = client.get(reverse("run-detail", args=[told.pk])).content.decode()
    for words in ['<svg class="timeline"', "Timeline of 8 min: 3 tasks on 2 workers", "Queued 1 h 0 min", "w2"]:
        assert words in text
    assert run_timeline(run_detail(make_run(suite=make_suite("waits")).pk), now=timezone.now()) is None


def test_a_finished_task_says_who_did_it() -> None:
    run = make_run(suite=make_suite(n_tasks=2))
    leases.run_next_claim(worker="w1")
    leases.run_start(run_id=run.pk, worker="w1")
    first, second = leases.task_group_claim(run_id=run.pk, worker="w1")
    results.task_run_succeed(claim=first, worker="w1", outcome=OUTCOME)
    runs.run_cancel(run_id=run.pk, actor="somebody")
    done = dict(run.task_runs.values_list("task__name", "finished_by"))
    assert done == {first.task_name: "w1", second.task_name: ""}


def test_the_workers_page_says_what_each_does_and_how_fast(client: Client) -> None:
    run = make_run(suite=make_suite(n_tasks=4))
    worker_report(name="w1", device="cuda:0", versions={"torch": "2.13.0"})
    worker_report(name="idle", device="cpu", versions={})
    worker_seen(name="w1", memory_bytes=3 * 1024**3, memory_total_bytes=16 * 1024**3)
    worker_takes(name="w1", run_id=run.pk)
    leases.run_next_claim(worker="w1")
    leases.run_start(run_id=run.pk, worker="w1")
    (first, second) = leases.task_group_claim(run_id=run.pk, worker="w1")
    results.task_run_succeed(claim=first, worker="w1", outcome=OUTCOME)
    failures.task_failure_report(
        claim=second, worker="w1", worker_class="cpu", code="input_unreadable", kind="data", message="a.png is empty"
    )
    third, _ = leases.task_group_claim(run_id=run.pk, worker="w1")
    results.task_run_progress(claim=third, worker="w1", done=30, total=120)
    details = {worker.row.name: worker for worker in worker_details()}
    own = details["w1"]
    # The outcome has 8 inputs, embedded in one second.
    assert (own.throughput.n_succeeded, own.throughput.n_failed, own.throughput.inputs_per_second) == (1, 1, 8.0)
    assert (own.current.title, own.current.inputs_done, own.current.n_behind) == ("Task number 2", 30, 1)
    assert own.memory_bytes == 3 * 1024**3
    assert (details["idle"].current, details["idle"].throughput.n_succeeded) == (None, 0)
    text = client.get(reverse("workers")).content.decode()
    for words in ["30 of 120 inputs", "1 more task of the same data", "3.0\xa0GB", "torch 2.13.0", "8.0"]:
        assert words in text


def test_a_worker_has_started_when_the_database_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: before - timedelta(days=365))  # the worker's clock is wrong
    worker_report(name="w1", device="cpu", versions={})
    (worker,) = Worker.objects.all()
    assert timedelta(0) <= worker.last_seen_at - before < timedelta(minutes=1)
    assert worker.started_at == worker.last_seen_at


def test_results_that_were_carried_over_are_nobodys_work(administrator: User) -> None:
    worker_report(name="w1", device="cpu", versions={})
    old = make_published_run(suite=make_suite(n_tasks=2))
    old.task_runs.update(finished_by="w1")
    runs.run_rerun(run_id=old.pk, actor=administrator, tasks=["task0"])
    assert worker_details()[0].throughput.n_succeeded == 2


def test_the_number_of_queries_for_workers_does_not_grow(client: Client, django_assert_num_queries: Any) -> None:
    for number in range(6):
        worker_report(name=f"worker{number}", device="cpu", versions={})
    with django_assert_num_queries(6):
        client.get(reverse("workers"))


def test_the_workers_page_says_what_is_paused_by_whom_and_why(client: Client, administrator: User) -> None:
    worker_report(name="large", device="cuda:0", worker_class="gpu-24", versions={})
    worker_report(name="small", device="cpu", versions={})
    assert "paused" not in client.get(reverse("workers")).content.decode()
    submissions_pause(actor=administrator, reason="New data are being installed.")
    worker_class_pause(actor=administrator, worker_class=WorkerClass.GPU_24, reason="The driver is renewed.")
    html = client.get(reverse("workers")).content.decode()
    notices = [" ".join(re.sub("<[^>]*>", "", part).split()) for part in re.findall(NOTICE, html, re.DOTALL)]
    who = administrator.get_username()
    assert [notice.rpartition(", ")[0] for notice in notices] == [
        f"Submissions are paused. What waits goes on. New data are being installed. By {who}",
        (
            "Workers of class GPU, 24 GiB are paused. They finish what they hold and take no more. The driver is renewed."
            f" By {who}"
        ),
    ]
    assert html.count('<time datetime="') >= 2, "since when, to the second"
    states = {row[0].partition("|")[0].strip(): row[1] for row in tables(html)[0][1:]}
    assert (states["large"], states["small"]) == ("Up, paused", "Up")


@pytest.fixture
def logged(submitter: User) -> Run:
    run = make_run(user=submitter)
    run.submission = Submission.objects.create(revision=run.revision, suite=run.suite, submitter=submitter)
    run.save()
    child_log_store(run_id=run.pk, worker="w1", text="<b>Some weights were not used</b>")
    return run


def test_the_log_is_for_the_submitter_and_administrators_alone(
    logged: Run, client: Client, submitter_client: Client, administrator_client: Client, stranger_client: Client
) -> None:
    page = reverse("run-detail", args=[logged.pk])
    words = "&lt;b&gt;Some weights were not used&lt;/b&gt;"
    for allowed in (submitter_client, administrator_client):
        assert words in allowed.get(page).content.decode()
    for other in (client, stranger_client):
        assert "Some weights" not in other.get(page).content.decode()
        assert "What the evaluation printed" not in other.get(page).content.decode()
    own = reverse("submission-detail", args=[logged.submission_id])
    assert words in submitter_client.get(own).content.decode()
    assert "Some weights" not in client.get(reverse("run-progress", args=[logged.pk])).content.decode()


def test_of_a_long_log_the_end_is_kept(logged: Run) -> None:
    child_log_store(run_id=logged.pk, worker="w1", text="\x00" + "x" * 70_000 + "the end")
    log = ChildLog.objects.get()
    assert len(log.text) == 64 * 1024
    assert log.text.endswith("xthe end")


def scrape(client: Client, token: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = client.get(reverse("metrics"), headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_metrics_need_the_token(client: Client, settings: Any) -> None:
    page = reverse("metrics")
    assert client.get(page).status_code == 404
    settings.METRICS_TOKEN = "a-token"
    for headers in ({}, {"Authorization": "Bearer another"}, {"Authorization": "a-token"}):
        answer = client.get(page, headers=headers)
        assert answer.status_code == 401
        assert b"medboard_" not in answer.content
    assert client.get(page, headers={"Authorization": "Bearer a-token"}).status_code == 200


def test_metrics_count_what_is_there(client: Client, settings: Any, told: Run) -> None:
    settings.METRICS_TOKEN = "a-token"
    waiting = make_run(suite=make_suite("another", n_tasks=3))
    Run.objects.filter(pk=waiting.pk).update(created_at=timezone.now() - timedelta(hours=2))
    failed = make_run(suite=make_suite("third", n_tasks=1))
    runs.run_fail(run_id=failed.pk, actor="w1", code="model_unsafe", kind="model", message="No.")
    worker_report(name='w"1\\', device="cuda:0", versions={})
    worker_seen(name='w"1\\', memory_bytes=123, memory_total_bytes=456)
    Worker.objects.update(last_seen_at=timezone.now() - timedelta(seconds=100))
    TaskRun.objects.filter(run=waiting, task__name="task0").update(
        state=TaskRunState.CLAIMED, lease_owner="gone", lease_expires_at=timezone.now() - timedelta(seconds=5)
    )
    found = scrape(client, "a-token")

    def value(name: str, **labels: str) -> float:
        return found[name, tuple(sorted(labels.items()))]

    assert value("medboard_runs", suite="another", priority="visitor", state="queued") == 1
    assert value("medboard_runs", suite="third", priority="visitor", state="failed") == 1
    assert value("medboard_runs_failed", kind="model", code="model_unsafe") == 1
    assert value("medboard_task_runs", state="pending") == 2
    assert value("medboard_task_runs", state="claimed") == value("medboard_leases_expired") == 1
    assert value("medboard_queue_oldest_seconds", priority="visitor") == pytest.approx(7200, abs=60)
    worker = {"worker": 'w"1\\', "device": "cuda:0"}
    assert value("medboard_worker_heartbeat_age_seconds", **worker) == pytest.approx(100, abs=30)
    assert value("medboard_worker_memory_bytes", **worker) == 123
    # The told run took 500 s: above the bucket of 300 and within that of 900; it had waited an hour.
    of_told = {"suite": "medheb-test", "state": "succeeded"}
    assert value("medboard_run_duration_seconds_bucket", le="300.0", **of_told) == 0
    assert value("medboard_run_duration_seconds_bucket", le="900.0", **of_told) == 1
    assert value("medboard_run_duration_seconds_bucket", le="+Inf", **of_told) == 1
    assert value("medboard_run_duration_seconds_sum", **of_told) == 500
    assert value("medboard_run_wait_seconds_bucket", le="900.0", priority="visitor") == 0
    assert value("medboard_run_wait_seconds_bucket", le="3600.0", priority="visitor") == 1


def test_metrics_of_finished_tasks(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "a-token"
    make_published_run(suite=make_suite(n_tasks=3))
    found = scrape(client, "a-token")
    assert found["medboard_tasks_done_total", (("suite", "medheb-test"),)] == 3
    seconds = found["medboard_task_seconds_total", (("stage", "embedding"), ("suite", "medheb-test"))]
    assert seconds == pytest.approx(3.0)


def test_an_empty_board_has_metrics_too(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "a-token"
    assert scrape(client, "a-token")["medboard_leases_expired", ()] == 0
