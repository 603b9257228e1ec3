"""A real worker evaluates, and everybody who should hear of it does: submitter, monitoring, readers of the log."""

import json

import pytest

from leaderboard.models import ChildLog, Delivery, Worker
from leaderboard.models.vocabulary import DeliveryState
from leaderboard.services.notifications import notification_settings_save
from tests.processes import watched
from tests.workers.test_killed_worker import (  # noqa: F401 - fixtures are found by their names
    WORKER,
    board_folder,
    environment,
    submit,
    wait_until_succeeded,
)
from tests.workers.test_notifications import Receiver, receiver  # noqa: F401 - the same
from workers.catalogue import sync_catalogue


@pytest.mark.timeout(240)
def test_a_submission_is_followed_from_outside(
    environment: dict[str, str],  # noqa: F811 - the fixture imported above
    receiver: Receiver,  # noqa: F811 - the same
) -> None:
    sync_catalogue()
    run = submit("demo/clip-tiny")
    notification_settings_save(user=run.requested_by, values={"by_email": False, "webhook_url": receiver.url})
    environment |= {"LOG_FORMAT": "json", "WEBHOOKS_TO_PRIVATE_ADDRESSES": "true"}
    with watched(WORKER, environment) as worker:
        wait_until_succeeded(worker, run)
        worker.wait_for(f"run {run.pk}: webhook delivered", seconds=60)
        lines = list(worker.lines)

    ((headers, body),) = receiver.requests
    told = json.loads(body)
    assert (told["event"], told["run"], told["error"]) == ("run.succeeded", str(run.pk), None)
    assert headers["MedBoard-Delivery"] == str(Delivery.objects.get(state=DeliveryState.DELIVERED).pk)

    own = [json.loads(line) for line in lines if line.startswith("{")]
    assert all({"at", "level", "logger", "message"} <= set(line) for line in own)
    stored = [line for line in own if line["message"].endswith(": stored")]
    assert len(stored) == run.task_runs.count()
    assert {line["run_id"] for line in stored} == {str(run.pk)}

    (reported,) = Worker.objects.all()
    assert reported.memory_bytes > 50 * 1024**2
    assert reported.memory_total_bytes > reported.memory_bytes
    assert set(run.task_runs.values_list("finished_by", flat=True)) == {reported.name}
    log = ChildLog.objects.get(run=run)
    assert log.worker == reported.name
    assert environment["MEDBOARD_DATA_DIR"] not in log.text
