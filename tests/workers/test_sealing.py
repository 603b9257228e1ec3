"""A worker that is asked for a sandbox that does not work here does not start; one that seals nothing says so."""

import logging
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.services.administration import worker_report
from tests.factories import make_user
from tests.processes import watched
from workers.identity import worker_identity
from workers.sealing import worker_sandbox

WORKER = ["-m", "celery", "-A", "workers.celery", "worker", "--pool", "threads", "--concurrency", "1"]
SERVERS = {"DJANGO_SETTINGS_MODULE": "tests.settings"}


@pytest.fixture(autouse=True)
def forgotten_sandbox():
    worker_sandbox.cache_clear()
    yield
    worker_sandbox.cache_clear()


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"SANDBOX": "nono"}, "SANDBOX is 'nono'; it must be one of"),
        ({"SANDBOX": "bubblewrap", "PATH": "/nowhere"}, "bwrap is not installed"),
    ],
)
def test_a_worker_that_cannot_seal_does_not_start_and_says_so_with_all_that_is_wrong(
    environment: dict[str, str], reason: str, tmp_path: Path
) -> None:
    with watched(WORKER, {**SERVERS, "HEARTBEAT_SECONDS": "50", "SUITES_DIR": str(tmp_path), **environment}) as worker:
        worker.wait_for("This worker does not start:", seconds=120)
        problems = {worker.wait_for("- ", seconds=60), worker.wait_for("- ", seconds=60)}
        assert worker.process.wait(timeout=60) == 1
    assert any(reason in problem for problem in problems)
    assert any(problem.startswith("- HEARTBEAT_SECONDS is 50") for problem in problems)


def test_a_worker_that_seals_nothing_warns_in_its_log(settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.SANDBOX = "none"
    assert worker_sandbox().name == "none"
    (record,) = [record for record in caplog.records if record.name == "workers.sealing"]
    assert record.levelno == logging.WARNING
    assert "not sealed off" in record.message


def test_a_worker_names_its_sandbox() -> None:
    assert worker_identity().versions["sandbox"] == worker_sandbox().name


@pytest.mark.django_db
@pytest.mark.parametrize(("sandbox", "warned"), [("none", True), ("bubblewrap", False), ("unshare", False)])
def test_administrators_are_warned_of_a_worker_that_seals_nothing(sandbox: str, warned: bool) -> None:  # noqa: FBT001 - pytest's
    worker_report(name="w1", device="cpu", versions={"sandbox": sandbox})
    client = Client()
    client.force_login(make_user(is_staff=True))
    html = client.get(reverse("admin:leaderboard_worker_changelist")).content.decode()
    assert ("These workers seal nothing off (SANDBOX=none): w1." in html) is warned
    assert f">{sandbox}</td>" in html
