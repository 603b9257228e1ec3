"""The only place that announces work. A message is a doorbell: what there is to do stands in the database."""

import functools
import logging
from collections.abc import Sequence
from uuid import UUID

import redis
from celery import Celery
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

from leaderboard.config.celery import QUEUE, celery_client, class_queue

HEAR_BELL = "workers.hear_bell"
BUILD_SNAPSHOT = "workers.build_snapshot"
MAX_BELLS = 16
"""Each wakes one worker, which then works until nothing is left."""

logger = logging.getLogger(__name__)


@functools.cache
def _client() -> Celery:
    return celery_client()


def ring(run_id: UUID, worker_class: str) -> None:
    """Tell the workers that can hold a run, once the current transaction has committed, that there is work for it.

    A broker that cannot be reached is logged, not raised: the reaper rings again.
    """
    transaction.on_commit(lambda: _send(HEAR_BELL, str(run_id), queue=class_queue(worker_class)))


def ring_again(run_ids: Sequence[UUID], worker_class: str) -> None:
    """Ring, once the current transaction has committed, for runs of a class that nobody may have heard of.

    Bells that are still unheard are counted first: however long the workers are busy, no more than `MAX_BELLS` wait.
    """

    def send() -> None:
        name = class_queue(worker_class)
        for run_id in run_ids[: max(0, MAX_BELLS - _unheard(name))]:
            _send(HEAR_BELL, str(run_id), queue=name)

    transaction.on_commit(send)


def ring_snapshot(suite_id: int) -> None:
    """Tell the workers, once the current transaction has committed, that a suite's published runs have changed.

    A broker that cannot be reached is logged, not raised: the reaper rings again.
    """
    transaction.on_commit(lambda: _send(BUILD_SNAPSHOT, suite_id))


def broker_answers() -> bool:
    """Whether the broker takes messages now."""
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def _unheard(name: str) -> int:
    """How many messages wait in a queue, which Celery keeps as a list of that name; none if the broker is silent."""
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5) as client:
            return int(client.llen(name))
    except redis.RedisError as error:
        logger.warning("could not count the bells of %s: %s", name, error)
        return 0


def _send(message: str, subject: str | int, *, queue: str = QUEUE) -> None:
    try:
        _client().send_task(message, args=[subject], queue=queue)
    except OperationalError as error:
        logger.warning("could not ring %s for %s (%s); the reaper will", message, subject, error)
