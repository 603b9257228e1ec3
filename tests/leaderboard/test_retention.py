"""Logs and delivered messages are deleted after a time; nothing that belongs to a result is."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.utils import timezone

from leaderboard.models import ChildLog, Delivery, Run, RunEvent, Score, TaskRun
from leaderboard.models.vocabulary import Channel, DeliveryState, RunState
from leaderboard.services.child_logs import child_log_store
from leaderboard.services.retention import old_records_delete
from tests.factories import make_published_run, make_run, make_suite
from workers.celery import DELETE_OLD_RECORDS, app

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept(settings: Any) -> None:
    settings.CHILD_LOG_DAYS, settings.DELIVERY_DAYS = 30, 60


def ended(run: Run, *, days: float) -> Run:
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(days=days))
    child_log_store(run_id=run.pk, worker="w1", text="Loading the model.")
    return run


def message(run: Run, channel: Channel, *, state: DeliveryState, days: float) -> Delivery:
    at = timezone.now() - timedelta(days=days)
    return Delivery.objects.create(
        run=run,
        recipient=run.requested_by,
        channel=channel,
        outcome="succeeded",
        address="someone@example.org",
        content={},
        state=state,
        next_attempt_at=at,
        finished_at=None if state == DeliveryState.WAITING else at,
        trouble="" if state == DeliveryState.DELIVERED else "nobody answers",
    )


def test_a_log_is_deleted_when_its_run_ended_long_enough_ago() -> None:
    old = ended(make_published_run(suite=make_suite("old")), days=30.1)
    young = ended(make_published_run(suite=make_suite("young")), days=29.9)
    active = make_run(suite=make_suite("active"), state=RunState.RUNNING)
    child_log_store(run_id=active.pk, worker="w1", text="An hour is long.")
    ChildLog.objects.update(written_at=timezone.now() - timedelta(days=400))  # what counts is when the run ended
    assert old_records_delete().child_logs == 1
    assert set(ChildLog.objects.values_list("run", flat=True)) == {young.pk, active.pk}
    assert not old.child_logs.exists()
    assert old_records_delete().child_logs == 0


@pytest.mark.parametrize(
    ("state", "days", "stays"),
    [
        (DeliveryState.DELIVERED, 60.1, False),
        (DeliveryState.DELIVERED, 59.9, True),
        (DeliveryState.FAILED, 400, True),
        (DeliveryState.WAITING, 400, True),
    ],
)
def test_only_messages_that_were_delivered_long_enough_ago_are_deleted(
    state: DeliveryState, days: float, *, stays: bool
) -> None:
    run = make_published_run(suite=make_suite())
    message(run, Channel.EMAIL, state=state, days=days)
    assert old_records_delete().deliveries == (0 if stays else 1)
    assert Delivery.objects.exists() is stays


def test_results_and_histories_are_not_touched() -> None:
    run = ended(make_published_run(suite=make_suite()), days=4000)
    RunEvent.objects.create(run=run, to_state=RunState.QUEUED, actor="somebody")
    RunEvent.objects.update(at=timezone.now() - timedelta(days=4000))
    message(run, Channel.EMAIL, state=DeliveryState.DELIVERED, days=4000)
    before = [list(model.objects.order_by("pk").values()) for model in (Run, TaskRun, Score, RunEvent)]
    assert all(before)
    out = io.StringIO()
    call_command("delete_old_records", stdout=out)
    assert out.getvalue() == "Deleted 1 logs and 1 delivered messages.\n"
    assert [list(model.objects.order_by("pk").values()) for model in (Run, TaskRun, Score, RunEvent)] == before


@pytest.mark.parametrize("name", ["CHILD_LOG_DAYS", "DELIVERY_DAYS"])
def test_a_time_below_a_day_deletes_nothing(settings: Any, name: str) -> None:
    run = ended(make_published_run(suite=make_suite()), days=4000)
    message(run, Channel.EMAIL, state=DeliveryState.DELIVERED, days=4000)
    setattr(settings, name, 0)
    with pytest.raises(ImproperlyConfigured, match=f"{name} is 0; it must be at least 1 day"):
        old_records_delete()
    assert ChildLog.objects.exists()
    assert Delivery.objects.exists()


@pytest.mark.parametrize(("hour", "seconds"), [(1, 2 * 3600 + 17 * 60), (22, 5 * 3600 + 17 * 60)])
def test_beat_rings_for_it_once_a_night_whenever_beat_started(
    monkeypatch: pytest.MonkeyPatch, hour: int, seconds: int
) -> None:
    schedule = app.conf.beat_schedule[DELETE_OLD_RECORDS]["schedule"]
    start = datetime(2026, 3, 1, hour, tzinfo=UTC)
    monkeypatch.setattr(schedule, "nowfun", lambda: start)
    assert (schedule.is_due(start).is_due, schedule.is_due(start).next) == (False, seconds)
    monkeypatch.setattr(schedule, "nowfun", lambda: start + timedelta(seconds=seconds))
    assert (schedule.is_due(start).is_due, schedule.is_due(start).next) == (True, 24 * 3600)


def test_a_worker_that_hears_of_it_does_it() -> None:
    ended(make_published_run(suite=make_suite()), days=4000)
    app.loader.import_default_modules()
    app.tasks[app.conf.beat_schedule[DELETE_OLD_RECORDS]["task"]].apply(throw=True)
    assert not ChildLog.objects.exists()
