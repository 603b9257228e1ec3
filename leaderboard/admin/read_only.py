"""Rows that only services write: administrators look at them here and change them through actions."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class ReadOnlyMixin:
    """Every member of staff may look; nobody may add, change or delete."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """The page of such a model."""

    list_per_page = 50
    show_full_result_count = False


class ReadOnlyInline(ReadOnlyMixin, admin.TabularInline):
    """Its rows on the page of what they belong to."""

    extra = 0
    show_change_link = True
