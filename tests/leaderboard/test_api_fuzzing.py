"""Whatever a program sends: the API answers what its OpenAPI document says, and never with an error of its own."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from leaderboard.config.wsgi import application
from leaderboard.models import Submission, User
from leaderboard.models.vocabulary import ApiScope
from leaderboard.services.api_tokens import api_token_create
from tests.factories import make_revision, make_run, make_scored_run, make_suite

EXAMPLES = 5
EXCLUDED = {"POST": [positive_data_acceptance]}
"""What has the right form is still refused where the hub knows no such repository."""


@pytest.fixture
def known(submitter: User) -> dict[str, str]:
    """Values of parameters in paths that lead somewhere."""
    suite = make_suite("medheb-mini")
    run = make_scored_run(
        suite=suite,
        hits={"task0": 0.5, "task1": 0.25},
        failures={"task2": "model_invalid"},
        revision=make_revision("lab/known"),
    )
    submission = Submission.objects.create(revision=run.revision, suite=suite, submitter=submitter)
    waiting = make_run(suite=suite, user=submitter)
    waiting.submission = submission
    waiting.save()
    return {
        "owner": "lab",
        "suite": suite.slug,
        "scope": "family",
        "key": "image_to_label",
        "run_id": str(waiting.pk),
        "submission_id": str(submission.pk),
    }


def from_here(environ: dict[str, Any], start_response: Any) -> Any:
    """The site, asked from this machine by somebody who reads no compressed answers."""
    return application({**environ, "REMOTE_ADDR": "127.0.0.1", "HTTP_ACCEPT_ENCODING": "identity"}, start_response)


@pytest.fixture
def document(db: None) -> Iterator[schemathesis.BaseSchema]:
    """The document as the site serves it, asked of within the test's transaction, which outlives the requests."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield schemathesis.openapi.from_wsgi("/api/v1/openapi.json", from_here)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


bounded = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class Sender:
    """Sends requests that operations should take, and such that they should refuse; what was answered is counted."""

    known: dict[str, str]
    headers: dict[str, str]
    statuses: Counter[int]

    def send(self, operation: Any, mode: GenerationMode) -> None:
        """Hold the answers to some requests to the document."""

        @bounded
        @given(case=operation.as_strategy(generation_mode=mode))
        def answers(case: schemathesis.Case) -> None:
            if mode is GenerationMode.POSITIVE:
                found = {name: self.known[name] for name in case.path_parameters if name in self.known}
                case.path_parameters.update(found)
            answer = case.call_and_validate(headers=self.headers, excluded_checks=EXCLUDED.get(case.method, []))
            self.statuses[answer.status_code] += 1

        answers()


def answered(document: schemathesis.BaseSchema, *, known: dict[str, str], headers: dict[str, str]) -> Counter[int]:
    """The statuses of the answers to requests to every operation."""
    sender = Sender(known, headers, Counter())
    for found in document.get_all_operations():
        operation = found.ok()
        sender.send(operation, GenerationMode.POSITIVE)
        if len(operation.query) or len(operation.body):
            sender.send(operation, GenerationMode.NEGATIVE)
    return sender.statuses


@pytest.mark.usefixtures("fake_hub")
def test_anybody(document: schemathesis.BaseSchema, known: dict[str, str]) -> None:
    assert {200, 401, 404, 422} <= set(answered(document, known=known, headers={}))


@pytest.mark.usefixtures("fake_hub")
def test_a_person_with_a_token(document: schemathesis.BaseSchema, known: dict[str, str], submitter: User) -> None:
    secret = api_token_create(user=submitter, name="everything", scopes=list(ApiScope), days=1).secret
    found = answered(document, known=known, headers={"Authorization": f"Bearer {secret}"})
    assert {200, 404, 409, 422} <= set(found)
