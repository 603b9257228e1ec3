"""People, their groups and their addresses."""

from allauth.account.admin import EmailAddressAdmin
from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group

from leaderboard.admin.audited import AuditedMixin
from leaderboard.models import User
from leaderboard.models.vocabulary import ActKind

admin.site.unregister([Group, EmailAddress])


@admin.register(User)
class PersonAdmin(AuditedMixin, UserAdmin):
    act_kind = ActKind.ACCOUNT
    fieldsets = (
        *(UserAdmin.fieldsets or ()),
        ("Limits of submissions", {"fields": ("submissions_per_day", "submissions_at_once")}),
    )


@admin.register(Group)
class AuditedGroupAdmin(AuditedMixin, GroupAdmin):
    pass


@admin.register(EmailAddress)
class AuditedEmailAddressAdmin(AuditedMixin, EmailAddressAdmin):
    act_kind = ActKind.ACCOUNT
    actions = ()  # one by one, for the log of acts
