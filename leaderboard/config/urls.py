"""Addresses."""

from django.contrib import admin
from django.urls import include, path

handler400 = "leaderboard.views.errors.bad_request"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
    path("", include("leaderboard.views.people_urls")),
    path("", include("leaderboard.views.administration_urls")),
    path("", include("leaderboard.views.boards_urls")),
]
