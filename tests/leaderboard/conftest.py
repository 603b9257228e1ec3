"""Fixtures for tests of the site."""

import pytest
from django.core.cache import cache
from django.test import Client

from leaderboard.models import User
from tests.factories import make_user


@pytest.fixture(autouse=True)
def _nothing_counted_before() -> None:
    """Attempts to sign in are counted across requests: those of one test must not lock out the next."""
    server = cache._cache.get_client(None, write=True)
    if counted := list(server.scan_iter(f"{cache.key_prefix}:*")):
        server.delete(*counted)


@pytest.fixture
def fake_hub(settings: object) -> None:
    """Preflight asks `tests.fakes.FakeHub`."""
    settings.MODEL_HUB_BACKEND = "tests.fakes.FakeHub"


@pytest.fixture
def submitter(db: None) -> User:
    return make_user("submitter")


@pytest.fixture
def administrator(db: None) -> User:
    return make_user("administrator", is_staff=True)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def submitter_client(submitter: User) -> Client:
    return signed_in(submitter)


@pytest.fixture
def administrator_client(administrator: User) -> Client:
    return signed_in(administrator)


@pytest.fixture
def stranger_client(db: None) -> Client:
    return signed_in(make_user("stranger"))
