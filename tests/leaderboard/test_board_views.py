"""What an address asks of a board: columns, filters, pages and files; the finder and the presets above it."""

import csv
import io
import json
from datetime import UTC, datetime

import pyarrow.parquet
import pytest

from leaderboard.forms.boards import COMMERCIAL
from leaderboard.models import ModelRevision, Suite
from leaderboard.views.finder import presets
from tests.board_documents import store_statistics
from tests.factories import make_revision, make_scored_run, make_task
from tests.leaderboard.pages import blocked_by_policy, tables, wrongly_nested
from tests.probe_documents import NAMES, make_probing_suite, publish, store_board

pytestmark = pytest.mark.django_db

MODELS = {
    # name: hits in tasks a (label, thoracic), b (text, neuro), and facts of the model
    "one": ((0.9, 0.7), {"parameters": 8_000_000_000, "licence": "cc-by-nc-4.0", "dimension": 4096}),
    "two": ((0.8, 0.6), {"parameters": 400_000_000, "licence": "apache-2.0", "dimension": 1024, "gated": True}),
    "three": ((0.79, 0.6), {"parameters": 150_000_000, "licence": "mit", "dimension": 512}),
    "four": ((0.3, 0.5), {"parameters": 90_000_000, "licence": "mit", "dimension": 256}),
    "five": ((0.2, 0.1), {"parameters": None, "licence": "", "dimension": None}),
}
FIRST_PAGE = ["rank", "model", "mean", "cv", "image_to_label", "text_to_text"]


@pytest.fixture
def suite() -> Suite:
    suite = Suite.objects.create(slug="small", version="1", title="A small suite", synthetic=False)
    make_task(suite, position=0, name="a", title="Task a", family="image_to_label", domain="thoracic")
    make_task(suite, position=1, name="b", title="Task b", family="text_to_text", domain="neuro", evidence_form="text")
    for name, (hits, facts) in MODELS.items():
        make_scored_run(
            suite=suite, hits=dict(zip("ab", hits, strict=True)), revision=make_revision(f"lab/{name}", **facts)
        )
    make_scored_run(
        suite=suite, hits={"b": 0.95}, failures={"a": "input_unsupported"}, revision=make_revision("lab/text")
    )
    store_statistics(suite)
    return suite


def get(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def names(html: str) -> list[str]:
    head = tables(html)[0][0].index("Model")
    return [row[head].partition("|")[0].strip() for row in tables(html)[0][1:] if len(row) > 1]


def titles(html: str) -> list[str]:
    return tables(html)[0][0]


def test_columns_are_chosen_by_the_address_in_the_boards_order(client, suite) -> None:
    html = get(client, "/?columns=licence&columns=mean&columns=thoracic&columns=text")
    assert titles(html) == ["Model", "Mean of families", "Thoracic", "Text", "Licence"]
    assert tables(html)[0][1][2:4] == ["90.0", "70.0"]
    assert '<input type="checkbox" name="columns" value="thoracic" checked>' in html
    assert '<input type="checkbox" name="columns" value="rank">' in html
    assert '<input type="hidden" name="columns" value="licence">' in html, "the filters keep the columns"
    assert "Thoracic" not in titles(get(client, "/"))
    assert client.get("/?columns=nosuch").status_code == 400
    assert '<a href="?q=one">The usual columns</a>' in get(client, "/?columns=cv&q=one")


def test_a_column_that_is_not_shown_can_sort(client, suite) -> None:
    assert names(get(client, "/?columns=rank&sort=-thoracic"))[:3] == ["one", "two", "three"]
    assert names(get(client, "/?columns=rank&sort=dimension"))[:3] == ["four", "three", "two"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"licence={COMMERCIAL}", ["two", "three", "four"]),
        ("max_dimension=512", ["three", "four", "text"]),
        ("gated=yes", ["two"]),
        ("gated=no&max_parameters=500000000", ["three", "four", "text"]),
        ("submitted_after=2026-03-02", ["two", "text"]),
    ],
)
def test_filters(client, suite, query, expected) -> None:
    ModelRevision.objects.update(created_at=datetime(2026, 3, 1, tzinfo=UTC))
    ModelRevision.objects.filter(model__repo_id__in=["lab/two", "lab/text"]).update(
        created_at=datetime(2026, 3, 2, tzinfo=UTC)
    )
    ModelRevision.objects.filter(model__repo_id="lab/text").get().model.__class__.objects.filter(
        repo_id="lab/text"
    ).update(dimension=384, parameters=22_000_000, licence="other")
    store_statistics(suite)
    found = [name for name in names(get(client, f"/?{query}")) if name != "Chance"]
    assert found == expected


@pytest.mark.parametrize(
    "query", ["gated=perhaps", "submitted_after=yesterday", "max_dimension=-3", "page=x", "page=0"]
)
def test_what_makes_no_sense_is_refused_on_the_page_and_as_a_file(client, suite, query) -> None:
    assert client.get(f"/?{query}").status_code == 400
    assert client.get(f"/?{query}&format=csv").status_code == 400


def test_long_boards_have_pages_and_files_have_all_of_them(client, suite, monkeypatch) -> None:
    monkeypatch.setattr("leaderboard.views.board_view.ROWS_OF_A_PAGE", 2)
    pages = [names(get(client, f"/?sort=rank&page={number}")) for number in (1, 2, 3)]
    assert pages == [["one", "two", "Chance"], ["three", "four", "Chance"], ["five", "text", "Chance"]]
    html = get(client, "/?licence=mit&page=1&sort=-model")
    assert "1–2 of 2" not in html, "one page needs no links to others"
    html = get(client, "/?sort=-mean&page=2")
    assert "3–4 of 6" in html
    assert '<a href="?sort=-mean&amp;page=3" aria-label="Page 3">3</a>' in html
    assert 'href="?sort=mean"' in html, "another order starts from its first page"
    assert client.get("/?page=4").status_code == 404
    lines = list(csv.DictReader(io.StringIO(get(client, "/?sort=rank&page=2&format=csv"))))
    assert [line["model"] for line in lines] == [f"lab/{name}" for name in (*MODELS, "text")] + ["chance"]


@pytest.mark.parametrize(
    "address",
    [
        "/?sort=-text_to_text",
        "/?columns=rank&columns=mean&columns=neuro&columns=speed&licence=mit",
        "/boards/domain/neuro/",
    ],
)
def test_csv_json_and_parquet_are_the_page(client, suite, address) -> None:
    mark = "&" if "?" in address else "?"
    html = get(client, address)
    lines = list(csv.DictReader(io.StringIO(get(client, f"{address}{mark}format=csv"))))
    rows = json.loads(get(client, f"{address}{mark}format=json"))
    answer = client.get(f"{address}{mark}format=parquet")
    assert answer["Content-Disposition"].endswith('.parquet"')
    stored = pyarrow.parquet.read_table(io.BytesIO(answer.content))
    assert stored.column_names == list(lines[0]) == list(rows[0])
    assert stored.to_pylist() == rows
    assert [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows] == lines
    assert [row["model"].rpartition("/")[2].lower() for row in rows] == [name.lower() for name in names(html)]
    place = titles(html).index("Mean of families" if address.startswith("/?") else "Mean of tasks")
    shown = [row[place].partition(" ")[0] for row in tables(html)[0][1:] if len(row) > 1]
    means = [row["mean_hit_at_1_percent"] for row in rows]
    assert [f"{mean:.1f}" for mean in means if mean is not None] == [text for text in shown if "." in text]


@pytest.mark.parametrize("address", ["/boards/medtec/", "/boards/medtec/level/L4/", "/boards/medtec/modality/fundus/"])
def test_probing_boards_have_the_same_controls(client, address) -> None:
    probes = make_probing_suite()
    store_board(probes, {name: publish(probes, name) for name in NAMES})
    html = get(client, f"{address}?q=e&columns=licence&columns=parameters")
    assert titles(html) == ["Model", "Size", "Licence"]
    assert set(names(html)) == {"reader", "specialist"}
    rows = json.loads(get(client, f"{address}?q=e&columns=licence&format=json"))
    assert {row["model"] for row in rows} == {"lab/reader", "lab/specialist"}
    assert pyarrow.parquet.read_table(io.BytesIO(client.get(f"{address}?format=parquet").content)).num_rows == len(
        NAMES
    )
    assert "No model matches" in get(client, f"{address}?q=nosuch")


def answer_of(html: str) -> str:
    text = html.partition('<p class="answer"')[2].partition(">")[2].partition("</p>")[0]
    plain = ""
    for part in text.split("<"):
        plain += part.partition(">")[2] if ">" in part else part
    return plain.strip()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # every mean has an interval of 2 points to either side in a group, and 1 point overall
        ("", "one: Hit@1 of 80.0 (79.0 to 81.0) on 2 tasks, 10.0 points above the next, two; that is more than chance explains (95%). All 5 that fit"),
        ("best=domain:thoracic&terms=commercial", "two: Hit@1 of 80.0 (78.0 to 82.0) on 1 Thoracic task, 1.0 points above the next, three; that is more than chance explains (95%). All 3 that fit"),
        ("best=family:text_to_text&size=100000000", "four: Hit@1 of 50.0 (48.0 to 52.0) on 1 Text to text task, the only one that fits. See it on the board"),
        ("best=domain:neuro&size=1000", "No model with a rank fits. Allow a larger one or another licence."),
    ],
)  # fmt: skip
def test_the_finder_answers_in_a_sentence(client, suite, query, expected) -> None:
    html = get(client, f"/?{query}")
    assert answer_of(html) == expected
    assert blocked_by_policy(html) == wrongly_nested(html) == []


def test_the_finders_answer_leads_to_the_board_under_the_same_limits(client, suite) -> None:
    html = get(client, "/?best=domain:thoracic&size=1000000000&terms=commercial")
    address = "/boards/domain/thoracic/?suite=small&max_parameters=1000000000&licence=commercial"
    assert address.replace("&", "&amp;") in html
    assert [name for name in names(get(client, address)) if name != "Chance"] == ["two", "three", "four", "text"]


@pytest.mark.parametrize("query", ["best=domain:knee", "best=overall", "size=many", "best=split:held_out"])
def test_a_question_that_cannot_be_asked_is_refused(client, suite, query) -> None:
    assert client.get(f"/?{query}").status_code == 400


def test_presets_lead_to_boards(client, suite) -> None:
    found = {preset.title: preset.href for preset in presets("small")}
    assert list(found) == ["Radiology", "Pathology", "Dermatology", "Ophthalmology", "3D", "Text"]
    html = get(client, "/")
    for title, href in found.items():
        assert href.replace("&", "&amp;") in html, title
        get(client, href)
    assert titles(get(client, found["Radiology"]))[2:6] == ["Mean of families", "Abdominal", "Musculoskeletal", "Neuro"]
    assert names(get(client, found["Text"]))[0] == "text"


def test_other_devices_are_marked_and_the_usual_one_is_named(client, suite) -> None:
    for run in suite.runs.all():
        is_other = run.revision.model.repo_id == "lab/two"
        run.environment = {"device": "cuda:1 (NVIDIA L4)" if is_other else "cuda:0 (NVIDIA H200)"}
        run.save()
        run.task_runs.filter(state="succeeded").update(
            inputs_total=300, seconds_embedding=2.0, peak_memory_bytes=3 * 2**30
        )
    first = suite.runs.get(revision__model__repo_id="lab/one").task_runs.order_by("pk")
    first.filter(task__name="b").update(carried_from=first.get(task__name="a"), inputs_total=9000)
    store_statistics(suite)
    html = get(client, "/?columns=speed&columns=memory&columns=device")
    rows = {row[0].partition("|")[0].strip(): row[1:] for row in tables(html)[0][1:] if len(row) > 1}
    assert rows["one"] == ["150", "3.0", "NVIDIA H200"], "what was carried over from another run does not count"
    assert rows["two"] == ["150 ‡", "3.0 ‡", "NVIDIA L4"]
    assert "on NVIDIA H200; ‡ marks another device" in html
