"""`python manage.py delete_old_records`: what a worker does once a day, at once."""

from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.services.retention import old_records_delete


class Command(BaseCommand):
    """Delete logs of runs that ended long ago, and messages that were delivered long ago."""

    help = "Delete logs older than CHILD_LOG_DAYS and delivered messages older than DELIVERY_DAYS; results stay."

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete, and say how much."""
        deleted = old_records_delete()
        self.stdout.write(f"Deleted {deleted.child_logs} logs and {deleted.deliveries} delivered messages.")
