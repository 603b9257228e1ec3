"""The Celery client: the site only sends messages; `workers.celery` receives them."""

from celery import Celery
from django.conf import settings

QUEUE = "evaluation"
"""What any worker can do: taking expired leases back, and statistics."""


def class_queue(worker_class: str) -> str:
    """The queue of bells for runs that need a worker of this class or a larger one."""
    return f"{QUEUE}-{worker_class}"


def celery_client() -> Celery:
    """A client on the configured broker, which gives up quickly: a lost message is rung again by the reaper."""
    client = Celery("medboard", broker=settings.REDIS_URL)
    client.conf.update(
        task_default_queue=QUEUE,
        task_ignore_result=True,
        broker_connection_timeout=2,
        broker_transport_options={"socket_connect_timeout": 2, "socket_timeout": 5},
        task_publish_retry=False,
    )
    return client
