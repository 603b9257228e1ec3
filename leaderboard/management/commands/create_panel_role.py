"""`python manage.py create_panel_role`: the database role with which the demo panel reads."""

from typing import Any

import environ
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from leaderboard.services.panel_role import PanelRole, panel_role_create


class Command(BaseCommand):
    """Create the role that PANEL_DATABASE_URL names, or bring it up to date."""

    help = "Create the role that PANEL_DATABASE_URL names; it may read the panel's galleries and nothing else."

    def handle(self, *args: Any, **options: Any) -> None:
        """Create it, and say so.

        Raises:
            CommandError: PANEL_DATABASE_URL is not set or names no user of its own.
        """
        if not settings.PANEL_DATABASE_URL:
            raise CommandError("Set PANEL_DATABASE_URL to postgres://NAME:PASSWORD@HOST:PORT/DATABASE first.")
        found = environ.Env.db_url_config(settings.PANEL_DATABASE_URL)
        try:
            panel_role_create(role=PanelRole(name=found.get("USER", ""), password=found.get("PASSWORD", "")))
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The role {found['USER']} may read the panel's galleries and nothing else.")
