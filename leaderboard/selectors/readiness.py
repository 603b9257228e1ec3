"""Reads whether the board can do its work: what a load balancer and monitoring ask."""

from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from leaderboard.models import BoardSnapshot, Run, Worker
from leaderboard.selectors.catalogue import LISTED
from leaderboard.selectors.queue import n_workers_up
from leaderboard.selectors.queue_times import silence_of_the_lost


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that has to be there. `words` say what is wrong and what to do; empty when it is there."""

    name: str
    words: str

    @property
    def is_ready(self) -> bool:
        """Whether nothing is wrong."""
        return not self.words


def database_checks() -> list[Check]:
    """The database, its tables, the statistics of the boards, and whether a worker is up."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        missing = _missing_migrations()
        if missing:
            unknown = "unknown until the migrations are applied"
            words = f"{missing} are not applied: run manage.py migrate"
            return [Check("database", ""), Check("migrations", words), *_unknown(unknown)]
        return [
            Check("database", ""),
            Check("migrations", ""),
            Check("snapshot", _snapshot_words()),
            Check("workers", "" if n_workers_up() else "no worker is up: start one"),
        ]
    except (DatabaseError, InterfaceError):
        unknown = "unknown while the database does not answer"
        return [Check("database", "it does not answer"), Check("migrations", unknown), *_unknown(unknown)]


def worker_is_up(host: str) -> bool:
    """Whether the worker of a host, which begins its name, was heard of lately."""
    since = timezone.now() - silence_of_the_lost()
    return Worker.objects.filter(name__startswith=f"{host}-", last_seen_at__gte=since).exists()


def _unknown(words: str) -> list[Check]:
    return [Check("snapshot", words), Check("workers", words)]


def _missing_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _snapshot_words() -> str:
    """A board whose statistics are being renewed shows the earlier ones; one without any ranks by value alone."""
    published = set(Run.objects.filter(LISTED).values_list("suite", flat=True).distinct())
    covered = set(BoardSnapshot.objects.filter(is_current=True).values_list("suite", flat=True))
    missing = len(published - covered)
    return f"{missing} suites with results have no statistics: manage.py snapshot computes them" if missing else ""
