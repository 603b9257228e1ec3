"""Fixtures for every test: where the real data lie, and nothing left open at the end."""

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCacheClient

# No example has to be quick: how long one takes says more of the machine than of the code.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")


def close_cache_connections() -> None:
    """End this thread's connections to the cache, which Django leaves to the end of the process.

    Where the board runs elsewhere the cache is one of memory.
    """
    if isinstance(cache._cache, RedisCacheClient):
        for pool in cache._cache._pools.values():
            pool.disconnect()


@pytest.fixture(scope="session", autouse=True)
def _no_open_connections_to_the_cache() -> Iterator[None]:
    yield
    close_cache_connections()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real medical data, or a skip that says how to provide it."""
    folder = os.environ.get("MEDBOARD_REAL_DATA", "")
    if not folder:
        pytest.skip("MEDBOARD_REAL_DATA is not set: tests on real medical data are skipped")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"MEDBOARD_REAL_DATA names {path}, which is not a folder")
    return path


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: object) -> None:
    """Tests with real transactions empty the tables afterwards, which the log of acts refuses everywhere else."""
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE leaderboard_act DISABLE TRIGGER act_not_emptied")
