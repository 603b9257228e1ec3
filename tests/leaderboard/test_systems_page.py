"""The page of known systems shows the library's own table."""

import csv

from evaluation.embedders.systems import known_systems
from evaluation.vocabulary import EmbedderFamily
from leaderboard.views.figures import KIND_TITLES
from tests.factories import make_published_run, make_revision, make_suite
from tests.leaderboard.pages import tables


def test_every_system_is_shown_with_its_figures(client, db) -> None:
    html = client.get("/systems/").content.decode()
    (table,) = tables(html)
    assert [row[0] for row in table[1:]] == [f"{system.title}|{system.id}" for system in known_systems()]
    (medsiglip,) = (row for row in table if row[0].startswith("MedSigLIP"))
    assert medsiglip[1:9] == [
        "Dual encoder, SigLIP", "default", "text, image", "1,152", "–", "64", "448", "safetensors",
    ]  # fmt: skip
    assert medsiglip[9] == "health-ai-developer-foundations |gated"
    (chexzero,) = (row for row in table if row[0].startswith("CheXzero"))
    assert "chexzero" in chexzero[8]
    assert "0 of them stand on a board" in html


def test_a_system_on_a_board_leads_to_its_page(client, db) -> None:
    make_published_run(suite=make_suite(), revision=make_revision("Google/MedSigLIP-448"))
    make_published_run(suite=make_suite("other"), revision=make_revision("lab/unknown"))
    html = client.get("/systems/").content.decode()
    assert '<a href="/models/Google/MedSigLIP-448/">MedSigLIP</a>' in html
    assert html.count('href="/models/') == 1
    assert "1 of them stands on a board" in html


def test_the_csv_holds_what_the_table_states(client, db) -> None:
    rows = list(csv.DictReader(client.get("/systems/?format=csv&sort=-dimension").content.decode().splitlines()))
    by_id = {system.id: system for system in known_systems()}
    assert {row["id"] for row in rows} == set(by_id)
    assert [int(row["dimension"]) for row in rows] == sorted((int(row["dimension"]) for row in rows), reverse=True)
    for row in rows:
        system = by_id[row["id"]]
        assert (row["family"], row["source"]) == (system.family, system.source)
        assert row["parameters"] == str(system.parameters or "")


def test_the_page_costs_one_query(client, db, django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        client.get("/systems/")


def test_every_family_has_words_for_people() -> None:
    assert set(KIND_TITLES) == set(EmbedderFamily)
