"""API tokens: who has which, never what they are. Closing an account closes its tokens."""

from django.contrib import admin

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ["name", "user", "prefix", "scopes", "created_at", "expires_at", "revoked_at", "last_used_on"]
    list_select_related = ["user"]
    search_fields = ["name", "prefix", "user__username"]
    exclude = ["secret_sha256"]
