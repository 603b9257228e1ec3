"""Addresses of a person's API tokens."""

from django.urls import path

from leaderboard.views import api_tokens

urlpatterns = [
    path("account/tokens/", api_tokens.tokens_page, name="api-tokens"),
    path("account/tokens/<int:token_id>/revoke/", api_tokens.token_revoke, name="api-token-revoke"),
]
