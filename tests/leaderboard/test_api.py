"""What the API answers: the same numbers as the pages, in parts, with ETags."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import ApiToken, EmbeddingModel, Run, Suite, User
from tests.board_documents import store_statistics
from tests.factories import make_revision, make_run, make_scored_run, make_suite
from tests.leaderboard.api_requests import API, get, with_token
from tests.probe_documents import board_of, make_probing_suite, publish, store_board

pytestmark = pytest.mark.django_db

PROBED = "lab/reader"
HITS = {"task0": 0.5, "task1": 0.25, "task2": 0.75, "task3": 1.0}
Counted = Callable[[int], AbstractContextManager[object]]


@pytest.fixture
def suite(db: None) -> Suite:
    return make_suite("medheb-mini")


@pytest.fixture
def run(suite: Suite) -> Run:
    return make_scored_run(suite=suite, hits=HITS, revision=make_revision("lab/Known"))


@pytest.fixture
def partial(suite: Suite) -> Run:
    """A model without one of the four tasks, with more parameters than the other."""
    revision = make_revision("other/large", parameters=8_000_000_000, licence="apache-2.0")
    hits = {name: 0.9 for name in HITS if name != "task3"}
    return make_scored_run(suite=suite, hits=hits, failures={"task3": "model_invalid"}, revision=revision)


@pytest.mark.usefixtures("run", "partial")
def test_models_are_listed_by_name_and_filtered(client: Client) -> None:
    found = get(client, "/models")
    assert [one["repo_id"] for one in found["items"]] == ["lab/Known", "other/large"]
    assert found["items"][1] == {
        "repo_id": "other/large", "family": "clip", "architecture": "CLIPModel", "licence": "apache-2.0",
        "parameters": 8_000_000_000, "dimension": 512, "gated": False, "n_published_runs": 1,
    }  # fmt: skip
    assert [one["repo_id"] for one in get(client, "/models", q="KNOWN")["items"]] == ["lab/Known"]
    assert [one["repo_id"] for one in get(client, "/models", licence="apache-2.0")["items"]] == ["other/large"]
    assert [one["repo_id"] for one in get(client, "/models", max_parameters=10**9)["items"]] == ["lab/Known"]
    assert get(client, "/models", family="siglip")["items"] == []


def test_lists_come_in_parts_that_make_up_the_whole(client: Client, suite: Suite) -> None:
    for number in range(5):
        make_scored_run(suite=suite, hits=HITS, revision=make_revision(f"lab/model-{number}"))
    parts = [get(client, "/models", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [len(part["items"]) for part in parts] == [2, 2, 1, 0]
    assert {part["count"] for part in parts} == {5}
    assert [one["repo_id"] for part in parts for one in part["items"]] == [f"lab/model-{n}" for n in range(5)]


def test_a_model_is_found_in_any_spelling_of_its_case_with_its_revisions(client: Client, run: Run) -> None:
    found = get(client, "/models/LAB/known")
    assert found["repo_id"] == "lab/Known"
    assert [one["commit"] for one in found["revisions"]] == [run.revision.commit]
    assert get(client, "/models/lab/other", status=404)["code"] == "not_found"


def test_runs_are_listed_and_shown_with_their_tasks(client: Client, run: Run, partial: Run) -> None:
    assert [one["id"] for one in get(client, "/runs")["items"]] == [str(partial.pk), str(run.pk)]
    assert [one["id"] for one in get(client, "/runs", model="LAB/known", suite="medheb-mini")["items"]] == [str(run.pk)]
    assert get(client, "/runs", state="failed")["count"] == 0
    found = get(client, f"/runs/{partial.pk}")
    assert (found["model"], found["state"], found["is_published"]) == ("other/large", "succeeded", True)
    assert [(one["name"], one["state"], one["value"], one["error_code"]) for one in found["tasks"]] == [
        ("task0", "succeeded", 0.9, ""), ("task1", "succeeded", 0.9, ""), ("task2", "succeeded", 0.9, ""),
        ("task3", "failed", None, "model_invalid"),
    ]  # fmt: skip


@pytest.mark.usefixtures("partial")
def test_scores_have_their_interval(client: Client, run: Run) -> None:
    (score,) = [one for one in get(client, "/scores/model/LAB/known")["items"] if one["task"] == "task1"]
    assert score == {
        "run": str(run.pk), "model": "lab/Known", "commit": run.revision.commit, "adapter_repo_id": "",
        "suite": "medheb-mini", "suite_version": "1", "task": "task1", "metric": "hit@1", "is_main": True,
        "value": 0.25, "lower": 0.23, "upper": 0.27, "chance": 0.25, "n_queries": 4,
    }  # fmt: skip


def test_scores_are_those_of_a_run_a_model_or_a_task(client: Client, run: Run, partial: Run) -> None:
    assert get(client, f"/scores/run/{partial.pk}")["count"] == 3
    assert get(client, "/scores/model/lab/known", suite="medheb-mini", is_main=True)["count"] == 4
    assert get(client, "/scores/model/lab/known", suite="another")["count"] == 0
    assert get(client, "/scores/model/lab/known", metric="ndcg@10")["count"] == 0
    assert get(client, "/scores/model/lab/known", is_main=False)["count"] == 0
    on_task = get(client, "/scores/task/medheb-mini/task1")["items"]
    assert sorted((one["model"], one["value"]) for one in on_task) == [("lab/Known", 0.25), ("other/large", 0.9)]
    for path in ("/scores/model/lab/none", "/scores/task/medheb-mini/none", f"/scores/run/{run.suite.pk:032x}"):
        assert get(client, path, status=404)["code"] == "not_found"


@pytest.mark.usefixtures("run", "partial")
def test_suites_and_tasks(client: Client) -> None:
    (suite,) = get(client, "/suites")
    assert (suite["slug"], suite["kind"], suite["n_tasks"], suite["n_published"]) == ("medheb-mini", "retrieval", 4, 2)
    found = get(client, "/tasks", family="image_to_label")
    assert [(one["name"], one["suite"], one["n_models"], one["best"]) for one in found["items"]] == [
        ("task0", "medheb-mini", 2, 0.9)
    ]
    assert get(client, "/tasks", suite="medheb-mini", is_installed=True)["count"] == 4
    assert get(client, "/tasks/medheb-mini/task0")["relevance_rule"] == "the label of the query image"
    assert get(client, "/tasks/medheb-mini/task9", status=404)["code"] == "not_found"


@pytest.mark.usefixtures("run", "partial")
def test_a_board_says_what_its_statistics_lack(client: Client, suite: Suite) -> None:
    board = get(client, "/boards/medheb-mini/overall")
    assert (board["items"], board["built_at"], board["n_waiting"]) == ([], None, 2)
    store_statistics(suite)
    late = make_scored_run(suite=suite, hits=HITS, revision=make_revision("lab/late"))
    board = get(client, "/boards/medheb-mini/overall")
    assert (board["count"], board["is_fresh"], board["n_waiting"]) == (2, False, 1)
    assert str(late.pk) not in {row["model"]["run"] for row in board["items"]}


@pytest.mark.usefixtures("run", "partial")
def test_the_overall_board_ranks_complete_rows_and_says_what_others_lack(client: Client, suite: Suite) -> None:
    store_statistics(suite)
    board = get(client, "/boards/medheb-mini/overall")
    assert [(row["model"]["repo_id"], row["rank"]) for row in board["items"]] == [
        ("lab/Known", 1),
        ("other/large", None),
    ]
    first, second = board["items"]
    assert first["mean"]["value"] == pytest.approx((0.5 + 0.25 + 0.75 + 1.0) / 4)
    assert first["families"]["image_to_image"]["value"] == 0.25
    assert second["missing"] == [{"code": "model_invalid", "n_tasks": 1}]
    assert (board["is_fresh"], board["n_waiting"]) == (True, 0)
    filtered = get(client, "/boards/medheb-mini/overall", max_parameters=10**9)
    assert (filtered["count"], len(filtered["items"])) == (1, 1)


@pytest.mark.usefixtures("run", "partial")
def test_the_board_of_a_group_has_its_tasks(client: Client, suite: Suite) -> None:
    store_statistics(suite)
    board = get(client, "/boards/medheb-mini/family/image_to_image")
    assert [(row["model"]["repo_id"], row["tasks"]["task1"]["value"]) for row in board["items"]] == [
        ("other/large", 0.9), ("lab/Known", 0.25),
    ]  # fmt: skip
    for path in ("/boards/medheb-mini/family/thoracic", "/boards/medheb-mini/colour/red", "/boards/none/overall"):
        assert get(client, path, status=404)["code"] == "not_found"


@pytest.mark.usefixtures("run")
def test_every_board_that_is_listed_is_there(client: Client) -> None:
    boards = get(client, "/boards")
    assert len(boards) == 1 + 8 + 8 + 2 + 3 + 4 + 3 + 6
    for board in boards:
        assert get(client, board["path"])["key"] == board["key"]


@pytest.fixture
def probe_run(db: None) -> Run:
    suite = make_probing_suite()
    run = publish(suite, PROBED)
    store_board(suite, {PROBED: run})
    return run


def test_cells_of_a_probing_suite_are_those_of_its_document(client: Client, probe_run: Run) -> None:
    stored = board_of({PROBED: str(probe_run.pk)}).cells
    found = get(client, "/boards/medtec-test/cells", limit=100)
    assert found["count"] == len(stored) > 0
    assert [(one["task"], one["ds"], one["rank"]) for one in found["items"]] == [
        (cell.task, cell.ds, cell.rank) for cell in stored[:100]
    ]
    assert {one["model"]["repo_id"] for one in found["items"]} == {PROBED}
    level = get(client, "/boards/medtec-test/cells", level="L4", style="template")
    assert level["count"] == sum(cell.level == "L4" and cell.style == "template" for cell in stored)
    assert {(one["level"], one["style"]) for one in level["items"]} == {("L4", "template")}
    assert get(client, "/boards/medtec-test/overall", status=404)["code"] == "not_found"
    Run.objects.filter(pk=probe_run.pk).update(is_published=False)
    assert get(client, "/boards/medtec-test/cells")["count"] == 0


def test_boards_of_a_probing_suite_are_listed_read_in_parts_and_filtered(client: Client, probe_run: Run) -> None:
    addresses = get(client, "/boards")
    titles = {board["path"]: board["title"] for board in addresses}
    assert {"/boards/medtec-test/overview", "/boards/medtec-test/modality/fundus"} < set(titles)
    assert titles["/boards/medtec-test/modality/fundus"] == "Fundus"
    assert len(addresses) == 1 + 2 + 5 + 1, "the overview, two modalities, five levels, the cells"
    for board in addresses:
        answer = get(client, board["path"])
        assert answer["count"] > 0
        assert answer.get("key", "") == board["key"]
    assert get(client, "/boards/medtec-test/level/L4", q="reader", limit=1)["count"] == 1
    assert get(client, "/boards/medtec-test/level/L4", q="another")["items"] == []
    assert get(client, "/boards/medtec-test/level/L4", offset=1)["items"] == []
    for path in ("level/L9", "modality/foot", "modality/dermoscopy", "family/image_to_label"):
        assert get(client, f"/boards/medtec-test/{path}", status=404)["code"] == "not_found"


def test_a_probing_suite_without_statistics_has_boards_without_rows(client: Client) -> None:
    publish(make_probing_suite(), PROBED)
    paths = [board["path"] for board in get(client, "/boards")]
    assert paths == [
        "/boards/medtec-test/overview",
        *(f"/boards/medtec-test/level/L{level}" for level in range(1, 6)),
        "/boards/medtec-test/cells",
    ]
    for path in (*paths[:-1], "/boards/medtec-test/modality/fundus"):
        answer = get(client, path)
        assert (answer["items"], answer["built_at"], answer["is_fresh"], answer["n_waiting"]) == ([], None, False, 1)
    assert get(client, "/boards/medtec-test/modality/foot", status=404)["code"] == "not_found"


def test_the_queue_is_in_the_order_in_which_it_is_taken(client: Client, suite: Suite) -> None:
    first = make_run(suite=suite)
    second = make_run(suite=suite)
    found = get(client, "/queue")
    assert [(one["id"], one["place"]) for one in found["waiting"]] == [(str(first.pk), 1), (str(second.pk), 2)]
    assert (found["n_waiting"], found["paused_because"], found["n_workers_up"]) == (2, None, 0)


def test_an_answer_that_has_not_changed_is_not_sent_again(client: Client, run: Run) -> None:
    path = f"{API}/boards/medheb-mini/overall"
    first = client.get(path)
    assert first.status_code == 200
    assert {"Authorization", "Cookie"} <= {name.strip() for name in first["Vary"].split(",")}
    assert first["Cache-Control"] == "private, no-cache"
    again = client.get(path, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    store_statistics(run.suite)
    changed = client.get(path, headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


@pytest.mark.parametrize(
    ("path", "parameters", "code", "field"),
    [
        ("/models", {"familly": "clip"}, "unknown_parameter", "familly"),
        ("/queue", {"limit": "5"}, "unknown_parameter", "limit"),
        ("/suites", {"page": "2"}, "unknown_parameter", "page"),
        ("/models", {"limit": "0"}, "invalid_request", "limit"),
        ("/models", {"limit": "101"}, "invalid_request", "limit"),
        ("/models", {"limit": "many"}, "invalid_request", "limit"),
        ("/models", {"offset": "-1"}, "invalid_request", "offset"),
        ("/models", {"offset": "99999999999999999999"}, "invalid_request", "offset"),
        ("/models", {"q": "a\x00b"}, "invalid_request", "q"),
        ("/models", {"q": "a" * 201}, "invalid_request", "q"),
        ("/runs", {"state": "finished"}, "invalid_request", "state"),
        ("/models", {"max_parameters": "0"}, "invalid_request", "max_parameters"),
        ("/tasks", {"level": "L6"}, "invalid_request", "level"),
        ("/queue", {"page": "0"}, "invalid_request", "page"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name(
    path: str, parameters: dict[str, str], code: str, field: str, client: Client
) -> None:
    refused = get(client, path, status=422, **parameters)
    assert (refused["code"], refused["field"]) == (code, field)
    assert [problem["field"] for problem in refused["problems"]] == [field]
    assert refused["message"]


def test_everything_that_is_wrong_is_said_at_once(client: Client) -> None:
    refused = get(client, "/runs", status=422, limit=0, state="x")
    assert {problem["field"] for problem in refused["problems"]} == {"limit", "state"}
    assert refused["field"] is None


def test_addresses_and_methods_that_do_not_exist(client: Client, run: Run) -> None:
    for path in ("/", "/nothing", "/runs/not-a-uuid", f"/runs/{run.pk}/nothing", "/models/a%00b/c"):
        response = client.get(API + path)
        assert response.status_code in {404, 422}, path
        assert response.json()["code"] in {"not_found", "invalid_request"}
    response = client.post(f"{API}/models")
    assert (response.status_code, response["Allow"]) == (405, "GET")
    assert response.json()["code"] == "method_not_allowed"


def test_a_withdrawn_model_vanishes(client: Client, run: Run) -> None:
    EmbeddingModel.objects.filter(pk=run.revision.model_id).update(owner_opted_out=True)
    assert get(client, "/models")["items"] == get(client, "/runs")["items"] == []
    assert get(client, "/boards/medheb-mini/overall")["items"] == []
    assert get(client, "/scores/task/medheb-mini/task0")["items"] == []
    for path in ("/models/lab/known", f"/runs/{run.pk}", f"/scores/run/{run.pk}", "/scores/model/lab/known"):
        assert get(client, path, status=404)["code"] == "not_found"


@pytest.mark.parametrize(
    ("path", "queries"),
    [
        ("/models", 2), ("/models/lab/known", 2), ("/runs", 2), ("/runs/{run}", 3), ("/scores/run/{run}", 3), ("/scores/model/lab/known", 3), ("/scores/task/medheb-mini/task0", 3), ("/suites", 2),
        ("/tasks", 3), ("/tasks/medheb-mini/task0", 1), ("/boards", 2), ("/boards/medheb-mini/overall", 7),
        ("/boards/medheb-mini/family/image_to_label", 7), ("/queue", 10),
    ],
)  # fmt: skip
def test_queries_do_not_grow_with_rows(
    path: str, queries: int, client: Client, run: Run, django_assert_max_num_queries: Counted
) -> None:
    suite = run.suite
    for number in range(3):
        make_scored_run(suite=suite, hits=HITS, revision=make_revision(f"lab/more-{number}"))
        make_run(suite=suite)
    with django_assert_max_num_queries(queries):
        get(client, path.format(run=run.pk))


def test_a_token_costs_one_query_and_one_more_a_day(
    submitter: User, run: Run, django_assert_num_queries: Counted
) -> None:
    program = with_token(submitter)
    get(program, "/models")
    with django_assert_num_queries(3):
        get(program, "/models")
    ApiToken.objects.update(last_used_on=timezone.now().date() - timedelta(days=1))
    with django_assert_num_queries(4):
        get(program, "/models")
