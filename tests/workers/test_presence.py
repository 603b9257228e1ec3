"""A worker that lives takes back the leases of one that does not, whatever becomes of the scheduler's messages."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from leaderboard.models.vocabulary import TaskRunState
from leaderboard.services import leases
from tests.factories import make_run
from workers.presence import Presence


@pytest.mark.django_db(transaction=True)
def test_a_living_worker_takes_back_what_a_dead_one_held() -> None:
    run = make_run()
    leases.run_next_claim(worker="dead")
    leases.run_start(run_id=run.pk, worker="dead")
    leases.task_group_claim(run_id=run.pk, worker="dead")
    run.task_runs.filter(state=TaskRunState.CLAIMED).update(lease_expires_at=Now() - timedelta(seconds=1))
    Presence("living")._report()
    assert set(run.task_runs.values_list("state", flat=True)) == {TaskRunState.PENDING}
