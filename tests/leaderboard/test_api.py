"""The API for programs: what it answers, to whom, and how it refuses."""

import pytest
from django.test import Client

from leaderboard.models import Run, Suite
from tests.factories import make_revision, make_run, make_scored_run, make_suite

pytestmark = pytest.mark.django_db

API = "/api/v1"
HITS = {"task0": 0.5, "task1": 0.25, "task2": 0.75, "task3": 1.0}


def get(client: Client, path: str, status: int = 200, **parameters: object) -> object:
    response = client.get(API + path, parameters)
    assert response.status_code == status, response.content
    return response.json()


@pytest.fixture
def suite(db: None) -> Suite:
    return make_suite("medheb-mini")


@pytest.fixture
def run(suite: Suite) -> Run:
    return make_scored_run(suite=suite, hits=HITS, revision=make_revision("lab/known"))


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("path", ["/models", "/models/lab/known", "/runs", "/scores", "/suites", "/tasks", "/boards",
  "/tasks/medheb-mini/task0", "/boards/medheb-mini/overall", "/boards/medheb-mini/family/image_to_label", "/queue"])
def test_smoke(client, path):
    print(get(client, path))
    make_run()
def test_page(client, submitter_client):
    print(client.get("/api/").content.decode()[:3000])
    assert client.get("/api/v1/openapi.json").status_code == 200
    assert client.get("/api/v1/runs/x").status_code == 404
    print(submitter_client.get("/account/tokens/").content.decode()[:3000])
