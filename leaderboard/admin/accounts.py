"""People."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from leaderboard.models import User


@admin.register(User)
class PersonAdmin(UserAdmin):
    fieldsets = (
        *(UserAdmin.fieldsets or ()),
        ("Limits of submissions", {"fields": ("submissions_per_day", "submissions_at_once")}),
    )
