"""`python manage.py create_admin NAME`: the first administrator of a new board."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.exceptions import ApplicationError
from leaderboard.services.administrators import administrator_create


class Command(BaseCommand):
    """Create an administrator with a password from a file, or with a random one that is printed once."""

    help = "Create an administrator. Without --password-file a password is made and printed once."

    def add_arguments(self, parser: CommandParser) -> None:
        """The name, and where the password is."""
        parser.add_argument("username")
        parser.add_argument("--password-file", type=Path, help="a file that holds nothing but the password")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create, and say so.

        Raises:
            CommandError: the name is taken, or the password is missing or too weak.
        """
        file: Path | None = options["password_file"]
        try:
            password = file.read_text(encoding="utf-8").strip() if file else None
            made = administrator_create(username=options["username"], password=password)
        except (ApplicationError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{options['username']} is an administrator now.")
        if file is None:
            self.stdout.write(f"Password, shown only now: {made}")
