"""The Django application."""

from django.apps import AppConfig
from django.conf import settings

from leaderboard.config.error_service import start_error_reports


class LeaderboardConfig(AppConfig):
    """Models, services and pages of the board."""

    name = "leaderboard"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Report errors where an address for them is set."""
        start_error_reports(settings.SENTRY_DSN)
