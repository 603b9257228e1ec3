"""What is in work when a worker is told to stop is ended at once, or when its grace is over, or not at all."""

import threading
import time

from workers.shutdown import Shutdown

LONG = 600.0
WAIT = 30.0


def test_without_grace_work_is_ended_at_once_before_and_after_the_request() -> None:
    shutdown, ended = Shutdown(), []
    shutdown.call_when_requested(lambda: ended.append("first"))
    assert not shutdown.requested
    shutdown.request()
    assert shutdown.requested
    assert ended == ["first"]
    shutdown.call_when_requested(lambda: ended.append("second"))
    assert ended == ["first", "second"]


def test_work_with_grace_is_ended_when_that_is_over() -> None:
    shutdown, ended = Shutdown(), threading.Event()
    shutdown.call_when_requested(ended.set, grace=0.2)
    started = time.monotonic()
    shutdown.request()
    assert ended.wait(WAIT)
    assert time.monotonic() - started >= 0.2


def test_grace_counts_from_the_request_and_not_from_when_work_began() -> None:
    shutdown, ended = Shutdown(), threading.Event()
    shutdown.request()
    shutdown._requested_at -= LONG  # ten minutes ago
    shutdown.call_when_requested(ended.set, grace=LONG - 1)
    assert ended.is_set()


def test_work_that_is_done_within_its_grace_is_not_ended() -> None:
    shutdown, ended = Shutdown(), []
    shutdown.call_when_requested(lambda: ended.append("work"), grace=LONG)
    shutdown.request()
    timer = shutdown._timer
    shutdown.call_when_requested(None)
    timer.join(WAIT)
    assert not timer.is_alive()
    assert ended == []
