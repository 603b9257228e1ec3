"""How much one person may submit, and what does not count."""

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.exceptions import QuotaExceeded
from leaderboard.models import Run, Submission, Suite, User
from leaderboard.models.vocabulary import RunState
from leaderboard.ports import PreflightReport
from leaderboard.services import leases, runs
from leaderboard.services.submissions import submission_create
from tests.factories import make_suite, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def limits(settings: object) -> None:
    settings.SUBMISSIONS_PER_DAY = 3
    settings.SUBMISSIONS_AT_ONCE = 2


@pytest.fixture
def suite() -> Suite:
    return make_suite(n_tasks=1)


def submit(user: User, suite: Suite) -> Submission:
    number = Submission.objects.count()
    report = PreflightReport(repo_id=f"lab/m{number}", commit=f"{number:040x}", family="clip", parameters=1000)
    return submission_create(submitter=user, report=report, suite=suite)


def end(submission: Submission, *, kind: str = "model") -> None:
    leases.run_next_claim(worker="w1")
    runs.run_fail(run_id=submission.runs.get().pk, actor="w1", code="odd", kind=kind, message="It broke.")


def test_so_many_may_wait_or_run_at_once(suite: Suite) -> None:
    user = make_user()
    first = submit(user, suite)
    submit(user, suite)
    with pytest.raises(QuotaExceeded, match="2 may do so at once"):
        submit(user, suite)
    submit(make_user(), suite)
    end(first)
    submit(user, suite)


def test_so_many_within_a_day_and_it_is_said_when_the_next_is_possible(suite: Suite) -> None:
    user = make_user()
    for hours in (20, 10, 5):
        submission = submit(user, suite)
        end(submission)
        Submission.objects.filter(pk=submission.pk).update(created_at=timezone.now() - timedelta(hours=hours))
    possible = timezone.now() + timedelta(hours=4)
    with pytest.raises(QuotaExceeded, match=f"again from {possible:%d %B}, "):
        submit(user, suite)
    Submission.objects.filter(created_at__lt=timezone.now() - timedelta(hours=15)).update(
        created_at=timezone.now() - timedelta(hours=25)
    )
    submit(user, suite)


@pytest.mark.parametrize(("kind", "is_refunded"), [("infrastructure", True), ("data", True), ("model", False)])
def test_what_was_not_their_fault_is_refunded(suite: Suite, kind: str, *, is_refunded: bool) -> None:
    user = make_user()
    for _ in range(3):
        end(submit(user, suite), kind=kind)
    if is_refunded:
        submit(user, suite)
        return
    with pytest.raises(QuotaExceeded):
        submit(user, suite)


@pytest.mark.parametrize("was_started", [True, False])
def test_what_was_withdrawn_before_it_cost_anything_is_refunded(suite: Suite, *, was_started: bool) -> None:
    user = make_user()
    for _ in range(3):
        run = submit(user, suite).runs.get()
        if was_started:
            leases.run_next_claim(worker="w1")
        runs.run_cancel(run_id=run.pk, actor=user.username)
    if not was_started:
        submit(user, suite)
        return
    with pytest.raises(QuotaExceeded):
        submit(user, suite)


def test_administrators_have_no_limit_and_can_give_a_person_another(suite: Suite) -> None:
    staff, generous, barred = make_user(is_staff=True), make_user(), make_user()
    for _ in range(4):
        submit(staff, suite)
    User.objects.filter(pk=generous.pk).update(submissions_at_once=4, submissions_per_day=4)
    for _ in range(4):
        submit(generous, suite)
    with pytest.raises(QuotaExceeded):
        submit(generous, suite)
    User.objects.filter(pk=barred.pk).update(submissions_per_day=0)
    with pytest.raises(QuotaExceeded, match="Ask an administrator"):
        submit(barred, suite)
    assert Run.objects.filter(state=RunState.QUEUED).count() == 8
