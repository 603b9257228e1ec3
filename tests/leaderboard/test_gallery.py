"""Galleries: what is found is what is nearest, filters hold, filling can be repeated, and the panel's role only reads."""

import numpy as np
import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from leaderboard.models import Gallery
from leaderboard.selectors.gallery import gallery_search, live_galleries
from leaderboard.services.gallery import galleries_remove_old, gallery_items_store, gallery_open
from tests.galleries import DOMAINS, fill_gallery, generated_vectors, new_item

N_ITEMS, DIMENSION, N_QUERIES = 10_000, 64, 50
KEY, LARGE = "m" * 64, "l" * 64


@pytest.fixture(scope="module")
def vectors():
    return generated_vectors(N_ITEMS, DIMENSION, seed=1)


@pytest.fixture(scope="module")
def filled(django_db_setup, django_db_blocker, vectors):
    """Ten thousand items for all tests of this module, removed with it."""
    with django_db_blocker.unblock():
        gallery = fill_gallery(vectors, slug="large", model_key=LARGE)
        index = gallery.pk
        yield gallery
        gallery.delete()
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX IF EXISTS gallery_item_hnsw_{index}")


def numbers(hits) -> list[int]:
    return [int(hit.label.removeprefix("label ")) for hit in hits]


def test_the_index_finds_what_exact_search_finds(filled, vectors, db) -> None:
    queries = vectors[:N_QUERIES] + np.float32(0.05)  # near an item and equal to none
    found = 0
    for query in queries:
        cosines = vectors @ (query / np.linalg.norm(query))
        exact = set(np.argsort(-cosines)[:10].tolist())
        hits = gallery_search(galleries=live_galleries(model_key=LARGE), vector=query.tolist(), count=10)
        found += len(exact & set(numbers(hits)))
        assert hits[0].score == pytest.approx(cosines.max(), abs=1e-5)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert found / (10 * N_QUERIES) >= 0.99


def test_a_search_asks_the_index(filled, vectors, db) -> None:
    with connection.cursor() as cursor:
        column = f"embedding::vector({DIMENSION})"
        cursor.execute(
            "EXPLAIN SELECT id FROM leaderboard_galleryitem"  # noqa: S608 - numbers of ours
            f" WHERE gallery_id = {filled.pk} ORDER BY {column} <=> (SELECT {column} FROM leaderboard_galleryitem LIMIT 1)"
            " LIMIT 10"
        )
        assert f"gallery_item_hnsw_{filled.pk}" in str(cursor.fetchall())


def test_filters_hold_and_still_fill_the_page(filled, vectors, db) -> None:
    galleries = live_galleries(model_key=LARGE)
    hits = gallery_search(
        galleries=galleries, vector=vectors[0].tolist(), count=10, kinds=["text"], domains=[DOMAINS[1]]
    )
    wanted = np.arange(N_ITEMS) % 4 == 1
    exact = np.argsort(-np.where(wanted, vectors @ vectors[0], -2))[:10]
    assert len(set(exact.tolist()) & set(numbers(hits))) >= 9
    assert {(hit.kind, hit.domain) for hit in hits} == {("text", DOMAINS[1])}
    assert gallery_search(galleries=galleries, vector=vectors[0].tolist(), count=10, domains=["dermatology"]) == ()


def test_parts_are_compared_with_each_hit(filled, vectors, db) -> None:
    hits = gallery_search(
        galleries=live_galleries(model_key=LARGE),
        vector=vectors[0].tolist(),
        count=3,
        parts={"text": vectors[5].tolist()},
    )
    for hit, number in zip(hits, numbers(hits), strict=True):
        assert hit.parts["text"] == pytest.approx(float(vectors[number] @ vectors[5]), abs=1e-5)


def test_galleries_of_other_models_and_unfinished_ones_are_not_searched(filled, db) -> None:
    fill_gallery(generated_vectors(3, 8, seed=2), slug="other", model_key="o" * 64)
    assert [row.suite_slug for row in live_galleries(model_key="o" * 64)] == ["other"]
    assert [row.n_items for row in live_galleries(model_key=LARGE)] == [N_ITEMS]
    Gallery.objects.filter(pk=filled.pk).update(is_live=False)
    assert live_galleries(model_key=LARGE) == ()


def test_vectors_beyond_two_thousand_numbers_are_indexed_in_half_precision(db) -> None:
    vectors = generated_vectors(60, 2500, seed=3)
    gallery = fill_gallery(vectors)
    hits = gallery_search(galleries=live_galleries(model_key=KEY), vector=vectors[7].tolist(), count=5)
    assert numbers(hits)[0] == 7
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [f"gallery_item_hnsw_{gallery.pk}"])
        assert "halfvec_cosine_ops" in cursor.fetchone()[0]


def test_filling_again_embeds_only_what_is_new_and_drops_what_is_gone(db) -> None:
    first = fill_gallery(generated_vectors(4, 8, seed=4))
    facts = {"suite_slug": "generated", "suite_version": "2", "title": "Generated", "synthetic": True}
    gallery, missing = gallery_open(
        **facts, model_key=KEY, model_name="m", dimension=8, wanted=[f"{number:064x}" for number in (1, 2, 9)]
    )
    assert gallery.pk == first.pk
    assert missing == {f"{9:064x}"}
    assert sorted(gallery.items.values_list("label", flat=True)) == ["label 1", "label 2"]
    with pytest.raises(ValueError, match="8 numbers"):
        gallery_items_store(gallery=gallery, items=[new_item(9, [1.0])])
    for _ in range(2):
        gallery_items_store(gallery=gallery, items=[new_item(9, [1.0] * 8)])
    assert gallery.items.count() == 3


def test_galleries_of_other_models_and_versions_go_with_their_indexes_and_are_named(filled, db) -> None:
    vectors = generated_vectors(3, 8, seed=2)
    kept = fill_gallery(vectors, slug="present")
    gone = [fill_gallery(vectors, slug="present", model_key="o" * 64)]
    gone += [fill_gallery(vectors, slug=slug) for slug in ("renewed", "vanished")]
    gone.insert(0, filled)
    indexes = [f"gallery_item_hnsw_{gallery.pk}" for gallery in (kept, *gone)]
    removed = galleries_remove_old(model_key=KEY, versions={"present": "1", "renewed": "2"})
    assert [(one.suite_slug, one.n_items, one.reason) for one in removed] == [
        ("large", N_ITEMS, "of another model than the panel's"),
        ("present", 3, "of another model than the panel's"),
        ("renewed", 3, "of another version than the suite's present one, 2"),
        ("vanished", 3, "of a suite that is no longer on the board"),
    ]
    assert list(Gallery.objects.values_list("pk", flat=True)) == [kept.pk]
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname = ANY(%s)", [indexes])
        assert cursor.fetchall() == [(indexes[0],)]
    assert galleries_remove_old(model_key=KEY, versions={"present": "1"}) == ()


@pytest.fixture
def reading_role(transactional_db, settings):
    """The address of the test database for a role of the panel, removed afterwards."""
    own = connection.settings_dict
    host = own["HOST"] or own["OPTIONS"].get("host")
    settings.PANEL_DATABASE_URL = f"postgres://panel_test:secret@/{own['NAME']}?host={host}"
    call_command("create_panel_role", verbosity=0)
    yield {
        "dbname": own["NAME"],
        "host": host,
        "port": own["PORT"] or None,
        "user": "panel_test",
        "password": "secret",
    }
    with connection.cursor() as cursor:
        cursor.execute("DROP OWNED BY panel_test")
        cursor.execute("DROP ROLE panel_test")


def test_the_panels_role_reads_galleries_and_nothing_else(reading_role) -> None:
    call_command("create_panel_role", verbosity=0)  # again: brings it up to date
    with psycopg.connect(**reading_role, autocommit=True) as database:
        assert database.execute("SELECT count(*) FROM leaderboard_galleryitem").fetchone() is not None
        for statement in (
            "SELECT * FROM leaderboard_user",
            "SELECT * FROM leaderboard_run",
            "DELETE FROM leaderboard_galleryitem",
            "INSERT INTO leaderboard_gallery DEFAULT VALUES",
            "CREATE TABLE mine (id int)",
        ):
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)):
                database.execute(statement)


@pytest.mark.parametrize("url", ["", "postgres://host/db", "postgres://nobody@host/db"])
def test_a_role_without_name_or_password_is_refused(url, settings, db) -> None:
    settings.PANEL_DATABASE_URL = url
    with pytest.raises(CommandError, match="PANEL_DATABASE_URL"):
        call_command("create_panel_role")


def test_indexing_without_a_broker_says_what_to_set(settings, db) -> None:
    settings.PANEL_BROKER_URL = ""
    with pytest.raises(CommandError, match="PANEL_BROKER_URL is not set"):
        call_command("index_gallery")


@pytest.mark.parametrize(
    ("url", "source"), [("/panel/", "'self'"), ("http://127.0.0.1:8002/panel/", "http://127.0.0.1:8002")]
)
def test_only_the_demo_page_may_frame_and_only_the_panel(client, settings, db, url, source) -> None:
    settings.PANEL_URL = url
    response = client.get("/demo/")
    assert f"frame-src {source}" in response["Content-Security-Policy"]
    assert f'data-panel="{url}"' in response.content.decode()
    assert "Not for medical use" in response.content.decode()
    assert "frame-src" not in client.get("/methods/")["Content-Security-Policy"]


def test_without_a_panel_the_page_says_so(client, settings, db) -> None:
    settings.PANEL_URL = ""
    html = client.get("/demo/").content.decode()
    assert "No search panel is set up" in html
    assert "<iframe" not in html
