"""`python -m tests.faults.worker ...`: a real Celery worker whose children are those of `tests.faults.child`.

With FAULTS_CLOCK_FILE, the clock of this process is wrong by as many seconds as that file says.
"""

import datetime as dt
import os
import sys
import time
from pathlib import Path


def shift_clock(file: Path) -> None:
    """Replace what Python code asks for the time of day; what measures durations goes on, as on a real machine."""
    true_time = time.time
    true_datetime = dt.datetime

    def offset() -> float:
        return float(file.read_text() or 0) if file.exists() else 0.0

    class ShiftedDatetime(true_datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:
            return true_datetime.now(tz) + dt.timedelta(seconds=offset())

        @classmethod
        def utcnow(cls) -> dt.datetime:
            return true_datetime.now(dt.UTC).replace(tzinfo=None) + dt.timedelta(seconds=offset())

    time.time = lambda: true_time() + offset()
    dt.datetime = ShiftedDatetime


def main() -> None:
    if "FAULTS_CLOCK_FILE" in os.environ:
        shift_clock(Path(os.environ["FAULTS_CLOCK_FILE"]))
    from celery.__main__ import main as celery  # the clock is shifted before anything takes a copy of it

    sys.executable = os.environ["FAULTS_PYTHON"]
    sys.argv = ["celery", "-A", "workers.celery", "worker", *sys.argv[1:]]
    celery()


if __name__ == "__main__":
    main()
