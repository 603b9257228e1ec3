"""Who may open what: every address of submitting, runs and the queue, for every kind of person."""

from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.models import Run, Submission, User
from leaderboard.models.vocabulary import RunState
from leaderboard.views import people_urls
from tests.factories import make_run, make_suite

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]

SIGN_IN = "sign in"


@dataclass(frozen=True)
class Rule:
    """What anonymous, stranger, submitter and staff get: a status, or being sent to sign in."""

    name: str
    method: str
    anonymous: object
    stranger: int
    submitter: int
    staff: int


RULES = [
    Rule("submit", "get", SIGN_IN, 200, 200, 200),
    Rule("submit", "post", SIGN_IN, 200, 200, 200),
    Rule("submission-detail", "get", SIGN_IN, 403, 200, 200),
    Rule("submission-cancel", "get", 405, 405, 405, 405),
    Rule("submission-cancel", "post", SIGN_IN, 403, 302, 302),
    Rule("run-detail", "get", 200, 200, 200, 200),
    Rule("run-detail", "post", 405, 405, 405, 405),
    Rule("run-progress", "get", 200, 200, 200, 200),
    Rule("reruns", "get", SIGN_IN, 403, 403, 200),
    Rule("reruns", "post", SIGN_IN, 403, 403, 200),
    Rule("run-publish", "get", 405, 405, 405, 405),
    Rule("run-publish", "post", SIGN_IN, 403, 403, 302),
    Rule("run-withdraw", "get", 405, 405, 405, 405),
    Rule("run-withdraw", "post", SIGN_IN, 403, 403, 302),
    Rule("run-cancel", "get", 405, 405, 405, 405),
    Rule("run-cancel", "post", SIGN_IN, 403, 403, 302),
    Rule("reruns-waiting", "get", SIGN_IN, 403, 403, 200),
    Rule("reruns-waiting", "post", SIGN_IN, 403, 403, 302),
    Rule("notifications", "get", SIGN_IN, 200, 200, 200),
    Rule("notifications", "post", SIGN_IN, 302, 302, 302),
    Rule("notifications-secret", "get", 405, 405, 405, 405),
    Rule("notifications-secret", "post", SIGN_IN, 302, 302, 302),
    Rule("workers", "get", 200, 200, 200, 200),
    Rule("metrics", "get", 404, 404, 404, 404),
    Rule("queue", "get", 200, 200, 200, 200),
    Rule("pause", "get", 405, 405, 405, 405),
    Rule("pause", "post", SIGN_IN, 403, 403, 302),
    Rule("resume", "get", 405, 405, 405, 405),
    Rule("resume", "post", SIGN_IN, 403, 403, 302),
]


@pytest.fixture
def run(submitter: User) -> Run:
    run = make_run(suite=make_suite(), user=submitter)
    run.submission = Submission.objects.create(revision=run.revision, suite=run.suite, submitter=submitter)
    run.save()
    return run


def address(name: str, run: Run) -> str:
    if name.startswith("submission"):
        return reverse(name, args=[run.submission_id])
    return reverse(name, args=[run.pk] if name.startswith("run") else [])


def test_the_table_covers_every_address() -> None:
    assert {rule.name for rule in RULES} == {pattern.name for pattern in people_urls.urlpatterns}


@pytest.fixture
def clients(submitter_client: Client, administrator_client: Client, stranger_client: Client) -> dict[str, Client]:
    return {
        "anonymous": Client(),
        "stranger": stranger_client,
        "submitter": submitter_client,
        "staff": administrator_client,
    }


@pytest.mark.parametrize("person", ["anonymous", "stranger", "submitter", "staff"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{rule.method}")
def test_each_person_gets_what_the_table_says(rule: Rule, person: str, run: Run, clients: dict[str, Client]) -> None:
    expected = getattr(rule, person)
    response = getattr(clients[person], rule.method)(address(rule.name, run))
    if expected == SIGN_IN:
        assert response.status_code == 302
        assert response["Location"].startswith(reverse("account_login"))
    else:
        assert response.status_code == expected
        assert reverse("account_login") not in response.get("Location", "")
    run.refresh_from_db()
    may_change = rule.method == "post" and expected == 302
    assert may_change or run.state == RunState.QUEUED


def test_forms_refuse_requests_from_other_sites(administrator: User, run: Run) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(administrator)
    assert client.post(address("run-cancel", run)).status_code == 403
    run.refresh_from_db()
    assert run.is_active


@pytest.mark.parametrize("name", ["run-detail", "run-progress", "submission-detail"])
def test_what_does_not_exist_is_not_found(name: str, administrator_client: Client) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    assert administrator_client.get(reverse(name, args=[unknown])).status_code == 404


@pytest.mark.parametrize("name", ["run-publish", "run-cancel", "submission-cancel"])
def test_changing_what_does_not_exist_is_not_found(name: str, administrator_client: Client) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    assert administrator_client.post(reverse(name, args=[unknown])).status_code == 404


def test_signing_in_leads_back_but_never_to_an_address_that_only_takes_post(client: Client, run: Run) -> None:
    assert client.get("/submit/")["Location"].endswith("?next=/submit/")
    assert "run" not in client.post(address("run-cancel", run))["Location"]
