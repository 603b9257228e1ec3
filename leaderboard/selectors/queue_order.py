"""The order in which waiting runs are taken: one statement, which the claim, the queue's pages and estimates share.

Runs are ordered by four things, in this order:

1. **class**: visitors' submissions before reruns before demonstrations. For every `QUEUE_AGING_SECONDS` that a run has
   waited it moves up by one class, so nothing starves.
2. **turn**: the people who wait take turns. A person's first run has turn 1, the second turn 2, and so on; within a
   person's own line a run stands where it would if it had come as much later as it is expected to take, so small ones
   go before large ones, and a large one never waits for ever.
3. **served**: of runs with the same turn, the one whose person was served longest ago, or never, goes first. Who waits
   all the time is thus served once before anybody else is served twice.
4. what came first.

A run that is put back for later (`retry_at`), or that needs a larger worker than the one that asks, is left out before
turns are counted, so it stands in nobody's way.
"""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.db import connection

from leaderboard.models import Run
from leaderboard.models.runs import Priority
from leaderboard.models.vocabulary import RunState, TaskRunState, WorkerClass, classes_within

PRIORITY_STEP = Priority.RERUN - Priority.VISITOR

_WAITING = """
    waiting AS MATERIALIZED (
        SELECT id, requested_by_id,
               GREATEST(
                   priority
                   - %(step)s * FLOOR(GREATEST(DATE_PART('epoch', NOW() - created_at), 0) / %(aging)s)::integer,
                   %(first)s
               ) AS class,
               created_at + expected_seconds * INTERVAL '1 second' AS due
        FROM leaderboard_run
        WHERE state = %(queued)s AND worker_class = ANY(%(classes)s)
          AND (retry_at IS NULL OR retry_at <= NOW() OR %(with_later)s)
    )
"""
_SERVED = "(SELECT MAX(started_at) FROM leaderboard_run WHERE requested_by_id = person.id)"
_OWN_LINE = "due, waiting.id"
_ORDER = "class, turn, served NULLS FIRST, due, line.id"
_LINE = f"""
    WITH {_WAITING}, people AS MATERIALIZED (
        SELECT person.id, {_SERVED} AS served FROM (SELECT DISTINCT requested_by_id AS id FROM waiting) AS person
    ), line AS (
        SELECT waiting.id, class, served, due,
               ROW_NUMBER() OVER (PARTITION BY class, requested_by_id ORDER BY {_OWN_LINE}) AS turn
        FROM waiting JOIN people ON people.id = requested_by_id
    )
"""  # noqa: S608 - made of the constants above
_FIRST_TURNS = f"""
    WITH {_WAITING}, people AS MATERIALIZED (
        SELECT DISTINCT ON (requested_by_id) requested_by_id AS id, waiting.id AS run_id, class, due
        FROM waiting WHERE class = (SELECT MIN(class) FROM waiting)
        ORDER BY requested_by_id, {_OWN_LINE}
    ), line AS MATERIALIZED (
        SELECT run_id AS id, class, 1 AS turn, {_SERVED} AS served, due FROM people AS person
    )
"""  # noqa: S608 - the same
_FREE = f"""
    SELECT run.* FROM leaderboard_run AS run JOIN line ON line.id = run.id
    WHERE run.state = %(queued)s
    ORDER BY {_ORDER} LIMIT 1 FOR UPDATE OF run SKIP LOCKED
"""  # noqa: S608 - the same
_WHOLE_LINE = f"{_LINE} SELECT line.id FROM line ORDER BY {_ORDER}"  # noqa: S608 - the same
_FIRST_FREE = (f"{_FIRST_TURNS} {_FREE}", f"{_LINE} {_FREE}")
"""The line begins with the first turns of the first class, which are found without giving all others their places; it is
read whole only if workers hold the locks of all of those."""
_TO_JOIN = """
    SELECT run.* FROM leaderboard_run AS run
    WHERE run.state = %(running)s AND run.worker_class = ANY(%(classes)s)
      AND (run.retry_at IS NULL OR run.retry_at <= NOW())
      AND EXISTS (
          SELECT FROM leaderboard_taskrun AS task WHERE task.run_id = run.id AND task.state = %(pending)s
          AND (task.retry_at IS NULL OR task.retry_at <= NOW()) OFFSET 0
      )
      AND %(abandoned)s <> EXISTS (
          SELECT FROM leaderboard_taskrun AS task WHERE task.run_id = run.id AND task.state = %(claimed)s OFFSET 0
      )
    ORDER BY run.priority, run.created_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""
# OFFSET 0 keeps Postgres from reading the open tasks of all waiting runs to find those of the few that are running.


def waiting_line() -> list[UUID]:
    """All waiting runs in the order in which they are taken, those that are put back for later at their place too."""
    with connection.cursor() as cursor:
        cursor.execute(_WHOLE_LINE, _parameters(WorkerClass.values, with_later=True))
        return [row[0] for row in cursor.fetchall()]


def first_waiting_locked(worker_class: str) -> Run | None:
    """The first waiting run that a worker of a class can hold and that no other is taking now, locked; or None."""
    parameters = _parameters(classes_within(worker_class), with_later=False)
    found = (run for statement in _FIRST_FREE for run in Run.objects.raw(statement, parameters))
    return next(found, None)


def run_to_join_locked(worker_class: str, *, abandoned: bool) -> Run | None:
    """The most urgent running run with tasks that a worker of a class can take, locked; or None.

    `abandoned`: of the runs on which nobody works, else of the others.
    """
    parameters = {
        "running": RunState.RUNNING.value,
        "pending": TaskRunState.PENDING.value,
        "claimed": TaskRunState.CLAIMED.value,
        "classes": classes_within(worker_class),
        "abandoned": abandoned,
    }
    return next(iter(Run.objects.raw(_TO_JOIN, parameters)), None)


def _parameters(classes: Sequence[str], *, with_later: bool) -> dict[str, object]:
    return {
        "step": PRIORITY_STEP,
        "aging": settings.QUEUE_AGING_SECONDS,
        "first": Priority.VISITOR.value,
        "queued": RunState.QUEUED.value,
        "classes": list(classes),
        "with_later": with_later,
    }
