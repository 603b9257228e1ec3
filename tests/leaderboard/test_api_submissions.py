"""Submitting through the API: the same checks, quotas and refusals as the form, all findings at once."""

import pytest
from django.test import Client

from leaderboard.models import Run, Submission, Suite, User
from leaderboard.models.vocabulary import RunState
from leaderboard.services.administration import submissions_pause
from leaderboard.services.runs import run_fail
from tests.factories import make_suite
from tests.fakes import COMMIT
from tests.leaderboard.api_requests import get, post, with_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]

GOOD = {"repo_id": "lab/good", "suites": ["medheb-mini"]}


@pytest.fixture
def suite(db: None) -> Suite:
    return make_suite("medheb-mini")


@pytest.fixture
def program(submitter: User) -> Client:
    return with_token(submitter)


def test_a_program_submits_and_follows_its_submission(program: Client, suite: Suite, submitter: User) -> None:
    (made,) = post(program, "/submissions", GOOD, status=201)
    submission = Submission.objects.get()
    assert (submission.submitter, submission.suite, submission.revision.commit) == (submitter, suite, COMMIT)
    assert made["id"] == str(submission.pk)
    assert made["url"].endswith(f"/submissions/{submission.pk}/")
    assert (made["model"], made["commit"], made["state"]) == ("lab/good", COMMIT, "queued")
    assert (made["progress"]["n_tasks"], made["progress"]["place_in_queue"], made["failure"]) == (4, 1, None)
    assert get(program, f"/submissions/{submission.pk}")["attempts"][0]["attempt"] == 1
    (listed,) = get(program, "/submissions")["items"]
    assert (listed["id"], listed["state"], listed["closed_at"]) == (made["id"], "queued", None)


def test_several_suites_are_several_submissions_and_one_that_is_answered_is_left_out(
    program: Client, suite: Suite
) -> None:
    make_suite("medheb-other")
    post(program, "/submissions", GOOD, status=201)
    both = {**GOOD, "suites": ["medheb-mini", "medheb-other"]}
    assert [one["suite"] for one in post(program, "/submissions", both, status=201)] == ["medheb-other"]
    assert post(program, "/submissions", both, status=409)["code"] == "duplicate_submission"


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"repo_id": "lab/missing"}, {("repo_id", "repository_missing")}),
        ({"repo_id": "not a repository"}, {("repo_id", "address_invalid")}),
        ({"repo_id": ""}, {("repo_id", "required")}),
        ({"suites": ["no-such"]}, {("suites", "invalid_choice")}),
        ({"repo_id": "lab/offline"}, {("repo_id", "hub_silent")}),
        (
            {"repo_id": "lab/broken", "suites": ["no-such"]},
            {
                ("repo_id", "no_safetensors"), ("revision", "revision_missing"),
                ("adapter_repo_id", "adapter_missing"), (None, "odd"), ("suites", "invalid_choice"),
            },
        ),
    ],
)  # fmt: skip
def test_everything_that_the_form_and_the_hub_find_is_said_at_once(
    changes: dict[str, object], problems: set[tuple[str | None, str]], program: Client
) -> None:
    refused = post(program, "/submissions", {**GOOD, **changes}, status=422)
    assert refused["code"] == "preflight_failed"
    assert {(problem["field"], problem["code"]) for problem in refused["problems"]} == problems
    assert all(problem["message"] for problem in refused["problems"])
    assert not Submission.objects.exists()


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"repo_id": "lab/good"}, "suites"), ({**GOOD, "suites": []}, "suites"), ({**GOOD, "sweets": 1}, "sweets"),
        ({**GOOD, "repo_id": 5}, "repo_id"), ({**GOOD, "suites": ["a\x00"]}, "suites.0"),
        ({**GOOD, "suites": ["medheb-mini"] * 21}, "suites"), ({**GOOD, "repo_id": "x" * 401}, "repo_id"),
    ],
)  # fmt: skip
def test_a_body_of_another_form_is_refused_by_field(body: object, field: str, program: Client) -> None:
    refused = post(program, "/submissions", body, status=422)
    assert (refused["code"], refused["field"]) == ("invalid_request", field)


@pytest.mark.parametrize("body", ["{", "[1", "\x00"])
def test_what_is_no_json_is_refused(body: str, program: Client) -> None:
    assert post(program, "/submissions", body, status=400)["code"] == "invalid_body"


@pytest.mark.usefixtures("suite")
def test_a_pause_and_quotas_hold_for_programs(
    program: Client, submitter: User, administrator: User, settings: object
) -> None:
    settings.SUBMISSIONS_AT_ONCE = 0
    assert post(program, "/submissions", GOOD, status=409)["code"] == "quota_exceeded"
    submissions_pause(actor=administrator, reason="The hub moves.")
    refused = post(program, "/submissions", GOOD, status=409)
    assert refused["code"] == "submissions_paused"
    assert "The hub moves." in refused["message"]
    assert get(Client(), "/queue")["paused_because"] == "The hub moves."


@pytest.mark.usefixtures("suite")
def test_a_failure_says_why_and_what_to_do(program: Client) -> None:
    (made,) = post(program, "/submissions", GOOD, status=201)
    run_fail(run_id=made["attempts"][0]["run"], actor="w1", code="model_invalid", kind="model", message="No tokenizer.")
    failed = get(program, f"/submissions/{made['id']}")
    assert failed["state"] == "failed"
    assert failed["failure"]["code"] == "model_invalid"
    assert failed["failure"]["message"] == "No tokenizer."
    assert "submit the new revision" in failed["failure"]["next_step"]


@pytest.mark.usefixtures("suite")
def test_cancelling_ends_the_run_once(program: Client) -> None:
    (made,) = post(program, "/submissions", GOOD, status=201)
    assert post(program, f"/submissions/{made['id']}/cancel")["state"] == "cancelled"
    assert Run.objects.get().state == RunState.CANCELLED
    assert post(program, f"/submissions/{made['id']}/cancel", status=409)["code"] == "transition_refused"
