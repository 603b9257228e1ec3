"""The submit page: checking, submitting, and everything that can stand in the way."""

import re

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from leaderboard.models import Run, Submission, Suite, User
from leaderboard.models.vocabulary import RunState
from leaderboard.services import submissions
from leaderboard.services.administration import submissions_pause
from tests.factories import make_cell, make_run, make_suite, make_task
from tests.fakes import ADAPTER_COMMIT, COMMIT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]

SUBMIT = "/submit/"


@pytest.fixture
def suite() -> Suite:
    return make_suite("medheb-mini", n_tasks=3)


def fields(suite: Suite, **changes: str) -> dict[str, str]:
    return {"repo_id": "lab/good", "suite": suite.slug, "action": "submit", **changes}


def page(client: Client, data: dict[str, str], **headers: str) -> str:
    response = client.post(SUBMIT, data, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_the_form_offers_live_suites_with_installed_tasks(submitter_client: Client, suite: Suite) -> None:
    old = make_suite("retired")
    Suite.objects.filter(pk=old.pk).update(is_live=False)
    empty = Suite.objects.create(slug="awaiting", version="1", title="Awaiting data", synthetic=False)
    make_task(empty, is_installed=False, n_queries=None, chance=None)
    make_suite("drawn", synthetic=True)
    text = submitter_client.get(SUBMIT).content.decode()
    assert 'value="medheb-mini"' in text
    assert "3 tasks" in text
    assert "4 tasks, synthetic data" in text
    assert 'value="retired"' not in text
    assert 'value="awaiting"' not in text


def test_without_a_suite_the_page_says_so(submitter_client: Client) -> None:
    assert "No suite can be run yet." in submitter_client.get(SUBMIT).content.decode()


def test_checking_shows_the_facts_and_stores_nothing(submitter_client: Client, suite: Suite) -> None:
    text = page(submitter_client, fields(suite, action="check", adapter_repo_id="lab/adapter"))
    for fact in [
        "Ready to submit", COMMIT, "lab/adapter", ADAPTER_COMMIT, "Dual encoder, SigLIP", "SiglipModel", "878 M", "3.3\xa0GB",
        "apache-2.0",
    ]:  # fmt: skip
        assert fact in text
    assert "<!doctype html>" in text
    assert not Submission.objects.exists()


def test_htmx_gets_only_the_form(submitter_client: Client, suite: Suite) -> None:
    text = page(submitter_client, fields(suite, action="check"), HX_Request="true")
    assert text.startswith('<form id="submission-form"')
    assert "Ready to submit" in text
    assert "<!doctype html>" not in text


def test_submitting_queues_a_run_of_the_pinned_commit(submitter_client: Client, submitter: User, suite: Suite) -> None:
    address = "https://huggingface.co/lab/good/tree/main"
    response = submitter_client.post(SUBMIT, fields(suite, repo_id=address))
    submission = Submission.objects.get()
    assert response["Location"] == reverse("submission-detail", args=[submission.pk])
    assert submission.submitter == submitter
    assert (submission.revision.model.repo_id, submission.revision.commit) == ("lab/good", COMMIT)
    run = submission.runs.get()
    assert run.state == RunState.QUEUED
    assert run.task_runs.count() == 3
    assert "It is number 1 in the queue." in submitter_client.get(response["Location"]).content.decode()
    assert "lab/good" in submitter_client.get(SUBMIT).content.decode()


def test_all_problems_come_together_each_at_its_field(submitter_client: Client, suite: Suite) -> None:
    response = submitter_client.post(
        SUBMIT,
        fields(suite, repo_id="lab/broken", revision="none", adapter_repo_id="nonsense", adapter_revision="a b"),
    )
    errors = response.context["form"].errors
    assert "Convert its weights" in errors["repo_id"][0]
    assert "See its branches" in errors["revision"][0]
    assert "owner/name" in errors["adapter_repo_id"][0]
    assert "The adapter does not exist" in errors["adapter_repo_id"][1]
    assert "branch, tag or commit" in errors["adapter_revision"][0]
    assert errors["__all__"] == ["Something about the whole request."]
    text = response.content.decode()
    assert "can’t be submitted yet" in text
    assert text.count("Convert its weights") == 2, "once in the summary and once at the field"
    assert not Submission.objects.exists()


def test_a_form_that_names_no_repository_does_not_ask_the_hub(submitter_client: Client) -> None:
    errors = submitter_client.post(SUBMIT, {"repo_id": "", "action": "check"}).context["form"].errors
    assert errors["repo_id"] == ["Name the model's repository: owner/name."]
    assert errors["suite"] == ["Choose at least one suite to run."]


def test_two_revisions_are_one_too_many(submitter_client: Client, suite: Suite) -> None:
    data = fields(suite, repo_id="https://huggingface.co/lab/good/tree/v1", revision="v2", adapter_revision="v3")
    errors = submitter_client.post(SUBMIT, data).context["form"].errors
    assert "names revision v1" in errors["revision"][0]
    assert "Name the adapter's repository" in errors["adapter_revision"][0]


def test_a_silent_hub_is_not_the_models_fault(submitter_client: Client, suite: Suite) -> None:
    text = page(submitter_client, fields(suite, repo_id="lab/offline"))
    assert "can pass by itself" in text
    assert "The hub did not answer." in text


@pytest.mark.parametrize("action", ["check", "submit"])
@pytest.mark.parametrize(("state", "words"), [("running", "being evaluated"), ("succeeded", "already been evaluated")])
def test_a_duplicate_leads_to_the_existing_run(
    submitter_client: Client, suite: Suite, action: str, state: str, words: str
) -> None:
    submitter_client.post(SUBMIT, fields(suite))
    run = Run.objects.get()
    finished = {"finished_at": run.created_at} if state == "succeeded" else {}
    Run.objects.filter(pk=run.pk).update(state=state, **finished)
    text = page(submitter_client, fields(suite, action=action))
    assert words in text
    assert reverse("run-detail", args=[run.pk]) in text
    assert Run.objects.count() == 1


@pytest.fixture
def both(suite: Suite) -> list[Suite]:
    """A retrieval suite and a probing one."""
    probes = Suite.objects.create(slug="medtec-mini", version="1", title="Probes", kind="probing", synthetic=False)
    make_cell(probes)
    return [suite, probes]


def test_one_suite_of_each_kind_is_ticked_real_data_before_synthetic_ones(
    submitter_client: Client, both: list[Suite]
) -> None:
    make_suite("a-drawn", synthetic=True)
    assert submitter_client.get(SUBMIT).context["form"]["suite"].initial == both
    text = submitter_client.get(SUBMIT).content.decode()
    assert len(re.findall(r'<input[^>]*name="suite"[^>]*checked', text)) == 2


def test_one_submission_asks_for_both_suites(submitter_client: Client, both: list[Suite]) -> None:
    data = {**fields(both[0]), "suite": [suite.slug for suite in both]}
    response = submitter_client.post(SUBMIT, data, follow=True)
    assert [submission.suite for submission in Submission.objects.order_by("created_at")] == both
    text = response.content.decode()
    assert "Submitted to 2 suites" in text
    assert "Also submitted to" in text
    other = Submission.objects.get(suite=both[1])
    assert reverse("submission-detail", args=[other.pk]) in text
    assert Run.objects.count() == 2


def test_what_is_there_already_is_said_and_the_rest_is_run(submitter_client: Client, both: list[Suite]) -> None:
    submitter_client.post(SUBMIT, fields(both[0]))
    data = {**fields(both[0]), "suite": [suite.slug for suite in both]}
    text = page(submitter_client, {**data, "action": "check"})
    assert "Ready to submit" in text
    assert f"{both[0].title}: This revision is being evaluated" in text
    submitter_client.post(SUBMIT, data)
    assert Run.objects.filter(suite=both[0]).count() == 1
    assert Run.objects.filter(suite=both[1]).count() == 1
    assert "Already there" in page(submitter_client, data)
    assert Run.objects.count() == 2


def test_both_suites_or_none(submitter_client: Client, both: list[Suite], monkeypatch: pytest.MonkeyPatch) -> None:
    real = submissions.run_create

    def fails_on_probes(**arguments: object) -> Run:
        if arguments["suite"] == both[1]:
            raise IntegrityError("somebody was faster")
        return real(**arguments)

    monkeypatch.setattr(submissions, "run_create", fails_on_probes)
    page(submitter_client, {**fields(both[0]), "suite": [suite.slug for suite in both]})
    assert not Submission.objects.exists()


def test_a_failed_run_can_be_submitted_again(submitter_client: Client, suite: Suite) -> None:
    submitter_client.post(SUBMIT, fields(suite))
    run = Run.objects.get()
    submitter_client.post(reverse("submission-cancel", args=[run.submission_id]))
    response = submitter_client.post(SUBMIT, fields(suite))
    assert response.status_code == 302
    assert list(Run.objects.order_by("attempt").values_list("attempt", "state")) == [(1, "cancelled"), (2, "queued")]


def test_a_pause_is_announced_and_refuses_submissions(
    submitter_client: Client, administrator: User, suite: Suite
) -> None:
    submissions_pause(actor=administrator, reason="New data are being installed <b>now</b>.")
    text = submitter_client.get(SUBMIT).content.decode()
    assert "New data are being installed &lt;b&gt;now&lt;/b&gt;." in text
    assert "Submissions are paused" in page(submitter_client, fields(suite))
    assert "Ready to submit" in page(submitter_client, fields(suite, action="check"))
    assert not Submission.objects.exists()


def test_a_suite_whose_data_went_away_is_refused(submitter_client: Client, suite: Suite) -> None:
    suite.tasks.update(is_installed=False)
    assert "can&#x27;t be run any more" in page(submitter_client, fields(suite))


def test_hostile_text_is_escaped(submitter_client: Client, suite: Suite) -> None:
    hostile = "\"><script>alert('field')</script>"
    text = page(submitter_client, fields(suite, revision=hostile, repo_id="lab/hostile"))
    assert "<script>alert" not in text
    text = page(submitter_client, fields(suite, repo_id="lab/hostile", action="check"))
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(&#x27;licence&#x27;)" in text


def test_pages_ask_the_database_a_bounded_number_of_questions(
    submitter_client: Client, submitter: User, suite: Suite, django_assert_max_num_queries: object
) -> None:
    for _ in range(6):
        run = make_run(suite=suite, user=submitter)
        submission = Submission.objects.create(revision=run.revision, suite=suite, submitter=submitter)
        Run.objects.filter(pk=run.pk).update(submission=submission)
    with django_assert_max_num_queries(9):
        submitter_client.get(SUBMIT)
