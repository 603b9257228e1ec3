"""The Django application."""

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """Models, services and pages of the board."""

    name = "leaderboard"
    default_auto_field = "django.db.models.BigAutoField"
