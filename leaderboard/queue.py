"""The only place that announces work. A message is a doorbell: what there is to do stands in the database."""

import functools
import logging
from uuid import UUID

from celery import Celery
from django.db import transaction
from kombu.exceptions import OperationalError

from leaderboard.config.celery import QUEUE, celery_client

HEAR_BELL = "workers.hear_bell"
BUILD_SNAPSHOT = "workers.build_snapshot"

logger = logging.getLogger(__name__)


@functools.cache
def _client() -> Celery:
    return celery_client()


def ring(run_id: UUID) -> None:
    """Tell the workers, once the current transaction has committed, that there is work for a run.

    A broker that cannot be reached is logged, not raised: the reaper rings again.
    """
    transaction.on_commit(lambda: _send(HEAR_BELL, str(run_id)))


def ring_snapshot(suite_id: int) -> None:
    """Tell the workers, once the current transaction has committed, that a suite's published runs have changed.

    A broker that cannot be reached is logged, not raised: the reaper rings again.
    """
    transaction.on_commit(lambda: _send(BUILD_SNAPSHOT, suite_id))


def _send(message: str, subject: str | int) -> None:
    try:
        _client().send_task(message, args=[subject], queue=QUEUE)
    except OperationalError as error:
        logger.warning("could not ring %s for %s (%s); the reaper will", message, subject, error)
