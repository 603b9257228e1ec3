"""`python manage.py snapshot`: compute the statistics of the boards now, in this process."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.selectors.due_snapshots import suites_to_build
from workers.snapshots import build_snapshot


class Command(BaseCommand):
    """What a worker does when something is published, without waiting for one."""

    help = "Compute the statistics of every suite whose published runs they do not cover."

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute, and say how many.

        Raises:
            CommandError: some could not be computed, or a worker is at it.
        """
        waiting = suites_to_build()
        built = sum(build_snapshot(suite_id) for suite_id in waiting)
        self.stdout.write(f"Computed the statistics of {built} of {len(waiting)} suites that needed it.")
        if built < len(waiting):
            raise CommandError("The others could not be computed, or a worker computes them; the log says why.")
