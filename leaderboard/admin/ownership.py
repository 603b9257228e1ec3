"""Claims of ownership: proven on the site."""

from django.contrib import admin

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import OwnerClaim


@admin.register(OwnerClaim)
class OwnerClaimAdmin(ReadOnlyAdmin):
    list_display = ["repo_id", "claimant", "proof", "proven_at", "is_shown"]
    list_filter = ["proof", "is_shown"]
    list_select_related = ["claimant"]
    search_fields = ["repo_id", "claimant__username"]
    exclude = ["token"]
