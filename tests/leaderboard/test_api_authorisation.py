"""Who may ask the API for what: every operation, for every kind of caller."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from django.db import transaction
from django.test import Client

from leaderboard.api.urls import API as NINJA
from leaderboard.models import ChildLog, Run, Submission, User
from leaderboard.models.vocabulary import ApiScope, RunState
from tests.factories import make_published_run, make_revision, make_run, make_suite, make_user
from tests.leaderboard.api_requests import API, get, with_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]

CALLERS = ("anonymous", "stranger", "owner", "reader", "submitting", "staff")
BODY = {"repo_id": "lab/good", "suites": ["medheb-mini"]}


@dataclass(frozen=True)
class Rule:
    """What an operation answers to anybody, to a stranger's and the owner's session, to the owner's tokens that may
    only read or only submit, and to staff.
    """

    operation: str
    path: str
    anonymous: int
    stranger: int
    owner: int
    reader: int
    submitting: int
    staff: int
    method: str = "get"


PUBLIC = (200, 200, 200, 200, 403, 200)
OF_A_PERSON = (401, 200, 200, 200, 403, 200)
OWN = (404, 404, 200, 200, 403, 200)
RULES = [
    Rule("list_models", "/models", *PUBLIC),
    Rule("get_model", "/models/lab/public", *PUBLIC),
    Rule("get_model", "/models/lab/private", *OWN),
    Rule("list_runs", "/runs", *PUBLIC),
    Rule("get_run", "/runs/{public}", *PUBLIC),
    Rule("get_run", "/runs/{private}", *OWN),
    Rule("get_run", "/runs/{rerun}", 404, 404, 404, 404, 403, 200),
    Rule("get_run_log", "/runs/{public}/log", 401, 403, 403, 403, 403, 200),
    Rule("get_run_log", "/runs/{private}/log", 401, 404, 200, 200, 403, 200),
    Rule("list_scores_of_run", "/scores/run/{public}", *PUBLIC),
    Rule("list_scores_of_run", "/scores/run/{private}", *OWN),
    Rule("list_scores_of_model", "/scores/model/lab/public", *PUBLIC),
    Rule("list_scores_of_model", "/scores/model/lab/private", *OWN),
    Rule("list_scores_on_task", "/scores/task/medheb-mini/task0", *PUBLIC),
    Rule("list_suites", "/suites", *PUBLIC),
    Rule("list_tasks", "/tasks", *PUBLIC),
    Rule("get_task", "/tasks/medheb-mini/task0", *PUBLIC),
    Rule("list_boards", "/boards", *PUBLIC),
    Rule("get_overall_board", "/boards/medheb-mini/overall", *PUBLIC),
    Rule("get_group_board", "/boards/medheb-mini/family/image_to_label", *PUBLIC),
    Rule("get_overview_board", "/boards/medtec-mini/overview", 404, 404, 404, 404, 403, 404),
    Rule("get_modality_board", "/boards/medtec-mini/modality/fundus", 404, 404, 404, 404, 403, 404),
    Rule("get_level_board", "/boards/medtec-mini/level/L1", 404, 404, 404, 404, 403, 404),
    Rule("get_cells", "/boards/medtec-mini/cells", 404, 404, 404, 404, 403, 404),
    Rule("get_queue", "/queue", *PUBLIC),
    Rule("list_submissions", "/submissions", *OF_A_PERSON),
    Rule("get_submission", "/submissions/{submission}", 401, 404, 200, 200, 403, 200),
    Rule("submit", "/submissions", 401, 201, 201, 403, 201, 201, method="post"),
    Rule("cancel_submission", "/submissions/{submission}/cancel", 401, 404, 200, 403, 200, 200, method="post"),
]


@pytest.fixture
def ids(submitter: User) -> dict[str, object]:
    """A published run of somebody else, one of the submitter's that is not, and a rerun that nobody submitted."""
    suite = make_suite("medheb-mini")
    public = make_published_run(revision=make_revision("lab/public"), suite=suite)
    private = make_run(revision=make_revision("lab/private"), suite=suite, user=submitter, state=RunState.RUNNING)
    private.submission = Submission.objects.create(revision=private.revision, suite=suite, submitter=submitter)
    private.save()
    rerun = make_run(revision=public.revision, suite=suite, attempt=2, state=RunState.SUCCEEDED)
    for run in (public, private):
        ChildLog.objects.create(run=run, worker="w1", text="loading the model")
    return {"public": public.pk, "private": private.pk, "rerun": rerun.pk, "submission": private.submission.pk}


@pytest.fixture
def callers(
    submitter: User, submitter_client: Client, administrator_client: Client, stranger_client: Client
) -> dict[str, Client]:
    return {
        "anonymous": Client(),
        "stranger": stranger_client,
        "owner": submitter_client,
        "reader": with_token(submitter, ApiScope.READ),
        "submitting": with_token(submitter, ApiScope.SUBMIT),
        "staff": administrator_client,
    }


@contextmanager
def rolled_back() -> Iterator[None]:
    """Leave no trace of what one caller changed for the next one."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def operations() -> set[str]:
    return {
        details["operationId"] for path in NINJA.get_openapi_schema()["paths"].values() for details in path.values()
    }


def test_the_table_covers_every_operation() -> None:
    assert {rule.operation for rule in RULES} == operations()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.method} {rule.path}")
def test_each_caller_gets_what_the_table_says(rule: Rule, ids: dict[str, object], callers: dict[str, Client]) -> None:
    for name in CALLERS:
        address = API + rule.path.format(**ids)
        arguments = {"data": BODY, "content_type": "application/json"} if rule.method == "post" else {}
        with rolled_back():
            response = getattr(callers[name], rule.method)(address, **arguments)
            assert response.status_code == getattr(rule, name), (name, response.content)


def test_lists_hold_what_is_public_and_what_is_ones_own(ids: dict[str, object], callers: dict[str, Client]) -> None:
    public, private, rerun = (str(ids[name]) for name in ("public", "private", "rerun"))
    expected = {"anonymous": {public}, "stranger": {public}, "owner": {public, private}, "reader": {public, private}}
    for name, runs in {**expected, "staff": {public, private, rerun}}.items():
        assert {run["id"] for run in get(callers[name], "/runs")["items"]} == runs, name
    names = {"anonymous": ["lab/public"], "owner": ["lab/private", "lab/public"]}
    for name, models in names.items():
        assert [model["repo_id"] for model in get(callers[name], "/models")["items"]] == models


def test_scores_of_a_run_that_is_not_published_are_its_owners(
    submitter: User, submitter_client: Client, stranger_client: Client, administrator_client: Client
) -> None:
    suite = make_suite("medheb-mini")
    run = make_published_run(revision=make_revision("lab/draft"), suite=suite)
    submission = Submission.objects.create(revision=run.revision, suite=suite, submitter=submitter)
    Run.objects.filter(pk=run.pk).update(is_published=False, submission=submission)
    for client, n_scores in ((Client(), 0), (stranger_client, 0), (submitter_client, 1), (administrator_client, 1)):
        assert get(client, "/scores/task/medheb-mini/task0")["count"] == n_scores
        get(client, f"/scores/run/{run.pk}", status=200 if n_scores else 404)
        assert get(client, "/boards/medheb-mini/overall")["count"] == 0


def test_a_list_of_submissions_is_ones_own(ids: dict[str, object], callers: dict[str, Client]) -> None:
    assert [one["id"] for one in get(callers["owner"], "/submissions")["items"]] == [str(ids["submission"])]
    assert get(callers["stranger"], "/submissions")["items"] == get(callers["staff"], "/submissions")["items"] == []


def test_a_session_that_changes_something_must_come_from_the_sites_own_pages(ids: dict[str, object]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="submitter"))
    path = f"{API}/submissions/{ids['submission']}/cancel"
    refused = client.post(path)
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
    assert Run.objects.get(pk=ids["private"]).is_active
    client.get("/submit/")
    token = client.cookies["csrftoken"].value
    assert client.post(path, headers={"X-CSRFToken": token}).status_code == 200
    assert not Run.objects.get(pk=ids["private"]).is_active


def test_a_token_needs_no_protection_against_forged_requests(submitter: User, ids: dict[str, object]) -> None:
    client = with_token(submitter, enforce_csrf_checks=True)
    assert client.post(f"{API}/submissions/{ids['submission']}/cancel").status_code == 200


def test_a_submitter_cannot_cancel_what_an_administrator_started(
    submitter_client: Client, ids: dict[str, object]
) -> None:
    Run.objects.filter(pk=ids["private"]).update(requested_by=make_user(is_staff=True))
    response = submitter_client.post(f"{API}/submissions/{ids['submission']}/cancel")
    assert (response.status_code, response.json()["code"]) == (403, "forbidden")
    assert Run.objects.get(pk=ids["private"]).is_active
