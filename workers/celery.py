"""The workers' Celery application: `celery -A workers.celery worker`."""

import os

import django
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.config.settings")
django.setup()

from django.conf import settings  # noqa: E402 - settings are read once Django is set up

from leaderboard.config.celery import QUEUE  # noqa: E402 - the same

REAP = "workers.reap"
# A message is seen again after this long if its worker never acknowledged it; longer than any run may take, because a
# second delivery of a doorbell that is still being answered would only wake another worker for nothing.
VISIBILITY_TIMEOUT_SECONDS = 2 * settings.TASK_TIMEOUT_SECONDS

app = Celery("medboard", broker=settings.REDIS_URL, include=["workers.tasks"])
app.conf.update(
    task_default_queue=QUEUE,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=False,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": VISIBILITY_TIMEOUT_SECONDS},
    timezone="UTC",
    beat_schedule={REAP: {"task": REAP, "schedule": settings.REAPER_SECONDS, "options": {"expires": 60}}},
)
