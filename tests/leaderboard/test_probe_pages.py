"""The boards and analyses of probing suites: what they show is what the statistics say."""

import csv
import dataclasses
import io
import json

import pytest

from evaluation.metrics import discrimination
from evaluation.suites.medtec import board_rows
from evaluation.suites.medtec.analyses import subgroups
from evaluation.suites.medtec.reported import reported_figures as library_reported
from leaderboard.models import Run, Suite
from leaderboard.models.vocabulary import Level
from leaderboard.selectors import probe_rows
from leaderboard.views import methods
from leaderboard.views.figures import signed
from leaderboard.views.probe_pages import ANALYSIS_TITLES
from leaderboard.views.probe_words import BOUNDARY, level_title
from tests.factories import make_cell, make_published_run, make_suite
from tests.leaderboard import pages
from tests.leaderboard.pages import blocked_by_policy, by_model, wrongly_nested
from tests.probe_documents import NAMES, SCORES, make_probing_suite, publish, store_board

ANALYSES = [f"/boards/medtec/analysis/{name}/" for name in ANALYSIS_TITLES]
BOARDS = [
    "/boards/medtec/", "/boards/medtec/modality/chest_radiograph/", "/boards/medtec/modality/fundus/",
    *(f"/boards/medtec/level/{level}/" for level in Level.values),
]  # fmt: skip


@pytest.fixture
def suite(db: None) -> Suite:
    return make_probing_suite()


@pytest.fixture
def runs(suite: Suite) -> dict[str, Run]:
    return {name: publish(suite, name) for name in NAMES}


@pytest.fixture
def document(suite: Suite, runs: dict[str, Run]) -> dict:
    return store_board(suite, runs)


def get(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def tables(html: str) -> list[list[list[str]]]:
    """The tables of a page; small print stands after a bar without spaces around it."""
    return [
        [["|".join(part.strip() for part in cell.split("|")) for cell in row] for row in table]
        for table in pages.tables(html)
    ]


@pytest.mark.parametrize("name", [name for name in dir(probe_rows) if name[0].isupper() and name != "AnchorSelection"])
def test_rows_have_the_fields_of_the_document(name: str) -> None:
    own, library = getattr(probe_rows, name), getattr(board_rows, name, None)
    if dataclasses.is_dataclass(own):
        assert [field.name for field in dataclasses.fields(own)] == [f.name for f in dataclasses.fields(library)]


def test_the_boundary_on_the_pages_is_the_librarys() -> None:
    assert BOUNDARY == discrimination.BOUNDARY


@pytest.mark.parametrize("address", [*BOARDS, *ANALYSES])
def test_pages_need_nothing_that_the_content_security_policy_blocks(client, document, address) -> None:
    html = get(client, address)
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    assert html.count("<h1") == 1
    links = {part.partition('"')[0] for part in html.split('href="/')[1:]}
    for link in sorted(links - {""}):
        if not link.startswith("static/"):
            assert client.get(f"/{link}".replace("&amp;", "&")).status_code < 400, link


def test_the_overview_says_where_each_model_stops(client, document) -> None:
    rows = by_model(tables(get(client, "/boards/medtec/"))[0])
    assert list(rows) == ["firm", "reader", "specialist"], "the model that tells most apart comes first"
    shown = {
        name: [row[key] for key in ("Rank", "Told apart", "Chest radiograph", "Fundus")] for name, row in rows.items()
    }
    assert shown == {
        "firm": ["1", "10 of 10", "none", "none"],
        "reader": ["2", "6 of 10", "L5 Negation", "L4 Finding"],
        "specialist": ["3", "2 of 10", "L1 Domain", "L1 Domain"],
    }


@pytest.mark.parametrize("modality", ["chest_radiograph", "fundus"])
def test_a_modality_shows_every_level_with_its_class_in_words(client, document, modality) -> None:
    rows = by_model(tables(get(client, f"/boards/medtec/modality/{modality}/"))[0])
    for name, scores in SCORES.items():
        shown = [rows[name.partition("/")[2]][level_title(level)] for level in Level.values]
        assert [text.partition("|")[0] for text in shown] == [signed(ds) for ds in scores[modality]]
    words = {name: row["L2 Modality"].partition("|")[2] for name, row in rows.items()}
    if modality == "chest_radiograph":
        assert words == {"firm": "discriminates", "reader": "discriminates", "specialist": "near chance"}
        assert rows["reader"]["L5 without a finding"].startswith("-0.222|")
        assert rows["firm"]["L5 without a finding"] == "–"
        # By hand, of the five levels: firm 5, reader 4 (L5 is below zero), specialist L3 and L4.
        assert [(row["Rank"], row["Told apart"]) for row in rows.values()] == [
            ("1", "5 of 5"), ("2", "4 of 5"), ("3", "2 of 5"),
        ]  # fmt: skip


def test_the_polygons_say_in_words_what_they_draw(client, document) -> None:
    html = get(client, "/boards/medtec/modality/chest_radiograph/")
    assert "L5 Negation: firm +0.100, reader -0.010, specialist -0.167" in html
    assert html.count("<polygon ") == 5


def test_a_level_shows_every_modality(client, document) -> None:
    html = get(client, "/boards/medtec/level/L4/")
    assert "Which finding does it show" in html
    rows = by_model(tables(html)[0])
    assert rows["specialist"]["Chest radiograph"].startswith("+0.210|")
    assert rows["specialist"]["Fundus"] == "-0.200|collapse, certain"
    # Reader and specialist tell one of the two apart at this level.
    assert {name: row["Rank"] for name, row in rows.items()} == {"firm": "1", "reader": "2", "specialist": "2"}


@pytest.mark.parametrize("address", BOARDS)
def test_downloads_hold_the_rows_of_the_page(client, document, address) -> None:
    shown = list(by_model(tables(get(client, address))[0]))
    lines = list(csv.DictReader(io.StringIO(client.get(f"{address}?format=csv").content.decode())))
    assert [line["model"].partition("/")[2] for line in lines] == shown
    answer = json.loads(client.get(f"{address}?format=json").content)
    assert [row["model"] for row in answer] == [line["model"] for line in lines]
    assert list(answer[0]) == list(lines[0])


def test_a_download_has_the_numbers_of_the_document(client, document) -> None:
    (line,) = [
        row
        for row in json.loads(client.get("/boards/medtec/modality/fundus/?format=json").content)
        if row["model"] == "lab/reader"
    ]
    (cell,) = [
        row for row in document["cells"] if row["task"] == "fundus.L4" and row["ds"] == SCORES["lab/reader"]["fundus"][3]
        and row["model"] == document["models"][0]
    ]  # fmt: skip
    found = [line[f"L4_{part}"] for part in ("ds", "lower_95", "upper_95", "class")]

    assert found[:3] == pytest.approx([cell["ds"], cell["lower"], cell["upper"]], abs=1e-6)
    assert found[3] == "collapse_certain"
    assert line["ceiling"] == "L4"


def test_phrasing_and_negation(client, document) -> None:
    html = get(client, "/boards/medtec/analysis/phrasing/")
    negation, styles = tables(html)
    rows = {row[0].partition("|")[0]: row for row in negation if len(row) > 1}
    assert rows["Definite"][1:] == ["3", "4", "6", "50.0", "-0.050"]
    assert rows["Hedged"][1:] == ["5", "5", "6", "83.3", "-0.101"]
    assert ["Weaker than the finding, not false"] in negation
    assert "Of 2 cells measured in several styles, 1 collapse as captions; 1 of these stay below 0.05" in html
    assert styles[2][3:] == ["-0.200", "-0.150", "0.017", "stays below"]
    second = client.get("/boards/medtec/analysis/phrasing/?format=json&table=styles")
    assert json.loads(second.content)[1]["sd_over_styles"] == 0.017


def test_groups_of_people_have_their_number_of_images(client, document) -> None:
    html = get(client, "/boards/medtec/analysis/subgroups/")
    gaps, groups = tables(html)
    assert gaps[1][4:] == ["female − male", "-0.030|-0.080 to +0.020", "17 and 23"]
    assert [row[4:] for row in groups[1:]] == [
        ["female", "-0.210|collapse, certain", "17", "17"],
        ["male", "-0.180|collapse, certain", "23", "22"],
    ]
    assert "sex: 3 of 40 (made_up)" in html


def test_groups_of_people_are_shown_for_one_modality_at_a_time(client, suite, runs) -> None:
    run = str(runs["lab/firm"].pk)
    groups = tuple(
        board_rows.Subgroup(run, modality, "made_up", "L1", "age", group, 0.2, 0.1, 0.3, "discriminates", 20, 20)
        for modality in ("chest_radiograph", "fundus")
        for group in ("under_40", "40_to_59")
    )
    store_board(suite, runs, subgroups=groups, subgroup_gaps=())
    address = "/boards/medtec/analysis/subgroups/"
    first, second = (tables(get(client, f"{address}{query}"))[0] for query in ("", "?of=fundus"))
    assert [row[1] for row in first[1:]] == ["Chest radiograph"] * 2
    assert [(row[1], row[4]) for row in second[1:]] == [("Fundus", "under 40"), ("Fundus", "40 to 59")]
    assert [row["data_set"] for row in json.loads(client.get(f"{address}?of=fundus&format=json").content)] == [
        "made_up"
    ] * 2
    assert client.get(f"{address}?of=dermoscopy").status_code == 404


def test_questions_sample_size_and_checks(client, document) -> None:
    rows = tables(get(client, "/boards/medtec/analysis/questions/"))[0]
    assert rows[1][2:] == ["54.0|±3.0", "yes", "31.0", "1100", "2", "91"]
    assert rows[3][3] == "no"
    samples = tables(get(client, "/boards/medtec/analysis/sample-size/"))[0]
    assert samples[1][3:] == ["100", "-0.201|collapse, certain", "0.080"]
    blind, texts = tables(get(client, "/boards/medtec/analysis/checks/"))
    assert blind[1][3:] == ["blank image", "-0.021", "-0.030", "+0.12"]
    assert texts[1][3:] == ["24", "4 / 6–8", "+0.2 (2)", "11", "44", "0"]


def test_protocols_stand_side_by_side_with_a_line_a_model(client, document) -> None:
    html = get(client, "/boards/medtec/analysis/protocols/")
    (table,) = tables(html)
    assert table[1] == ["Retrieval and Zero-shot classification", "+0.33", "-0.33 to +1.00", "3"]
    assert html.count("<polyline ") == 3
    assert "Retrieval: 1 reader, 2 specialist, 3 firm" in html
    assert "Retrieval and MedTEC finding level put 3 pairs of models in opposite order" in html


def test_a_models_page_shows_its_levels_styles_negation_groups_and_questions(client, document) -> None:
    html = get(client, "/models/lab/reader/")
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    found = tables(html)
    levels, negation, styles, groups, gaps, questions, samples, *_ = found
    assert [row[0].partition("|")[0] for row in levels[1:]] == ["Chest radiograph", "Fundus"]
    assert [text.partition("|")[0] for text in levels[1][2:7]] == [
        signed(ds) for ds in SCORES["lab/reader"]["chest_radiograph"]
    ]
    assert levels[2][1] == "L4 Finding"
    assert negation[1][1:3] == ["-0.010|collapse", "+0.011|near chance"]
    assert styles[1] == ["Chest radiograph|L4 Finding · made_up", "+0.120|discriminates", "+0.099|discriminates", "40"]
    assert groups[1][1:] == ["L4 Finding", "Sex", "female", "-0.210|collapse, certain", "17", "17"]
    assert gaps[1][4] == "-0.030|-0.080 to +0.020"
    assert questions[1][1] == "50.0|±3.0"
    assert samples[1][2] == "100"
    assert "L5: L5 Negation" not in html
    assert "L5 Negation: -0.010, collapse" in html, "the polygons are told in words"
    assert "tells descriptions apart in 6 of 10 cells" in html
    assert "--suite medtec-test --out result.json" in html


def test_a_models_tables_can_be_downloaded(client, document) -> None:
    address = "/models/lab/reader/?format=json"
    rows = json.loads(client.get(address).content)
    assert [row["modality"] for row in rows] == ["chest_radiograph", "fundus"]
    assert rows[0]["L4_ds"] == 0.12
    assert json.loads(client.get(f"{address}&table=groups").content)[0]["images"] == 17
    assert client.get(f"{address}&table=nosuch").status_code == 400


def test_a_model_that_the_statistics_do_not_cover_yet_says_so(client, suite, runs) -> None:
    assert "Scores are being computed." in get(client, "/models/lab/reader/")


def test_a_models_page_shows_retrieval_first_and_links_to_both(client, document, runs) -> None:
    retrieval = make_suite("medheb-real")
    make_published_run(revision=runs["lab/reader"].revision, suite=retrieval)
    html = get(client, "/models/lab/reader/")
    assert "Hit@1" in html
    assert "suite=medtec-test" in html
    assert "Level by level" in get(client, "/models/lab/reader/?suite=medtec-test")


def test_a_cells_page_ranks_the_models_and_shows_what_was_left_out(client, suite, document) -> None:
    suite.tasks.filter(name="fundus.L4").update(
        data_facts={"rows that were left out": {"several findings": 12}},
        example_probes=[
            {"concept": "glaucoma", "positives": ["a fundus with glaucoma"], "negatives": ["a <b>"], "source": "ours"}
        ],
    )
    html = get(client, "/tasks/medtec-test/fundus.L4/")
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    (table,) = tables(html)
    assert {row[1].partition("|")[0] for row in table[1:]} == {"firm", "reader", "specialist"}
    row = next(row for row in table if row[1].startswith("reader"))
    assert row[2:] == ["-0.200|collapse, certain", "25.0", "40.0", "-0.180", "-1.00", "40", "38"]
    assert "several findings 12" in html
    assert "<li>a fundus with glaucoma</li>" in html
    assert "<li>a &lt;b&gt;</li>" in html
    lines = list(csv.DictReader(io.StringIO(get(client, "/tasks/medtec-test/fundus.L4/?format=csv"))))
    assert {line["ds_size_matched"] for line in lines} == {"-0.18", "0.22"}


def test_a_question_tasks_page_shows_the_main_metric(client, suite, document, runs) -> None:
    for number, run in enumerate(runs.values()):
        task_run = run.task_runs.get(task__kind="closed_questions")
        task_run.scores.create(metric="balanced_accuracy", value=0.5 + number / 50, is_main=True)
    (table,) = tables(get(client, "/tasks/medtec-test/vqa_rad.closed_questions/"))
    assert table[0][1] == "Balanced accuracy"
    assert [row[1] for row in table[1:]] == ["54.0", "52.0", "50.0"]


def test_the_list_of_tasks_has_kinds_modalities_and_levels(client, suite, document, runs) -> None:
    runs["lab/firm"].task_runs.get(task__name="fundus.L4").scores.create(metric="ds", value=0.2, is_main=True)
    (table,) = tables(get(client, "/tasks/?modality=fundus&level=L4"))
    assert len(table) == 2
    assert table[1][2:5] == ["Probes of one level", "Fundus", "L4 Finding"]
    assert table[1][10] == "–", "a Discrimination Score is no hit rate"
    assert table[1][11] == "+0.200"


def test_a_run_shows_scores_with_their_sign(client, suite, runs) -> None:
    run = runs["lab/firm"]
    run.task_runs.get(task__name="fundus.L4").scores.create(
        metric="ds", value=-0.2, lower=-0.3, upper=-0.1, is_main=True
    )
    html = get(client, f"/runs/{run.pk}/")
    (table,) = [table for table in tables(html) if table[0][0] == "Task"]
    row = next(row for row in table if row[0].startswith("fundus L4"))
    assert row[0] == "fundus L4|Probes of one level, Fundus, Finding"
    assert row[1:3] == ["-0.200", "-0.300–-0.100"]
    assert "Hit@1" not in html


def test_the_methods_page_explains_probing_and_quotes_the_paper_apart(client, db) -> None:
    html = get(client, "/methods/")
    assert methods.AGE_CUTS == subgroups.AGE_CUTS
    assert "p / (p + n)" in html
    (table,) = [table for table in tables(html) if any("BioViL on OpenI" in row for row in table)]
    assert len(table) - 1 == len(library_reported().figures)
    assert ["hedged negation", "model and modality cells that certainly collapse, of all", "38 / 46 cells"] in table
    assert "reported by the authors, not measured here" in html


def test_statistics_that_are_old_or_missing_say_so(client, suite, runs) -> None:
    for address in (*BOARDS, *ANALYSES):
        assert "Scores are being computed." in get(client, address)
    store_board(suite, {name: run for name, run in runs.items() if name != "lab/firm"})
    html = get(client, "/boards/medtec/")
    assert "1 result is being added." in html
    assert "Being computed anew." in get(client, ANALYSES[0])
    assert "firm" not in by_model(tables(html)[0])


def test_pages_say_what_to_do_when_there_is_nothing(client, db) -> None:
    assert "No probing suite is installed yet" in get(client, "/boards/medtec/")
    make_probing_suite()
    assert "Nothing is published yet" in get(client, "/boards/medtec/")
    assert "Nothing is published yet" in get(client, "/boards/medtec/modality/fundus/")


@pytest.mark.parametrize(
    "address",
    [
        "level/L6/",
        "modality/knee/",
        "modality/dermoscopy/",
        "analysis/nothing/",
        "analysis/sample-size/?of=x",
        "?suite=nosuch",
    ],
)
def test_unknown_addresses_are_not_found(client, document, address) -> None:
    assert client.get(f"/boards/medtec/{address}").status_code == 404


@pytest.mark.parametrize("query", ["format=xls", "sort=nosuch", "columns=nosuch", "page=0"])
def test_unknown_requests_are_refused(client, document, query) -> None:
    assert client.get(f"/boards/medtec/?{query}").status_code == 400


def test_a_synthetic_suite_says_so_on_every_page(client, db) -> None:
    suite = make_probing_suite(synthetic=True)
    store_board(suite, {name: publish(suite, name) for name in NAMES})
    for address in (*BOARDS, *ANALYSES):
        assert "Synthetic data." in get(client, address)


def test_pages_cost_few_queries(client, document, django_assert_max_num_queries, django_assert_num_queries) -> None:
    for address in BOARDS:
        with django_assert_max_num_queries(5):
            get(client, address)
        with django_assert_num_queries(1):
            get(client, address)
    for address in ANALYSES:
        get(client, address)
        with django_assert_max_num_queries(9):
            client.get(address)


def test_the_page_of_a_modality_leads_to_other_suites_that_lack_it(client, document) -> None:
    make_cell(Suite.objects.create(slug="other", version="1", title="Other", kind="probing", synthetic=False))
    html = get(client, "/boards/medtec/modality/fundus/?suite=medtec-test")
    assert 'href="/boards/medtec/?suite=other"' in html
    assert 'href="/boards/medtec/level/L4/?suite=other"' in get(client, "/boards/medtec/level/L4/?suite=medtec-test")


def test_probing_suites_stay_off_the_retrieval_boards(client, document) -> None:
    assert "No suite is installed yet" in get(client, "/")
    assert client.get("/?suite=medtec-test").status_code == 404
