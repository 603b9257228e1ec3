"""The only place that announces work. A message is a doorbell: what there is to do stands in the database."""

import functools
import logging
from uuid import UUID

from celery import Celery
from django.db import transaction
from kombu.exceptions import OperationalError

from leaderboard.config.celery import QUEUE, celery_client

HEAR_BELL = "workers.hear_bell"

logger = logging.getLogger(__name__)


@functools.cache
def _client() -> Celery:
    return celery_client()


def ring(run_id: UUID) -> None:
    """Tell the workers, once the current transaction has committed, that there is work for a run.

    A broker that cannot be reached is logged, not raised: the reaper rings again.
    """
    transaction.on_commit(lambda: _send(run_id))


def _send(run_id: UUID) -> None:
    try:
        _client().send_task(HEAR_BELL, args=[str(run_id)], queue=QUEUE)
    except OperationalError as error:
        logger.warning("could not ring for run %s (%s); the reaper will", run_id, error)
