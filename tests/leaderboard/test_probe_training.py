"""Training data on the boards of probing suites: marks, counts and ranks without it, filters, files, and the API."""

import json
from typing import Any

import pytest
from django.test import Client

from leaderboard.models import BoardSnapshot, EmbeddingModel, Run, Suite
from leaderboard.models.vocabulary import ProbeBoardScope
from leaderboard.selectors.board_tables import stored_probe_tables
from leaderboard.selectors.catalogue import live_suites
from leaderboard.selectors.due_snapshots import suites_to_build, suites_to_mark
from leaderboard.selectors.probe_board_rows import ProbeBoardRow
from leaderboard.views.training_cells import SPOKEN
from tests.factories import declare_training_data, mark_training_data
from tests.leaderboard.api_requests import get
from tests.leaderboard.pages import blocked_by_policy, by_model, tables, wrongly_nested
from tests.probe_documents import NAMES, board_of, make_probing_suite, publish, store_board
from workers.snapshots import build_snapshot

pytestmark = pytest.mark.django_db

# By hand, of SCORES: cells told apart on chest films and on the retina, five levels each.
#   firm 5 and 5, reader 4 and 2, specialist 2 and 0.
# firm and specialist were trained on the retina's images, reader on the films: what is left is
#   firm 5 of 5, reader 2 of 5, specialist 2 of 5.
FILMS, RETINA = "Chexpert_plus", "APTOS-2019"
DAGGER = f"†{SPOKEN}"


def mark(name: str, dataset: str) -> None:
    model = EmbeddingModel.objects.get(repo_id=f"lab/{name}")
    mark_training_data(model.pk, dataset)


@pytest.fixture
def suite() -> Suite:
    suite = make_probing_suite()
    suite.tasks.filter(modality="chest_radiograph").update(datasets=["chexpert", FILMS])
    suite.tasks.filter(modality="fundus").update(datasets=["aptos2019", RETINA])
    return suite


@pytest.fixture
def runs(suite: Suite) -> dict[str, Run]:
    runs = {name: publish(suite, name) for name in NAMES}
    declare_training_data(runs["lab/reader"], FILMS)
    for name in ("firm", "specialist"):
        mark(name, RETINA)
    return runs


@pytest.fixture
def snapshot(suite: Suite, runs: dict[str, Run]) -> BoardSnapshot:
    store_board(suite, runs)
    return BoardSnapshot.objects.get(is_current=True)


def board(scope: ProbeBoardScope = ProbeBoardScope.OVERVIEW, key: str = "") -> dict[str, ProbeBoardRow]:
    table = stored_probe_tables(live_suites()[0], [(scope, key)]).tables[scope, key]
    return {row.model.name: row for row in table.rows}


def shown(client: Client, address: str) -> dict[str, dict[str, str]]:
    response = client.get(address)
    assert response.status_code == 200, address
    html = response.content.decode()
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    return by_model(tables(html)[0])


def places(rows: dict[str, ProbeBoardRow]) -> dict[str, tuple[int | None, int | None]]:
    return {name: (row.rank, row.clean_rank) for name, row in rows.items()}


def test_boards_hold_marks_and_what_is_left_without_training_data(snapshot: BoardSnapshot) -> None:
    overview = board()
    assert places(overview) == {"firm": (1, 1), "reader": (2, 2), "specialist": (3, 2)}
    counts = {name: (row.clean.n_told_apart, row.clean.n_measured) for name, row in overview.items()}
    assert counts == {"firm": (5, 5), "reader": (2, 5), "specialist": (2, 5)}
    assert {name: row.marked for name, row in overview.items()} == {
        "firm": ("fundus",), "reader": ("chest_radiograph",), "specialist": ("fundus",),
    }  # fmt: skip
    assert overview["firm"].contaminated == tuple(f"fundus.L{level}" for level in range(1, 6))
    assert {name: row.training_data for name, row in overview.items()} == {
        "firm": "unknown", "reader": "listed", "specialist": "unknown",
    }  # fmt: skip


def test_a_modality_leaves_out_whom_it_was_training_data_of_a_level_only_the_cell(snapshot: BoardSnapshot) -> None:
    assert places(board(ProbeBoardScope.MODALITY, "fundus")) == {
        "firm": (1, None), "reader": (2, 1), "specialist": (3, None),
    }  # fmt: skip
    # At L1: firm tells apart films (its cell left), reader the retina, specialist not the films.
    assert places(board(ProbeBoardScope.LEVEL, "L1")) == {"firm": (1, 1), "reader": (1, 1), "specialist": (3, 3)}


def test_a_model_without_every_cell_is_listed_below_with_its_coverage(
    client: Client, suite: Suite, runs: dict[str, Run]
) -> None:
    specialist = str(runs["lab/specialist"].pk)
    cells = board_of({name: str(run.pk) for name, run in runs.items()}).cells
    store_board(
        suite, runs, cells=tuple(cell for cell in cells if (cell.model, cell.modality) != (specialist, "fundus"))
    )
    assert places(board())["specialist"] == (None, None)
    row = shown(client, "/boards/medtec/")["specialist"]
    assert (row["Rank"], row["Told apart"]) == ("–", "2 of 5")
    assert "5 of 10 cells measured" in row["Model"]
    html = client.get("/boards/medtec/").content.decode()
    assert "Listed, not ranked: cells are missing" in html
    films = places(board(ProbeBoardScope.MODALITY, "chest_radiograph"))
    assert films["specialist"] == (3, 2), "it lacks none there, and reader was trained on them"


def test_figures_that_rest_on_training_data_have_a_dagger(client: Client, snapshot: BoardSnapshot) -> None:
    rows = shown(client, "/boards/medtec/")
    assert rows["firm"]["Told apart"] == f"10 of 10 {DAGGER}"
    assert rows["firm"]["Fundus"] == f"none {DAGGER}"
    assert rows["firm"]["Chest radiograph"] == "none"
    assert rows["reader"]["Chest radiograph"] == f"L5 Negation {DAGGER}"
    assert (rows["firm"]["Trained on"], rows["reader"]["Trained on"]) == ("5 tasks", "5 tasks")
    rows = shown(client, "/boards/medtec/modality/fundus/")
    assert DAGGER in rows["firm"]["L4 Finding"]
    assert DAGGER in rows["firm"]["Stops at"]
    assert DAGGER not in rows["reader"]["L4 Finding"]
    rows = shown(client, "/boards/medtec/level/L4/")
    assert DAGGER in rows["firm"]["Fundus"]
    assert DAGGER not in rows["firm"]["Chest radiograph"]
    assert "who says so" in client.get("/boards/medtec/level/L4/").content.decode()


def test_without_training_data_ranks_and_counts_are_what_is_left(client: Client, snapshot: BoardSnapshot) -> None:
    rows = shown(client, "/boards/medtec/?ranks=clean")
    assert {name: (row["Clean rank"], row["Told apart"]) for name, row in rows.items()} == {
        "firm": ("1", "5 of 5"), "reader": ("2", "2 of 5"), "specialist": ("2", "2 of 5"),
    }  # fmt: skip
    rows = shown(client, "/boards/medtec/modality/fundus/?ranks=clean")
    assert list(rows) == ["reader", "firm", "specialist"]
    assert [row["Clean rank"] for row in rows.values()] == ["1", "–", "–"]
    html = client.get("/boards/medtec/modality/fundus/?ranks=clean").content.decode()
    assert "no cell is left that the model was not trained on" in html
    assert "Ranked without training data." in html
    assert client.get("/boards/medtec/?ranks=dirty").status_code == 400


def test_files_have_the_clean_columns(client: Client, snapshot: BoardSnapshot) -> None:
    lines = json.loads(client.get("/boards/medtec/?ranks=clean&format=json").content)
    firm = next(line for line in lines if line["model"] == "lab/firm")
    assert (firm["clean_rank"], firm["clean_cells_told_apart"], firm["clean_cells_measured"]) == (1, 5, 5)
    assert (firm["trained_on_tasks"], firm["training_data_declared"]) == (5, "unknown")
    plain = json.loads(client.get("/boards/medtec/?format=json").content)
    assert [(line["rank"], line["cells_told_apart"]) for line in plain] == [(1, 10), (2, 6), (3, 2)]


@pytest.mark.parametrize(("declared", "expected"), [("listed", ["reader"]), ("unknown", ["firm", "specialist"])])
def test_boards_are_filtered_by_what_was_declared(
    client: Client, snapshot: BoardSnapshot, declared: str, expected: list[str]
) -> None:
    for address in ("/boards/medtec/", "/boards/medtec/modality/fundus/", "/boards/medtec/level/L4/"):
        assert sorted(shown(client, f"{address}?declared={declared}")) == expected


def test_the_api_says_of_each_cell_whether_it_is_training_data(client: Client, snapshot: BoardSnapshot) -> None:
    items = client.get("/api/v1/boards/medtec-test/cells?limit=100").json()["items"]
    found = {(item["model"]["repo_id"], item["modality"]) for item in items if item["is_contaminated"]}
    assert found == {("lab/firm", "fundus"), ("lab/specialist", "fundus"), ("lab/reader", "chest_radiograph")}


def test_the_api_ranks_as_the_boards_do(client: Client, snapshot: BoardSnapshot) -> None:
    def board_rows(path: str) -> dict[str, dict[str, Any]]:
        answer = get(client, f"/boards/medtec-test/{path}")
        assert (answer["count"], answer["is_fresh"], answer["n_waiting"]) == (3, True, 0)
        assert f"{answer['scope']}/{answer['key']}".rstrip("/") == path
        return {item["model"]["repo_id"]: item for item in answer["items"]}

    overview = board_rows("overview")
    assert {name: (row["rank"], row["count"]["n_told_apart"], row["n_expected"]) for name, row in overview.items()} == {
        "lab/firm": (1, 10, 10), "lab/reader": (2, 6, 10), "lab/specialist": (3, 2, 10),
    }  # fmt: skip
    clean = {name: (row["clean_rank"], row["clean_count"]) for name, row in overview.items()}
    assert clean == {
        "lab/firm": (1, {"n_told_apart": 5, "n_measured": 5}),
        "lab/reader": (2, {"n_told_apart": 2, "n_measured": 5}),
        "lab/specialist": (2, {"n_told_apart": 2, "n_measured": 5}),
    }
    assert overview["lab/firm"]["ceilings"]["fundus"] is None
    assert overview["lab/reader"]["ceilings"]["chest_radiograph"] == "L5"
    assert overview["lab/firm"]["cells"] == {}
    retina = board_rows("modality/fundus")
    assert {name: (row["rank"], row["clean_rank"]) for name, row in retina.items()} == {
        "lab/firm": (1, None), "lab/reader": (2, 1), "lab/specialist": (3, None),
    }  # fmt: skip
    assert retina["lab/firm"]["contaminated_tasks"] == [f"fundus.L{level}" for level in range(1, 6)]
    assert retina["lab/firm"]["cells"]["L4"]["task"] == "fundus.L4"
    level = board_rows("level/L1")
    assert {name: row["rank"] for name, row in level.items()} == {
        "lab/firm": 1, "lab/reader": 1, "lab/specialist": 3,
    }  # fmt: skip
    assert set(level["lab/firm"]["cells"]) == {"chest_radiograph", "fundus"}


def test_a_finding_makes_the_boards_anew_from_the_same_statistics(suite: Suite, snapshot: BoardSnapshot) -> None:
    assert (suites_to_build(), suites_to_mark()) == ([], [])
    mark("firm", FILMS)
    assert (suites_to_build(), suites_to_mark()) == ([], [suite.pk])
    assert build_snapshot(suite.pk)
    renewed = BoardSnapshot.objects.get(is_current=True)
    assert (renewed.built_at, renewed.content) == (snapshot.built_at, snapshot.content)
    assert places(board()) == {"firm": (1, None), "reader": (2, 1), "specialist": (3, 1)}
    assert suites_to_mark() == []


def test_boards_cost_no_more_queries_with_training_data(
    client: Client, snapshot: BoardSnapshot, django_assert_max_num_queries
) -> None:
    for address in ("/boards/medtec/?ranks=clean", "/boards/medtec/modality/fundus/", "/boards/medtec/level/L4/"):
        with django_assert_max_num_queries(5):
            client.get(address)
