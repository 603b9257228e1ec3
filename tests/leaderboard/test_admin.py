"""Django's administration: a view of everything, and only the changes that are allowed."""

import pytest
from django.contrib import admin
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from leaderboard.models import EmbeddingModel, Run, User
from leaderboard.models.vocabulary import RunState
from leaderboard.services.administration import submissions_pause, worker_report
from tests.factories import make_published_run, make_run, make_suite

pytestmark = pytest.mark.django_db

EDITABLE = {"user", "group", "emailaddress", "embeddingmodel"}


def changelist(model: type) -> str:
    return reverse(f"admin:leaderboard_{model._meta.model_name}_changelist")


def rerun(client: Client, action: str, runs: list[Run]) -> str:
    """Choose an action, look at the preview that it leads to, and confirm it; what the page then says."""
    data = {"action": action, "_selected_action": [run.pk for run in runs]}
    leads_to = client.post(changelist(Run), data)["Location"]
    assert client.get(leads_to).status_code == 200
    assert not Run.objects.filter(rerun_of__isnull=False).exists()
    wanted = QueryDict(leads_to.partition("?")[2])
    return client.post(reverse("reruns"), dict(wanted.lists()), follow=True).content.decode()


@pytest.fixture
def everything(administrator: User) -> Run:
    run = make_published_run(suite=make_suite())
    submissions_pause(actor=administrator, reason="for tests")
    worker_report(name="w1", device="cpu", versions={})
    return run


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.model_name)
def test_every_registered_model_has_a_list_and_a_page(model: type, administrator_client: Client) -> None:
    meta = model._meta
    assert administrator_client.get(reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")).status_code == 200
    for row in model.objects.all()[:1]:
        page = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
        assert administrator_client.get(page).status_code == 200


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize(
    "model",
    [model for model in admin.site._registry if model._meta.model_name not in EDITABLE],
    ids=lambda model: model._meta.model_name,
)
def test_what_services_own_cannot_be_changed_here(model: type, administrator_client: Client) -> None:
    base = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    assert administrator_client.get(reverse(f"{base}_add")).status_code == 403
    for row in model.objects.all()[:1]:
        assert administrator_client.post(reverse(f"{base}_change", args=[row.pk]), {}).status_code == 403
        assert administrator_client.post(reverse(f"{base}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    response = administrator_client.get(reverse(f"{base}_changelist"))
    assert "delete_selected" not in response.content.decode()


def test_reruns_of_many_runs(administrator_client: Client, administrator: User) -> None:
    failed = make_run(suite=make_suite("one"), state=RunState.FAILED)
    running = make_run(suite=make_suite("two"), state=RunState.RUNNING)
    assert "Queued 2 new attempts," in rerun(administrator_client, "rerun", [failed, running])
    new = Run.objects.get(rerun_of=failed)
    assert (new.attempt, new.state, new.requested_by) == (2, RunState.QUEUED, administrator)
    assert new.events.get().actor == administrator.username
    running.refresh_from_db()
    assert running.state == RunState.CANCELLED


def test_a_refused_rerun_is_told_and_does_not_stop_the_others(administrator_client: Client) -> None:
    complete = make_published_run(suite=make_suite("one"))
    failed = make_run(suite=make_suite("two"), state=RunState.FAILED)
    text = rerun(administrator_client, "rerun_failed_tasks_only", [complete, failed])
    assert "there is nothing to run again" in text
    assert "Queued as attempt 2" in text


def test_an_owners_wish_is_the_only_fact_of_a_model_to_be_changed(administrator_client: Client) -> None:
    model = make_run().revision.model
    page = reverse("admin:leaderboard_embeddingmodel_change", args=[model.pk])
    assert administrator_client.post(page, {"owner_opted_out": "on", "repo_id": "other/name"}).status_code == 302
    stored = EmbeddingModel.objects.get(pk=model.pk)
    assert stored.owner_opted_out
    assert stored.repo_id == model.repo_id


def test_only_staff_enter(submitter_client: Client) -> None:
    assert reverse("admin:login") in submitter_client.get(changelist(Run))["Location"]
