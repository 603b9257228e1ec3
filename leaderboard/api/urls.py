"""Addresses of the API and of the page that describes it."""

from django.urls import path

from leaderboard.api import page
from leaderboard.api.v1 import addresses, build_api

API = build_api()

urlpatterns = [
    path("api/", page.api_page, {"api": API}, name="api-page"),
    path("api/v1/openapi.json", page.openapi_document, {"api": API}, name="api-openapi"),
    path("api/v1/", page.no_such_address),
    path("api/v1/", addresses(API)),
    path("api/v1/<path:rest>", page.no_such_address),
]
