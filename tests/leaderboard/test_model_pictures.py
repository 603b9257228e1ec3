"""What other pages take from a model's: its profile as a picture, a badge, commands, BibTeX, tables as files."""

import csv
import io
import json
import math
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest
import typer
from django.contrib.staticfiles.finders import find

from evaluation.__main__ import app
from evaluation.embedders.encode_config import encode_config
from evaluation.vocabulary import EmbedderFamily
from leaderboard.models import Run, Suite
from leaderboard.models.vocabulary import RunState
from leaderboard.views.citations import escaped
from leaderboard.views.profile_chart import LINES, PLANE, ProfileScore, profile_chart
from tests.board_documents import store_statistics
from tests.factories import make_cell, make_revision, make_run, make_scored_run, make_task
from tests.leaderboard.pages import tables
from tests.probe_documents import NAMES, make_probing_suite, publish, store_board

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert("x")</script>'
SVG = "{http://www.w3.org/2000/svg}"
FAMILIES = ("image_to_label", "text_to_text", "region_grounding", "modality_bridging")


@pytest.fixture
def suite() -> Suite:
    suite = Suite.objects.create(slug="small", version="1", title="A small suite", synthetic=False)
    for position, family in enumerate(FAMILIES):
        make_task(suite, position=position, name=family, family=family, chance=0.25)
    return suite


def scored(suite: Suite, repo_id: str = "lab/model", **hits: float) -> Run:
    return make_scored_run(suite=suite, hits=hits, revision=make_revision(repo_id))


def svg(client, address: str) -> ET.Element:
    response = client.get(address)
    assert response.status_code == 200, address
    assert response["Content-Type"].startswith("image/svg+xml")
    return ET.fromstring(response.content)  # noqa: S314 - our own answer


def test_the_profile_is_a_file_that_says_in_words_what_it_shows(client, suite) -> None:
    scored(suite, image_to_label=1.0, text_to_text=0.5, region_grounding=0.25)
    store_statistics(suite)
    drawing = svg(client, "/models/lab/model/profile.svg")
    assert drawing.find(f"{SVG}title").text == "Hit@1 of lab/model by family"
    words = drawing.find(f"{SVG}desc").text
    assert "Image to label 100.0 (98.0 to 100.0); Text to text 50.0 (48.0 to 52.0); Region 25.0" in words
    assert "Bridging not evaluated" in words
    (polygon,) = [found for found in drawing.iter(f"{SVG}polygon") if "line-0" in found.get("class")]
    corners = [tuple(map(float, pair.split(","))) for pair in polygon.get("points").split()]
    distances = [math.hypot(x - PLANE.centre_x, y - PLANE.centre_y) / PLANE.radius for x, y in corners]
    assert distances == pytest.approx([1.0, 0.5, 0.25], abs=0.01)
    assert polygon.get("stroke") or any(group.get("stroke") for group in drawing.iter(f"{SVG}g"))


def test_the_page_shows_the_profile_beside_its_table_and_links_the_file(client, suite) -> None:
    run = scored(suite, image_to_label=1.0, text_to_text=0.5, region_grounding=0.25)
    html = client.get("/models/lab/model/").content.decode()
    address = f"/models/lab/model/profile.svg?suite=small&amp;revision={run.revision_id}"
    assert f'<a href="{address}" download>' in html
    assert html.count('<svg class="profile"') == 1
    assert 'id="profile-title"' in html
    assert svg(client, address.replace("&amp;", "&")) is not None


def test_two_families_have_marks_but_no_area() -> None:
    chart = profile_chart({"a": "A", "b": "B"}, [("m", {"a": ProfileScore(0.5), "b": ProfileScore(0.1)})], title="t")
    (profile,) = chart.profiles
    assert profile.points == ""
    assert [mark.words for mark in profile.marks] == ["m, A: 50.0", "m, B: 10.0"]


def test_colours_of_the_file_are_those_of_the_site() -> None:
    light = (
        Path(find("site.css"))
        .read_text(encoding="utf-8")
        .partition("/* Lines that neighbour")[2]
        .partition("@media")[0]
    )
    found = dict(re.findall(r"\.line-(\d) \{ stroke: (#[0-9a-f]{6})", light))
    assert [found[str(number)] for number in range(len(LINES))] == [colour for colour, _ in LINES]


@pytest.mark.parametrize("name", ["profile", "badge"])
def test_pictures_are_cached_and_answer_not_modified(client, suite, name) -> None:
    scored(suite, image_to_label=1.0, text_to_text=0.5, region_grounding=0.25)
    response = client.get(f"/models/lab/model/{name}.svg")
    assert set(response["Cache-Control"].split(", ")) == {"max-age=300", "public"}
    assert "Cookie" not in response.get("Vary", "")
    again = client.get(f"/models/lab/model/{name}.svg", headers={"If-None-Match": response["ETag"]})
    assert again.status_code == 304
    assert client.post(f"/models/lab/model/{name}.svg").status_code == 405


def badge(client, repo_id: str, query: str = "") -> str:
    drawing = svg(client, f"/models/{repo_id}/badge.svg{query}")
    assert drawing.find(f"{SVG}title").text == drawing.get("aria-label")
    assert not [found for found in drawing.iter() if found.get("href")], "a badge loads nothing"
    first, second = (found.text for found in drawing.iter(f"{SVG}text"))
    assert first == "MedBoard"
    return second


def test_a_badge_says_how_the_model_stands(client, suite) -> None:
    full = dict.fromkeys(FAMILIES, 0.5)
    scored(suite, "lab/better", **dict.fromkeys(FAMILIES, 0.9))
    scored(suite, "lab/model", **full)
    scored(suite, "lab/partial", image_to_label=0.5)
    make_run(suite=suite, revision=make_revision("lab/new"), state=RunState.FAILED)
    assert badge(client, "lab/model") == "being computed"
    store_statistics(suite)
    assert badge(client, "lab/model") == "Hit@1 50.0, rank 2 of 2"
    assert badge(client, "lab/partial") == "1 of 4 tasks"
    assert badge(client, "lab/new") == "not evaluated"
    assert badge(client, "lab/model", "?suite=other") == "not evaluated"
    Suite.objects.update(synthetic=True)
    assert badge(client, "lab/model") == "synthetic data: Hit@1 50.0, rank 2 of 2"


def test_a_probing_result_without_statistics_is_being_computed(client, db) -> None:
    suite = Suite.objects.create(slug="probes", kind="probing", version="1", title="Probes", synthetic=False)
    make_cell(suite)
    make_scored_run(suite=suite, hits={}, revision=make_revision("lab/prober"))
    assert badge(client, "lab/prober") == "being computed"
    assert client.get("/models/lab/prober/profile.svg").status_code == 404


@pytest.mark.parametrize("name", ["profile", "badge"])
def test_pictures_of_unknown_and_opted_out_models_are_not_found(client, suite, name) -> None:
    make_revision("hidden/model", owner_opted_out=True)
    for repo_id in ("no/such", "hidden/model"):
        assert client.get(f"/models/{repo_id}/{name}.svg").status_code == 404
    assert client.get(f"/models/no/such/{name}.svg?revision=x").status_code == 404


def test_hostile_names_stay_texts_in_pictures_and_citations(client, suite) -> None:
    scored(suite, f"lab/{HOSTILE}", image_to_label=1.0, text_to_text=0.5, region_grounding=0.25)
    html = client.get(f"/models/lab/{HOSTILE}/").content.decode()
    assert "<script>alert" not in html
    for name in ("profile", "badge"):
        content = client.get(f"/models/lab/{HOSTILE}/{name}.svg").content.decode()
        assert "<script" not in content
        assert HOSTILE in ET.fromstring(content).find(f"{SVG}title").text  # noqa: S314 - our own answer


def test_pictures_cost_few_queries(client, suite, django_assert_num_queries) -> None:
    for number in range(5):
        scored(suite, f"lab/other-{number}", **dict.fromkeys(FAMILIES, (number + 1) / 10))
    scored(suite, image_to_label=1.0, text_to_text=0.5, region_grounding=0.25)
    store_statistics(suite)
    client.get("/models/lab/model/badge.svg")  # the board is read once by a process
    for name, number in (("profile", 9), ("badge", 5)):
        with django_assert_num_queries(number):
            client.get(f"/models/lab/model/{name}.svg")


def test_the_badge_of_a_probing_result_says_what_the_board_says(client, db, django_assert_num_queries) -> None:
    suite = make_probing_suite()
    runs = {name: publish(suite, name) for name in NAMES}
    store_board(suite, runs)
    # By hand, of the made-up scores: reader discriminates in four levels of films and two of the retina.
    assert badge(client, "lab/reader") == "tells apart 6 of 10 cells"
    with django_assert_num_queries(5):
        client.get("/models/lab/reader/badge.svg")


# --- repeating and quoting ------------------------------------------------------------------------------------------


def command_of(client, repo_id: str) -> list[list[str]]:
    html = client.get(f"/models/{repo_id}/").content.decode()
    code = html.partition("<h3>Run it again</h3>")[2].partition("<code>")[2].partition("</code>")[0]
    return [shlex.split(line) for line in _plain(code).splitlines()]


def _plain(html: str) -> str:
    for name, letter in (("&#x27;", "'"), ("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        html = html.replace(name, letter)
    return html


def test_the_command_is_one_that_the_command_line_takes(client, suite) -> None:
    config = encode_config(EmbedderFamily.CLIP)
    revision = make_revision("lab/model")
    revision.adapter_repo_id, revision.adapter_commit = "lab/it's", "b" * 40
    revision.encode_config_sha256 = config.sha256
    revision.save()
    run = make_scored_run(suite=suite, hits={"image_to_label": 0.5}, revision=revision)
    run.model_description = {"encode_config": config.described(dtype="bfloat16")}
    run.environment = {"device": "cuda:0 (NVIDIA H200)"}
    run.save()
    model, adapter, evaluate = command_of(client, "lab/model")
    assert model == ["hf", "download", "lab/model", "--revision", revision.commit, "--local-dir", "model"]
    assert adapter[2:5] == ["lab/it's", "--revision", "b" * 40]
    assert evaluate[:3] == ["python", "-m", "evaluation"]
    command = typer.main.get_command(app)
    assert isinstance(command, click.Group | typer.core.TyperGroup)
    context = command.commands["run"].make_context("run", evaluate[4:])
    assert context.params["model"] == "model"
    assert context.params["revision"] == revision.commit
    assert context.params["adapter"] == "adapter"
    assert context.params["encode_config"] == config.name
    assert context.params["device"] == "cuda:0"
    assert str(context.params["suite"]) == "small"
    assert str(context.params["out"]) == "result.json"


def test_bibtex_names_model_and_board_and_escapes_what_tex_would_read(client, suite) -> None:
    run = scored(suite, "lab/a_50%_model", image_to_label=0.5)
    html = _plain(client.get("/models/lab/a_50%25_model/").content.decode())
    assert html.count("@misc{") == 2
    assert r"title        = {{lab/a\_50\%\_model}}," in html
    assert f"note         = {{Revision {run.revision.commit}, run {run.pk}}}," in html
    entries = html.partition("<h3>BibTeX</h3>")[2].partition("</code>")[0]
    assert entries.count("{") - entries.count(r"\{") == entries.count("}") - entries.count(r"\}")


def test_texts_stand_for_themselves_in_bibtex() -> None:
    assert escaped("a_b & 50% {x} ~ ^ \\ # $\n") == (
        r"a\_b \& 50\% \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} \# \$ "
    )


def test_every_table_is_a_file_equal_to_the_page(client, suite) -> None:
    scored(suite, image_to_label=0.5, text_to_text=0.75)
    html = client.get("/models/lab/model/").content.decode()
    (families,) = [table for table in tables(html) if table[0][0] == "Family"]
    lines = list(csv.DictReader(io.StringIO(client.get("/models/lab/model/?format=csv&table=family").content.decode())))
    assert [line["group"] for line in lines] == ["image_to_label", "text_to_text"]
    assert [row[1].partition(" ")[0] for row in families[1:]] == [f"{float(line['mean']):.1f}" for line in lines]
    rows = json.loads(client.get("/models/lab/model/?format=json").content)
    assert [(row["task"], row["hit_at_1_percent"]) for row in rows][:2] == [
        ("image_to_label", 50.0),
        ("text_to_text", 75.0),
    ]
    for wrong in ("format=xml", "format=csv&table=nosuch"):
        assert client.get(f"/models/lab/model/?{wrong}").status_code == 400
