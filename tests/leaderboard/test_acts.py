"""The log of acts: every administrative act stands in it, exactly when the act happened, and nobody changes a line."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.exceptions import ApplicationError
from leaderboard.models import Act, EmbeddingModel, Run, Submission, User
from leaderboard.models.vocabulary import ActKind, RunState
from leaderboard.services import administration, publishing, runs
from leaderboard.services.acts import act_record
from tests.factories import make_published_run, make_run, make_suite, make_user

pytestmark = pytest.mark.django_db

TAMPERING = [
    "UPDATE leaderboard_act SET reason = 'better'",
    "UPDATE leaderboard_act SET reason = 'better' WHERE false",
    "DELETE FROM leaderboard_act",
    "TRUNCATE leaderboard_act",
    "TRUNCATE leaderboard_act CASCADE",
    (
        "INSERT INTO leaderboard_act (id, actor, kind, subject, repo_id, reason, details)"
        " SELECT id, 'x', 'pause', 's', '', '', '{}' FROM leaderboard_act"
        " ON CONFLICT (id) DO UPDATE SET reason = 'better'"
    ),
    "MERGE INTO leaderboard_act USING (SELECT 1) AS one ON true WHEN MATCHED THEN DELETE",
]


def only_act(**facts: Any) -> Act:
    """The one act of the log, with these facts."""
    act = Act.objects.get()
    assert {name: getattr(act, name) for name in facts} == facts
    return act


@pytest.mark.parametrize("statement", TAMPERING)
def test_the_database_refuses_to_change_the_log(statement: str) -> None:
    act_record(actor="root", kind=ActKind.PAUSE, subject="Submissions", reason="as it was")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE leaderboard_act ENABLE TRIGGER act_not_emptied")  # as outside of tests
        with pytest.raises(IntegrityError, match="only ever added"), transaction.atomic():
            cursor.execute(statement)
        transaction.set_rollback(True)
    act_record(actor="root", kind=ActKind.PAUSE, subject="Submissions")
    assert Act.objects.exclude(reason="better").count() >= 1


def test_the_orm_is_refused_too() -> None:
    act = act_record(actor="root", kind=ActKind.PAUSE, subject="Submissions", reason="as it was")
    for tamper in (act.delete, act.save, Act.objects.all().delete, lambda: Act.objects.update(reason="")):
        with pytest.raises(DatabaseError), transaction.atomic():
            tamper()
    assert Act.objects.get().reason == "as it was"


def test_an_act_that_does_not_happen_is_not_in_the_log(administrator: User) -> None:
    run = make_run()
    for refused in (
        lambda: publishing.run_publish(run_id=run.pk, actor="root"),
        lambda: publishing.run_withdraw(run_id=run.pk, actor="root", reason="no"),
        lambda: administration.submissions_resume(actor=administrator),
        lambda: administration.worker_class_resume(actor=administrator, worker_class="cpu"),
        lambda: runs.run_rerun(run_id=run.pk, actor=administrator, tasks=["nothing"]),
    ):
        with pytest.raises(ApplicationError):
            refused()
    assert not Act.objects.exists()


def test_what_is_rolled_back_takes_its_act_with_it(administrator: User) -> None:
    with transaction.atomic():
        administration.submissions_pause(actor=administrator, reason="busy")
        assert Act.objects.exists()
        transaction.set_rollback(True)
    assert not Act.objects.exists()


class TestEveryAct:
    """What an administrator does in the browser, and its line."""

    @pytest.fixture
    def succeeded(self) -> Run:
        return make_run(suite=make_suite(n_tasks=2), state=RunState.SUCCEEDED)

    def test_publish(self, administrator_client: Client, succeeded: Run) -> None:
        administrator_client.post(reverse("run-publish", args=[succeeded.pk]))
        act = only_act(kind="publish", actor="administrator", run_id=succeeded.pk)
        assert act.repo_id == succeeded.revision.model.repo_id
        assert act.subject == str(succeeded)

    def test_withdraw_needs_a_reason(self, administrator_client: Client) -> None:
        run = make_published_run(suite=make_suite(n_tasks=2))
        page = administrator_client.post(reverse("run-withdraw", args=[run.pk]), {"reason": " "}, follow=True)
        assert "Say why; it is kept in the log of acts." in page.content.decode()
        run.refresh_from_db()
        assert run.is_published
        administrator_client.post(reverse("run-withdraw", args=[run.pk]), {"reason": "wrong weights"})
        run.refresh_from_db()
        assert not run.is_published
        only_act(kind="withdraw", actor="administrator", run_id=run.pk, reason="wrong weights")

    def test_cancel(self, administrator_client: Client) -> None:
        run = make_run()
        administrator_client.post(reverse("run-cancel", args=[run.pk]))
        only_act(kind="cancel", actor="administrator", run_id=run.pk)

    def test_cancelling_ones_own_submission_is_no_administrative_act(
        self, submitter: User, submitter_client: Client, administrator_client: Client
    ) -> None:
        run = make_run(user=submitter)
        run.submission = Submission.objects.create(revision=run.revision, suite=run.suite, submitter=submitter)
        run.save()
        submitter_client.post(reverse("submission-cancel", args=[run.submission_id]))
        assert not Act.objects.exists()
        Run.objects.update(state=RunState.QUEUED, finished_at=None)
        administrator_client.post(reverse("submission-cancel", args=[run.submission_id]))
        only_act(kind="cancel", actor="administrator", run_id=run.pk)

    def test_rerun(self, administrator_client: Client, succeeded: Run) -> None:
        administrator_client.post(
            reverse("reruns"), {"run": [succeeded.pk], "scope": "all", "reason": "new data"}, follow=True
        )
        act = only_act(kind="rerun", actor="administrator", reason="new data")
        assert act.run_id == Run.objects.get(rerun_of=succeeded).pk
        assert act.details == {"rerun_of": str(succeeded.pk), "scope": "all", "tasks": [], "carried_over": 0}

    def test_pause_and_resume(self, administrator_client: Client) -> None:
        administrator_client.post(reverse("pause"), {"reason": "moving"})
        administrator_client.post(reverse("resume"))
        assert list(Act.objects.order_by("id").values_list("kind", "reason")) == [("pause", "moving"), ("resume", "")]

    def test_pausing_a_class(self, administrator_client: Client) -> None:
        administrator_client.post(reverse("class-pause"), {"worker_class": "gpu-24", "reason": "repair"})
        administrator_client.post(reverse("class-pause"), {"worker_class": "gpu-24", "reason": "again"})
        administrator_client.post(reverse("class-resume"), {"worker_class": "gpu-24"})
        assert list(Act.objects.order_by("id").values_list("kind", "subject", "reason")) == [
            ("pause_class", "Class gpu-24", "repair"),
            ("resume_class", "Class gpu-24", ""),
        ]

    def test_limits(self, administrator_client: Client, submitter: User) -> None:
        wanted = {"username": "submitter", "per_day": "50", "at_once": "", "reason": "a workshop"}
        administrator_client.post(reverse("limits"), wanted)
        submitter.refresh_from_db()
        assert (submitter.submissions_per_day, submitter.submissions_at_once) == (50, None)
        act = only_act(kind="limits", subject="submitter", reason="a workshop")
        assert act.details == {
            "before": {"per_day": None, "at_once": None},
            "after": {"per_day": 50, "at_once": None},
        }

    def test_an_owners_wish(self, administrator_client: Client) -> None:
        model = make_run().revision.model
        page = reverse("admin:leaderboard_embeddingmodel_change", args=[model.pk])
        administrator_client.post(page, {"owner_opted_out": "on"})
        assert EmbeddingModel.objects.get(pk=model.pk).owner_opted_out
        act = only_act(kind="opt_out", actor="administrator", repo_id=model.repo_id)
        assert act.details == {"before": False, "after": True}

    def test_a_new_password_and_a_deleted_account(self, administrator_client: Client) -> None:
        person = make_user("gone")
        words = {"password1": "another-long-phrase", "password2": "another-long-phrase", "usable_password": "true"}
        administrator_client.post(reverse("admin:auth_user_password_change", args=[person.pk]), words)
        administrator_client.post(reverse("admin:leaderboard_user_delete", args=[person.pk]), {"post": "yes"})
        assert not User.objects.filter(pk=person.pk).exists()
        acts = list(Act.objects.order_by("id").values_list("kind", "subject", "details__how"))
        assert acts == [("account", "user gone", "changed"), ("account", "user gone", "deleted")]
        assert not any("phrase" in str(details) for details in Act.objects.values_list("details", flat=True))

    def test_rows_that_are_changed_in_djangos_administration(self, administrator_client: Client) -> None:
        administrator_client.post(reverse("admin:auth_group_add"), {"name": "editors"})
        assert Group.objects.get().name == "editors"
        act = only_act(kind="rows", subject="group editors")
        assert act.details["how"] == "added"

    def test_many_rows_are_not_deleted_at_once(self, administrator_client: Client) -> None:
        person = make_user("stays")
        data = {"action": "delete_selected", "_selected_action": [person.pk], "post": "yes"}
        administrator_client.post(reverse("admin:leaderboard_user_changelist"), data)
        assert User.objects.filter(pk=person.pk).exists()


class TestThePage:
    @pytest.fixture(autouse=True)
    def log(self, db: None) -> None:
        act_record(actor="ada", kind=ActKind.PAUSE, subject="Submissions", reason="<b>moving</b>")
        act_record(actor="grace", kind=ActKind.LIMITS, subject="=cmd()", details={"after": {"per_day": 5}})

    @pytest.mark.parametrize(
        ("query", "subjects"),
        [
            ("", ["=cmd()", "Submissions"]),
            ("kind=pause", ["Submissions"]),
            ("actor=GRACE", ["=cmd()"]),
            ("words=moving", ["Submissions"]),
            ("words=100%25", []),
            ("since=2000-01-01&until=2000-01-02", []),
            ("page=99", ["=cmd()", "Submissions"]),
        ],
    )
    def test_filters_hold_for_the_page_and_the_file(
        self, administrator_client: Client, query: str, subjects: list[str]
    ) -> None:
        answer = administrator_client.get(f"{reverse('acts')}?{query}&format=csv")
        rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
        assert [row["subject"].removeprefix("'") for row in rows] == subjects
        html = administrator_client.get(f"{reverse('acts')}?{query}").content.decode()
        assert "No such act" in html if not subjects else all(subject in html for subject in subjects)

    def test_today_is_a_day_in_utc(self, administrator_client: Client) -> None:
        today = timezone.now().date()
        html = administrator_client.get(reverse("acts"), {"since": today - timedelta(1), "until": today}).content
        assert b"2 acts." in html

    def test_texts_are_escaped_and_formulas_are_harmless(self, administrator_client: Client) -> None:
        html = administrator_client.get(reverse("acts")).content.decode()
        assert "&lt;b&gt;moving&lt;/b&gt;" in html
        answer = administrator_client.get(f"{reverse('acts')}?format=csv")
        assert ",'=cmd()," in b"".join(answer.streaming_content).decode()

    @pytest.mark.parametrize("query", ["kind=nosuch", "since=yesterday", f"words={'x' * 10_000}"])
    def test_a_filter_that_is_none_is_refused_with_a_sentence(self, administrator_client: Client, query: str) -> None:
        answer = administrator_client.get(f"{reverse('acts')}?{query}")
        assert answer.status_code == 400
        assert 'class="problem"' in answer.content.decode()
