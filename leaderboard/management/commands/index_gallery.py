"""`python manage.py index_gallery`: fill what the demo panel searches."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.exceptions import ApplicationError
from leaderboard.ports import gallery_indexer


class Command(BaseCommand):
    """Embed the evidence of installed suites with the panel's model and store it."""

    help = "Embed what suites' licences allow showing with the panel's model. Safe to repeat: only what is new is embedded."

    def add_arguments(self, parser: Any) -> None:
        """Suites are named by their slug."""
        parser.add_argument(
            "suites", nargs="*", metavar="SUITE", help="slugs of installed suites; all if none is given"
        )
        parser.add_argument(
            "--remove-old",
            action="store_true",
            help="afterwards remove galleries of other models than the panel's and of other versions of suites than the present",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Index one suite after the other and say how far it is.

        Raises:
            CommandError: no worker answers, or a suite cannot be read.
        """
        try:
            for line in gallery_indexer()(options["suites"], remove_old=options["remove_old"]):
                self.stdout.write(line)
        except ApplicationError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
