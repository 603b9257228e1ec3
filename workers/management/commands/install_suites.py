"""`python manage.py install_suites`: fetch the release into SUITES_DIR and tell the board what is there."""

from typing import Any

import typer
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.commands.suites import HUB, install
from evaluation.errors import EvaluationError
from evaluation.suites.medheb.catalogue import medheb_suite
from workers.catalogue import sync_catalogue


class Command(BaseCommand):
    """`python -m evaluation suites install` with the settings of this board, and its catalogue brought up to date."""

    help = "Install the release's suite from the hub or a folder, then store which of its tasks are ready."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which part of the release, and from where."""
        parser.add_argument("--source", default=HUB, metavar="hub|DIR", help="the hub, or a folder like the release")
        parser.add_argument("--revision", default="", help="branch, tag or commit on the hub")
        parser.add_argument("--tasks", action="append", metavar="NAME", help="only this task; give it again for more")

    def handle(self, *args: Any, **options: Any) -> None:
        """Install, and store what is ready also when some tasks are broken.

        Raises:
            CommandError: it cannot be installed, or tasks are broken.
        """
        is_broken = False
        try:
            install(
                medheb_suite().slug,
                source=options["source"],
                revision=options["revision"],
                tasks=options["tasks"],
                suites_dir=settings.SUITES_DIR,
                endpoint=settings.HUB_ENDPOINT,
                token=settings.HUB_TOKEN,
            )
        except EvaluationError as error:
            raise CommandError(str(error)) from error
        except typer.Exit:
            is_broken = True
        sync_catalogue()
        if is_broken:
            raise CommandError("Some tasks are broken, see above; the others can be evaluated.")
