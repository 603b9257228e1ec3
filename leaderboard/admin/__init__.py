"""Administration of what services do not own, and a read-only view of what they do."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin

from leaderboard.admin import accounts, acts, catalogue, embedding_models, runs, submissions, workers

admin.site.site_header = admin.site.site_title = "MedBoard administration"
admin.site.login = secure_admin_login(admin.site.login)  # one way in, which limits attempts

__all__ = ["accounts", "acts", "catalogue", "embedding_models", "runs", "submissions", "workers"]
