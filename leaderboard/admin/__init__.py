"""Administration of what services do not own, and a read-only view of what they do."""

from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin

from leaderboard.admin import (
    accounts,
    api_tokens,
    catalogue,
    embedding_models,
    ownership,
    runs,
    submissions,
    training_data,
    workers,
)

# Providers come from the settings, and accounts elsewhere are their owners' business.
admin.site.unregister([SocialAccount, SocialApp, SocialToken])

admin.site.site_header = admin.site.site_title = "MedBoard administration"

__all__ = [
    "accounts",
    "api_tokens",
    "catalogue",
    "embedding_models",
    "ownership",
    "runs",
    "submissions",
    "training_data",
    "workers",
]
