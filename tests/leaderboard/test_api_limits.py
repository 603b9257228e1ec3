"""How often one caller may ask: counted for all processes together, for each token, person and address apart."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.test import Client
from redis.exceptions import ConnectionError as RedisGone

from leaderboard.api import limits
from leaderboard.models import User
from tests.conftest import close_cache_connections
from tests.leaderboard.api_requests import API, get, post, with_token

THREADS = 8


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """A minute that no other test counts in; the list holds the time now."""
    now = [60.0 * secrets.randbelow(10**9)]
    monkeypatch.setattr(limits.time, "time", lambda: now[0])
    return now


@pytest.fixture
def bounded(settings: object) -> None:
    settings.API_ANONYMOUS_PER_MINUTE, settings.API_USER_PER_MINUTE, settings.API_WRITES_PER_MINUTE = 2, 3, 1


def at(address: str) -> Client:
    return Client(REMOTE_ADDR=address)


@pytest.mark.django_db
@pytest.mark.usefixtures("bounded")
def test_one_address_too_many_requests_is_told_when_to_go_on(clock: list[float]) -> None:
    clock[0] += 18
    client = at("192.0.2.1")
    for _ in range(2):
        get(client, "/suites")
    refused = client.get(f"{API}/suites")
    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (429, "throttled", "42")
    assert "42 seconds" in refused.json()["message"]
    get(at("192.0.2.2"), "/suites")
    clock[0] += 42
    get(client, "/suites")


@pytest.mark.django_db
@pytest.mark.usefixtures("bounded", "clock")
def test_tokens_and_people_are_counted_apart_from_their_address(submitter: User, submitter_client: Client) -> None:
    for client in (with_token(submitter), with_token(submitter), submitter_client):
        for _ in range(3):
            get(client, "/suites")
        get(client, "/suites", status=429)
    get(Client(), "/suites")


@pytest.mark.django_db
@pytest.mark.usefixtures("bounded", "clock", "fake_hub")
def test_changes_have_a_limit_of_their_own(submitter: User) -> None:
    program = with_token(submitter)
    body = {"repo_id": "lab/missing", "suites": ["none"]}
    post(program, "/submissions", body, status=422)
    post(program, "/submissions", body, status=429)
    get(program, "/suites")


@pytest.mark.django_db
@pytest.mark.usefixtures("bounded", "clock")
def test_while_the_counters_are_away_requests_are_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(key: str) -> int:
        raise RedisGone("no route")

    monkeypatch.setattr(limits, "_count", gone)
    for _ in range(4):
        get(at("192.0.2.3"), "/suites")
    assert "requests to the API are not counted: no route" in caplog.text


@pytest.mark.usefixtures("clock")
def test_many_at_once_are_counted_without_loss() -> None:
    key = f"api-test-{secrets.token_hex(8)}"

    def count(_: int) -> int:
        return limits._count(key)

    def close() -> None:
        started.wait()  # every thread has a connection of its own
        close_cache_connections()

    started = Barrier(THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        assert sorted(pool.map(count, range(200))) == list(range(1, 201))
        for ended in [pool.submit(close) for _ in range(THREADS)]:
            ended.result()
