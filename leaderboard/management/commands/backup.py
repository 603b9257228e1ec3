"""`python manage.py backup FILE`: a copy of all that matters."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.exceptions import BackupFailed
from leaderboard.services.backups import database_backup


class Command(BaseCommand):
    """Write the whole database to a new file; the board can go on meanwhile."""

    help = "Write every table, as they stand at one moment, to a new file that manage.py restore reads."

    def add_arguments(self, parser: CommandParser) -> None:
        """The new file."""
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Write it.

        Raises:
            CommandError: it cannot be written.
        """
        try:
            size = database_backup(file=options["file"])
        except BackupFailed as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{options['file']} has {size:,} bytes.")
