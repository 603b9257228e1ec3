"""`python manage.py restore FILE`: the way back from a backup."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.exceptions import BackupFailed
from leaderboard.services.backups import database_restore


class Command(BaseCommand):
    """Read a backup into an empty database."""

    help = "Read a backup into the database of DATABASE_URL, which must be empty: all of it, or nothing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """The backup."""
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Read it.

        Raises:
            CommandError: it cannot be read, or the database is not empty.
        """
        try:
            tables = database_restore(file=options["file"])
        except BackupFailed as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{tables} tables were restored. Now: manage.py migrate, then start the processes.")
