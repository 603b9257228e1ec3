"""The interactive worker's Celery application: `celery -A workers.demo.celery worker --concurrency 1`.

It has a broker of its own and no settings of Django: it knows neither the database nor the board's queue.
"""

from celery import Celery

from workers.demo.configuration import required
from workers.demo.limits import RESULT_SECONDS

QUEUE = "interactive"
_LOADING_SECONDS = 600


def interactive_app(broker_url: str) -> Celery:
    """An application on a broker; the worker and whoever asks it have the same."""
    made = Celery("panel", broker=broker_url, backend=broker_url)
    made.conf.update(
        task_default_queue=QUEUE,
        task_serializer="json",
        result_serializer="json",
        accept_content=["json"],
        result_expires=RESULT_SECONDS,
        task_acks_late=False,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_proc_alive_timeout=_LOADING_SECONDS,
        broker_connection_retry_on_startup=True,
        broker_connection_timeout=2,
        task_publish_retry=False,
        include=["workers.demo.tasks"],
    )
    return made


def __getattr__(name: str) -> Celery:
    """`app`, made when the celery command asks for it: importing this module reads no environment."""
    if name == "app":
        globals()["app"] = interactive_app(required("PANEL_BROKER_URL"))
        return globals()["app"]
    raise AttributeError(name)
