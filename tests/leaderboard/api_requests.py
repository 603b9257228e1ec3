"""Sends requests to the API as programs do."""

from typing import Any

from django.test import Client

from leaderboard.models import User
from leaderboard.models.vocabulary import ApiScope
from leaderboard.services.api_tokens import api_token_create

API = "/api/v1"


def get(client: Client, path: str, *, status: int = 200, **parameters: object) -> Any:
    """The answer to a GET, which must have this status."""
    response = client.get(API + path, parameters)
    assert response.status_code == status, response.content
    return response.json()


def post(client: Client, path: str, body: object = None, *, status: int = 200) -> Any:
    """The answer to a POST of a JSON body, which must have this status."""
    response = client.post(API + path, body, content_type="application/json")
    assert response.status_code == status, response.content
    return response.json()


def with_token(user: User, *scopes: ApiScope, enforce_csrf_checks: bool = False) -> Client:
    """A program that acts for a person; without scopes it may do everything."""
    secret = api_token_create(user=user, name="a program", scopes=scopes or list(ApiScope), days=1).secret
    return Client(enforce_csrf_checks=enforce_csrf_checks, headers={"Authorization": f"Bearer {secret}"})
