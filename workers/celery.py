"""The workers' Celery application: `celery -A workers.celery worker`."""

import os

import django
from celery import Celery
from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.config.settings")
django.setup()

from django.conf import settings  # noqa: E402 - settings are read once Django is set up
from kombu import Exchange, Queue  # noqa: E402 - the same

from leaderboard.config.celery import QUEUE, class_queue  # noqa: E402 - the same
from leaderboard.models.vocabulary import WorkerClass, classes_within  # noqa: E402 - the same

REAP = "workers.reap"
DELETE_OLD_RECORDS = "workers.delete_old_records"


def heard_queues(worker_class: str) -> list[str]:
    """The queues that a worker of a class listens to: what it can hold, and what anybody can do."""
    known = worker_class in WorkerClass.values  # what is unknown is refused, with words, when the worker starts
    return [QUEUE, *(class_queue(name) for name in classes_within(worker_class))] if known else [QUEUE]


app = Celery("medboard", broker=settings.REDIS_URL, include=["workers.tasks"])
app.conf.update(
    task_default_queue=QUEUE,
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in heard_queues(settings.WORKER_CLASS)],
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=False,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": settings.VISIBILITY_TIMEOUT_SECONDS},
    timezone="UTC",
    beat_schedule={
        REAP: {"task": REAP, "schedule": settings.REAPER_SECONDS, "options": {"expires": 60}},
        # At an hour of the day: a count of hours would begin anew with every start.
        DELETE_OLD_RECORDS: {"task": DELETE_OLD_RECORDS, "schedule": crontab(hour="3", minute="17")},
    },
)
