"""Administration of what services do not own, and a read-only view of what they do."""

from allauth.account.decorators import secure_admin_login
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin

from leaderboard.admin import (
    accounts,
    acts,
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
admin.site.login = secure_admin_login(admin.site.login)  # one way in, which limits attempts

__all__ = [
    "accounts",
    "acts",
    "api_tokens",
    "catalogue",
    "embedding_models",
    "ownership",
    "runs",
    "submissions",
    "training_data",
    "workers",
]
