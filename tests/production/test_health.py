"""What is ready and what is not, each by name; and what a container's health check says."""

import socket
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.backends.utils import CursorWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from leaderboard.models import BoardSnapshot, Worker
from tests.factories import make_published_run, make_suite


def make_worker(name: str, *, seen_before: timedelta = timedelta()) -> Worker:
    now = timezone.now()
    return Worker.objects.create(name=name, device="cpu", started_at=now, last_seen_at=now - seen_before)


def readiness(client: Client) -> tuple[int, dict[str, str]]:
    """The status, and the messages of what is not ready."""
    answer = client.get("/readyz")
    content = answer.json()
    assert content["ready"] == (answer.status_code == 200)
    assert set(content["checks"]) == {"database", "migrations", "snapshot", "workers", "broker"}
    return answer.status_code, {n: check["message"] for n, check in content["checks"].items() if not check["ready"]}


def test_a_board_with_a_worker_is_ready_and_says_so_to_nobody_s_cache(client: Client, db: None) -> None:
    make_worker("host-1-abc")
    assert readiness(client) == (200, {})
    assert "no-store" in client.get("/readyz")["Cache-Control"]


def test_without_a_living_worker_it_is_not_ready(client: Client, db: None) -> None:
    make_worker("host-1-abc", seen_before=timedelta(hours=1))
    assert readiness(client) == (503, {"workers": "no worker is up: start one"})


def test_published_results_without_statistics_are_told(client: Client, db: None) -> None:
    make_worker("host-1-abc")
    suite = make_suite(n_tasks=2)
    make_published_run(suite=suite)
    status, words = readiness(client)
    assert (status, set(words)) == (503, {"snapshot"})
    BoardSnapshot.objects.create(suite=suite, runs=[], tasks=[], content={}, differences={})
    assert readiness(client) == (200, {}), "older statistics are shown while new ones are computed"


def test_a_migration_that_is_not_applied_is_told(client: Client, db: None) -> None:
    make_worker("host-1-abc")
    MigrationRecorder.Migration.objects.filter(app="leaderboard").order_by("-pk")[0].delete()
    status, words = readiness(client)
    assert status == 503
    assert words["migrations"] == "1 are not applied: run manage.py migrate"


def test_without_the_broker_it_is_not_ready(client: Client, db: None, settings: object) -> None:
    make_worker("host-1-abc")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        settings.REDIS_URL = f"redis://127.0.0.1:{probe.getsockname()[1]}/0"
        status, words = readiness(client)
    assert (status, set(words)) == (503, {"broker"})


def test_without_the_database_the_site_is_live_and_not_ready(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("the server is gone")

    with monkeypatch.context() as gone:
        gone.setattr(CursorWrapper, "execute", refuse)
        status, words = readiness(client)
        assert client.get("/healthz").content == b"ok\n"
    assert (status, words["database"]) == (503, "it does not answer")
    assert set(words) == {"database", "migrations", "snapshot", "workers"}
    assert connection.connection is not None


def test_health_is_asked_for_without_tls_and_pages_are_not(client: Client, db: None, settings: object) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
    assert client.get("/queue/").status_code == 301


def test_the_health_of_a_worker_is_that_of_its_host(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    host = socket.gethostname()
    make_worker("another-1-abc")
    make_worker(f"{host}-1-abc", seen_before=timedelta(hours=1))
    with pytest.raises(CommandError, match="Nothing was heard"):
        call_command("worker_health")
    make_worker(f"{host}-2-abc")
    call_command("worker_health")
    assert f"The worker on {host} is up." in capsys.readouterr().out
