"""Pages that are kept for everybody: what they cost, when they change, and who never gets one."""

import gzip

import brotli
import pytest
from django.test import Client

from leaderboard.models import Suite
from leaderboard.selectors.board_tables import boards_state
from leaderboard.services.publishing import run_publish, run_withdraw
from tests.board_documents import store_statistics
from tests.factories import make_revision, make_run, make_scored_run, make_suite, make_user


@pytest.fixture
def suite(db: None) -> Suite:
    suite = make_suite("kept", n_tasks=2)
    make_scored_run(suite=suite, hits={"task0": 0.5, "task1": 0.5}, revision=make_revision("lab/model"))
    store_statistics(suite)
    return suite


def test_a_browser_that_has_the_page_is_told_so(client, suite) -> None:
    first = client.get("/")
    assert first["Cache-Control"] == "no-cache"
    assert {name.strip() for name in first["Vary"].split(",")} == {"Accept-Encoding", "Cookie"}
    for known in (first["ETag"], f"W/{first['ETag']}", f'"other", {first["ETag"]}', "*"):
        again = client.get("/", headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == first["ETag"]
        assert "Content-Security-Policy" in again
    assert client.get("/", headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_change_of_the_boards_is_a_new_page(client, suite) -> None:
    first = client.get("/")
    run = suite.runs.get()
    run_withdraw(run_id=run.pk, actor="test", reason="a test")
    second = client.get("/", headers={"If-None-Match": first["ETag"]})
    assert second.status_code == 200
    run_publish(run_id=run.pk, actor="test")
    third = client.get("/", headers={"If-None-Match": first["ETag"]})
    assert third.status_code == 304, "the page is as it was"


@pytest.mark.parametrize(
    ("accepted", "encoding", "decoded"),
    [
        ("gzip, deflate, br", "br", brotli.decompress),
        ("gzip", "gzip", gzip.decompress),
        ("br;q=0, gzip;q=0.5", "gzip", gzip.decompress),
        ("", None, bytes),
        ("zstd", None, bytes),
    ],
)
def test_pages_are_compressed_as_the_browser_likes(client, suite, accepted, encoding, decoded) -> None:
    plain = client.get("/").content
    for address in ("/", "/?format=csv"):
        answer = client.get(address, headers={"Accept-Encoding": accepted})
        assert answer.get("Content-Encoding") == encoding
        assert "ETag" in answer
    answer = client.get("/", headers={"Accept-Encoding": accepted})
    assert decoded(answer.content) == plain
    tags = {client.get("/", headers={"Accept-Encoding": name})["ETag"] for name in ("br", "gzip", "")}
    assert len(tags) == 3


def test_people_who_are_signed_in_get_pages_of_their_own(client, suite) -> None:
    anonymous = client.get("/")
    own = Client()
    own.force_login(make_user("grace"))
    page = own.get("/", headers={"If-None-Match": anonymous["ETag"]})
    assert page.status_code == 200
    assert "ETag" not in page
    assert "Signed in as grace" in page.content.decode()
    assert "Signed in" not in client.get("/").content.decode()


def test_a_message_for_one_visitor_is_shown_to_nobody_else(client, suite) -> None:
    client.get("/")
    client.cookies["messages"] = "anything"
    assert "ETag" not in client.get("/")


def test_pages_that_are_refused_are_not_kept(client, suite) -> None:
    for _ in range(2):
        assert client.get("/?sort=nosuch").status_code == 400
        assert "ETag" not in client.get("/?q=%00")


def test_only_what_boards_show_changes_their_state(suite) -> None:
    def changes() -> bool:
        nonlocal before
        now, earlier = boards_state(), before
        before = now
        return now != earlier

    before = boards_state()
    draft = make_run(suite=suite)
    draft.expected_seconds = 5
    draft.save()
    draft.revision.model.licence = "mit"
    draft.revision.model.save()
    assert not changes()
    draft.revision.model.owner_opted_out = True
    draft.revision.model.save()
    assert changes()
    suite.runs.filter(is_published=True).update(is_published=False)
    assert changes()
    suite.tasks.update(is_installed=False)
    assert changes()
    Suite.objects.filter(pk=suite.pk).update(is_live=False)
    assert changes()
    make_scored_run(suite=suite, hits={"task0": 0.1, "task1": 0.1})
    assert changes()
