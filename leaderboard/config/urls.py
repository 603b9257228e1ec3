"""Addresses."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("", include("leaderboard.api.urls")),
    path("", include("leaderboard.views.api_token_urls")),
    path("", include("leaderboard.views.people_urls")),
    path("", include("leaderboard.views.account_urls")),
    path("", include("leaderboard.views.boards_urls")),
]
