"""Addresses."""

from django.contrib import admin
from django.urls import include, path

handler400 = "leaderboard.views.errors.bad_request"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("", include("leaderboard.api.urls")),
    path("", include("leaderboard.views.api_token_urls")),
    path("", include("leaderboard.views.people_urls")),
    path("", include("leaderboard.views.account_urls")),
    path("", include("leaderboard.views.administration_urls")),
    path("", include("leaderboard.views.boards_urls")),
]
