"""`python -m tests.faults.worker ...`: a real Celery worker whose children are those of `tests.faults.child`.

With FAULTS_CLOCK_FILE, the clock of this process is wrong by as many seconds as that file says.
"""

import dataclasses
import datetime as dt
import os
import sys
import time
from pathlib import Path
from typing import Any


def shift_clock(file: Path) -> None:
    """Replace what Python code asks for the time of day; what measures durations goes on, as on a real machine.

    `datetime` itself belongs to compiled code, so it is replaced where our code and Celery read the clock.
    """
    true_time = time.time

    def offset() -> float:
        return float(file.read_text() or 0)

    time.time = lambda: true_time() + offset()  # first of all: many take a copy of it

    class ShiftedDatetime(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:
            return dt.datetime.now(tz) + dt.timedelta(seconds=offset())

    from celery.worker import request
    from django.utils import timezone

    request.datetime = ShiftedDatetime
    timezone.now = lambda: ShiftedDatetime.now(dt.UTC)


def put_the_sleeping_embedder_into_children(**_signal: Any) -> None:
    """Let every child that this worker starts be one of `tests.faults.child`."""
    from workers import orders

    real = orders.evaluating_enclosure

    def sleeping(*arguments: Any) -> Any:
        honest = real(*arguments)
        python, *rest = honest.command
        return dataclasses.replace(
            honest,
            command=(python, "-m", "tests.faults.child", *rest),
            read_only=(*honest.read_only, orders.settings.BASE_DIR / "tests"),
        )

    orders.evaluating_enclosure = sleeping


def main() -> None:
    if "FAULTS_CLOCK_FILE" in os.environ:
        shift_clock(Path(os.environ["FAULTS_CLOCK_FILE"]))
    from celery.__main__ import main as celery
    from celery.signals import worker_init

    worker_init.connect(put_the_sleeping_embedder_into_children)
    sys.argv = ["celery", "-A", "workers.celery", "worker", *sys.argv[1:]]
    celery()


if __name__ == "__main__":
    main()
