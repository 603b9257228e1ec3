"""docs/api.md and the page of the API: its examples run against a live server, and what they say is true."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.test import Client

from leaderboard.api.urls import API as NINJA
from leaderboard.config.variable_table import SECTIONS
from leaderboard.models import Submission, User
from leaderboard.models.vocabulary import ApiScope, RunState
from leaderboard.services.api_tokens import api_token_create
from leaderboard.services.notifications import PAUSES, deliveries_plan, notification_settings_save
from tests.board_documents import store_statistics
from tests.factories import make_revision, make_run, make_scored_run, make_suite
from tests.fakes import COMMIT
from tests.leaderboard.pages import blocked_by_policy, wrongly_nested
from tests.processes import BASE_DIR
from workers.notifications.webhook import body_of, signature

DOCUMENT = (BASE_DIR / "docs" / "api.md").read_text(encoding="utf-8")
READ, SUBMIT, VERIFY = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
HITS = {"task0": 0.5, "task1": 0.25, "task2": 0.75, "task3": 1.0}


def run_example(code: str, site: str, **variables: str) -> list[str]:
    """The lines that an example prints in a process of its own."""
    environment = {"PATH": os.environ["PATH"], "MEDBOARD_SITE": site, **variables}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def site(live_server: Any) -> str:
    """A running site with a board of two models, of which the better one is ranked first."""
    suite = make_suite("medheb-mini")
    make_scored_run(suite=suite, hits=dict.fromkeys(HITS, 0.25), revision=make_revision("lab/second"))
    make_scored_run(suite=suite, hits=HITS, revision=make_revision("lab/first"))
    make_scored_run(suite=suite, hits={"task0": 1.0}, revision=make_revision("lab/partial"))
    store_statistics(suite)
    return live_server.url


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("fake_hub")
def test_the_examples_read_and_submit(site: str, submitter: User) -> None:
    assert run_example(READ, site) == ["A suite for tests 1", "1 lab/first 62.5 %", "2 lab/second 25.0 %"]
    secret = api_token_create(user=submitter, name="example", scopes=list(ApiScope), days=1).secret
    (made,) = run_example(SUBMIT, site, MEDBOARD_TOKEN=secret, MEDBOARD_MODEL="lab/good")
    submission = Submission.objects.get(submitter=submitter)
    assert made.split() == [
        "lab/good", COMMIT[:8], "medheb-mini", "queued", f"{site_settings.SITE_URL}/submissions/{submission.pk}/",
    ]  # fmt: skip
    refused = run_example(SUBMIT, site, MEDBOARD_TOKEN=secret, MEDBOARD_MODEL="lab/missing")
    assert refused[0] == "422 preflight_failed"
    assert refused[1].startswith("repo_id repository_missing ")


def is_authentic(*arguments: Any, **named: Any) -> bool:
    space: dict[str, Any] = {}
    exec(VERIFY, space)  # noqa: S102 - the example of our own document
    return space["is_authentic"](*arguments, **named)


def test_the_example_knows_a_true_message_from_a_false_one() -> None:
    body = body_of({"event": "run.succeeded", "model": "lab/ä"})
    headers = {"MedBoard-Timestamp": "1000", "MedBoard-Signature": signature("secret", timestamp=1000, body=body)}
    assert is_authentic("secret", headers, body, now=1200)
    assert not is_authentic("other", headers, body, now=1200)
    assert not is_authentic("secret", headers, body + b" ", now=1200)
    assert not is_authentic("secret", {**headers, "MedBoard-Timestamp": "1001"}, body, now=1200)
    assert not is_authentic("secret", headers, body, now=1301)


@pytest.mark.django_db
def test_the_document_names_every_fact_of_a_message(submitter: User) -> None:
    run = make_run(user=submitter, state=RunState.SUCCEEDED)
    run.submission = Submission.objects.create(revision=run.revision, suite=run.suite, submitter=submitter)
    run.save()
    notification_settings_save(user=submitter, values={"by_email": False, "webhook_url": "https://example.org/"})
    deliveries_plan(run)
    named = set(re.findall(r"`(\w+)`", DOCUMENT.partition("## Be told")[2]))
    assert set(run.deliveries.get().content) <= named
    assert [pause.total_seconds() / 60 for pause in PAUSES] == [1, 5, 30, 2 * 60, 12 * 60]


def test_the_document_says_the_limits_that_hold_without_settings() -> None:
    limits = {one.name: one.default for section in SECTIONS for one in section.variables}
    assert f"may ask {limits['API_ANONYMOUS_PER_MINUTE']} times a minute without" in DOCUMENT
    assert f"may ask {limits['API_USER_PER_MINUTE']} times and" in DOCUMENT
    assert f"something {limits['API_WRITES_PER_MINUTE']}" in DOCUMENT


@pytest.fixture
def openapi() -> Mapping[str, Any]:
    return NINJA.get_openapi_schema()


@pytest.mark.django_db
def test_the_page_names_every_operation_parameter_and_object(client: Client, openapi: Mapping[str, Any]) -> None:
    html = client.get("/api/").content.decode()
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    for path, methods in openapi["paths"].items():
        for method, details in methods.items():
            assert f"<b>{method.upper()}</b> {path}" in html
            assert details["description"] in html.replace("&#x27;", "'").replace("&quot;", '"')
            assert all(f"<code>{parameter['name']}</code>" in html for parameter in details["parameters"])
    for name, schema in openapi["components"]["schemas"].items():
        if "enum" in schema:
            assert ", ".join(schema["enum"]) in html
            continue
        is_only_in_addresses = name.endswith("Filter") or name == "Place"
        assert (f"<code>{name}</code>" in html) != is_only_in_addresses, name
    links, places = set(re.findall(r'href="#([\w-]+)"', html)), set(re.findall(r'id="([\w-]+)"', html))
    assert links <= places


@pytest.mark.django_db
def test_the_document_of_the_api_is_served_and_says_who_may_ask(client: Client) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert {} in document["paths"]["/api/v1/models"]["get"]["security"]
    assert document["paths"]["/api/v1/submissions"]["post"]["security"] == [{"Token": []}, {"Session": []}]
    assert document["components"]["securitySchemes"]["Token"] == {"type": "http", "scheme": "bearer"}
    for methods in document["paths"].values():
        for details in methods.values():
            assert {"401", "403", "404", "422", "429"} <= set(details["responses"])


@pytest.mark.django_db
def test_the_foot_of_every_page_leads_to_the_api(client: Client) -> None:
    assert 'href="/api/"' in client.get("/queue/").content.decode()
