"""Results that are kept private until their submitter publishes them: nobody else finds a trace."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.exceptions import TransitionRefused
from leaderboard.models import Run, Submission, Suite, User
from leaderboard.models.vocabulary import RunState
from leaderboard.services.administration import worker_report, worker_takes
from leaderboard.services.publishing import run_publish, run_publish_first
from leaderboard.services.runs import run_rerun
from tests.factories import make_suite, make_user
from tests.fakes import COMMIT
from tests.leaderboard.conftest import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]

NAME = "lab/good"


@pytest.fixture
def suite() -> Suite:
    return make_suite("medheb-mini", n_tasks=2)


def submit(client: Client, suite: Suite, **changes: object) -> Submission:
    data = {"repo_id": NAME, "suite": suite.slug, "action": "submit", "visibility": "private", **changes}
    response = client.post(reverse("submit"), data)
    assert response.status_code == 302, response.context["form"].errors
    return Submission.objects.latest("created_at")


def finish(submission: Submission) -> Run:
    """Let the newest run succeed and be published by the rule for first results."""
    run = submission.runs.latest("attempt")
    Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED, finished_at=timezone.now())
    Submission.objects.filter(pk=submission.pk).update(closed_at=timezone.now())
    run.refresh_from_db()
    run_publish_first(run, actor="w1")
    run.refresh_from_db()
    return run


@pytest.fixture
def draft(submitter_client: Client, suite: Suite) -> Run:
    return finish(submit(submitter_client, suite))


def test_what_is_public_is_published_when_it_has_finished(submitter_client: Client, suite: Suite) -> None:
    assert finish(submit(submitter_client, suite, visibility="public")).is_published
    assert not Submission.objects.get().is_private


def test_where_nothing_is_said_it_is_public(submitter_client: Client, suite: Suite) -> None:
    assert not submit(submitter_client, suite, visibility="").is_private


def test_a_made_up_answer_is_refused(submitter_client: Client, suite: Suite) -> None:
    data = {"repo_id": NAME, "suite": suite.slug, "action": "submit", "visibility": "x"}
    assert "visibility" in submitter_client.post(reverse("submit"), data).context["form"].errors
    assert not Submission.objects.exists()


def test_a_private_result_waits_for_its_submitter(draft: Run, submitter_client: Client) -> None:
    assert not draft.is_published
    page = reverse("submission-detail", args=[draft.submission_id])
    text = submitter_client.get(page).content.decode()
    assert "Private." in text
    assert reverse("submission-publish", args=[draft.submission_id]) in text
    submitter_client.post(reverse("submission-publish", args=[draft.submission_id]))
    draft.refresh_from_db()
    assert draft.is_published
    assert not draft.submission.is_private
    assert "On the boards." in submitter_client.get(page).content.decode()


def test_publishing_before_the_end_lets_the_end_publish(submitter_client: Client, suite: Suite) -> None:
    submission = submit(submitter_client, suite)
    submitter_client.post(reverse("submission-publish", args=[submission.pk]))
    assert finish(submission).is_published


@pytest.mark.parametrize("who", ["anonymous", "stranger"])
def test_strangers_find_no_trace(draft: Run, who: str, stranger_client: Client) -> None:
    client = stranger_client if who == "stranger" else Client()
    worker_report(name="w1", device="cpu", versions={})
    worker_takes(name="w1", run_id=draft.pk)
    for name in ("run-detail", "run-progress"):
        assert client.get(reverse(name, args=[draft.pk])).status_code == 404
    assert client.get(reverse("model-detail", args=[NAME])).status_code == 404
    for name in ("queue", "workers", "board-overall", "task-list"):
        text = client.get(reverse(name)).content.decode()
        assert NAME not in text
        assert str(draft.pk) not in text
    assert "A private submission" in client.get(reverse("queue")).content.decode()
    response = client.get(reverse("submission-detail", args=[draft.submission_id]))
    assert response.status_code == (404 if who == "stranger" else 302)
    assert "Publish" not in response.content.decode()


def test_its_submitter_and_staff_see_it(draft: Run, submitter_client: Client, administrator_client: Client) -> None:
    for client in (submitter_client, administrator_client):
        assert client.get(reverse("run-detail", args=[draft.pk])).status_code == 200
    assert NAME in administrator_client.get(reverse("queue")).content.decode()


def test_only_the_submitter_publishes_it(draft: Run, administrator_client: Client, stranger_client: Client) -> None:
    address = reverse("submission-publish", args=[draft.submission_id])
    assert stranger_client.post(address).status_code == 404
    assert administrator_client.post(address).status_code == 403
    with pytest.raises(TransitionRefused, match="keeps this run private"):
        run_publish(run_id=draft.pk, actor="administrator")
    draft.refresh_from_db()
    assert not draft.is_published


def test_a_public_submission_cannot_be_published_by_hand(submitter_client: Client, suite: Suite) -> None:
    submission = submit(submitter_client, suite, visibility="public")
    response = submitter_client.post(reverse("submission-publish", args=[submission.pk]), follow=True)
    assert "public already" in response.content.decode()


def test_a_model_with_public_runs_too_keeps_the_private_ones_out_of_its_history(
    draft: Run, stranger_client: Client, suite: Suite
) -> None:
    public = finish(submit(stranger_client, suite, visibility="public"))
    assert public.is_published, "somebody else's private result answers nobody's request"
    assert (public.revision, public.attempt) == (draft.revision, 2)
    text = Client().get(reverse("model-detail", args=[NAME])).content.decode()
    assert str(public.pk) in text
    assert str(draft.pk) not in text


def test_a_published_result_is_not_replaced_by_a_private_one(
    draft: Run, submitter_client: Client, stranger_client: Client, suite: Suite
) -> None:
    public = finish(submit(stranger_client, suite, visibility="public"))
    response = submitter_client.post(reverse("submission-publish", args=[draft.submission_id]), follow=True)
    assert "stands on the boards already" in response.content.decode()
    draft.refresh_from_db()
    public.refresh_from_db()
    assert (draft.is_published, public.is_published, draft.submission.is_private) == (False, True, True)


def test_a_private_run_under_way_is_in_the_way_without_being_named(
    submitter_client: Client, stranger_client: Client, suite: Suite
) -> None:
    run = submit(submitter_client, suite).runs.get()
    data = {"repo_id": NAME, "suite": suite.slug, "action": "submit"}
    text = stranger_client.post(reverse("submit"), data).content.decode()
    assert "can&#x27;t be submitted to this suite at the moment" in text
    assert str(run.pk) not in text
    assert "Follow that run" in submitter_client.post(reverse("submit"), data).content.decode()


def test_a_rerun_of_a_private_run_stays_private(draft: Run, administrator: User) -> None:
    again = run_rerun(run_id=draft.pk, actor=administrator)
    assert again.submission.is_private
    Suite.objects.filter(pk=draft.suite_id).update(is_live=False)
    newer = Suite.objects.create(slug="medheb-mini", version="2", title="Newer", synthetic=False)
    with pytest.raises(TransitionRefused, match="private"):
        run_rerun(run_id=draft.pk, actor=administrator, suite=newer)


def test_after_a_failure_the_form_starts_with_what_was_asked_for(
    submitter_client: Client, stranger_client: Client, suite: Suite
) -> None:
    submission = submit(
        submitter_client,
        suite,
        adapter_repo_id="lab/adapter",
        training_data="listed",
        declared_training_data="PathMNIST",
    )
    submitter_client.post(reverse("submission-cancel", args=[submission.pk]))
    again = f"{reverse('submit')}?again={submission.pk}"
    assert again in submitter_client.get(reverse("submission-detail", args=[submission.pk])).content.decode()
    form = submitter_client.get(again).context["form"]
    assert form["repo_id"].value() == NAME
    assert form["revision"].value() == COMMIT
    assert form["adapter_repo_id"].value() == "lab/adapter"
    assert form["suite"].value() == [suite.slug]
    assert form["visibility"].value() == "private"
    assert form["declared_training_data"].value() == ["PathMNIST"]
    assert stranger_client.get(again).status_code == 404
    assert submitter_client.get(f"{reverse('submit')}?again=%00").status_code == 400


def test_a_pages_queries_do_not_depend_on_what_is_private(
    draft: Run, submitter_client: Client, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(11):
        submitter_client.get(reverse("submission-detail", args=[draft.submission_id]))
    stranger = signed_in(make_user())
    with django_assert_max_num_queries(11):
        stranger.get(reverse("queue"))
