"""`python manage.py worker_health`: the health check of a worker's container."""

import socket
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.selectors.readiness import worker_is_up


class Command(BaseCommand):
    """Whether the worker of this host was heard of lately."""

    help = "End with status 1 unless a worker of this host was heard of lately."

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask the database, to which the worker reports.

        Raises:
            CommandError: nothing was heard of it.
        """
        host = socket.gethostname()
        if not worker_is_up(host):
            raise CommandError(f"Nothing was heard of a worker on {host} lately.")
        self.stdout.write(f"The worker on {host} is up.")
