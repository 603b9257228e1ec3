"""A person's own account: its page, its export, its end; verified addresses; and limits of signing in."""

import json
import re
import threading

import pytest
import redis
from django.conf import settings as project_settings
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.exceptions import TransitionRefused
from leaderboard.models import (
    Delivery,
    EmbeddingModel,
    NotificationSettings,
    OwnerClaim,
    Run,
    RunEvent,
    Submission,
    User,
)
from leaderboard.models.vocabulary import ApiScope, RunState
from leaderboard.services.accounts import account_delete
from leaderboard.services.api_tokens import api_token_create
from tests.factories import make_published_run, make_revision, make_run, make_suite, make_user
from tests.leaderboard.conftest import signed_in

pytestmark = pytest.mark.django_db

PASSWORD = "a-long-passphrase"


@pytest.fixture(autouse=True)
def no_attempts_before() -> None:
    """Forget what other tests counted in the cache that all processes share."""
    with redis.Redis.from_url(project_settings.REDIS_URL) as client:
        for key in client.scan_iter(f"{project_settings.CACHES['default']['KEY_PREFIX']}:*"):
            client.delete(key)


def submitted(run: Run, user: User, *, is_private: bool = False) -> Submission:
    submission = Submission.objects.create(
        revision=run.revision, suite=run.suite, submitter=user, is_private=is_private, closed_at=timezone.now()
    )
    Run.objects.filter(pk=run.pk).update(submission=submission, requested_by=user)
    RunEvent.objects.create(run=run, to_state="queued", actor=user.username)
    return submission


@pytest.fixture
def public(submitter: User) -> Run:
    run = make_published_run(suite=make_suite("one", n_tasks=2), revision=make_revision("lab/public"))
    submitted(run, submitter)
    return run


@pytest.fixture
def private(submitter: User) -> Run:
    run = make_run(suite=make_suite("two", n_tasks=2), revision=make_revision("lab/secret"), state=RunState.SUCCEEDED)
    submitted(run, submitter, is_private=True)
    return run


# --- page and export


def test_the_page_leads_everywhere(submitter_client: Client, django_assert_max_num_queries: object) -> None:
    with django_assert_max_num_queries(3):
        text = submitter_client.get(reverse("account")).content.decode()
    for name in ("account_change_password", "account_email", "account-export", "account-deletion", "owners"):
        assert reverse(name) in text
    assert reverse("socialaccount_connections") not in text, "no provider is set up"
    assert reverse("training-data") not in text


def test_the_export_holds_what_is_stored_and_nobody_elses(
    submitter: User, submitter_client: Client, public: Run, private: Run, django_assert_max_num_queries: object
) -> None:
    submitter.email = "me@example.org"
    submitter.save()
    OwnerClaim.objects.create(repo_id="lab/public", claimant=submitter, token="t")
    submitted(make_published_run(suite=make_suite("three", n_tasks=1)), make_user("other"))
    api_token_create(user=submitter, name="laptop", scopes=[ApiScope.READ], days=30)
    with django_assert_max_num_queries(14):
        response = submitter_client.get(reverse("account-export"))
    assert response["Content-Disposition"].startswith("attachment")
    data = json.loads(response.content)
    assert data["account"]["email"] == "me@example.org"
    assert "password" not in data["account"]
    assert {(one["model"], one["is_private"]) for one in data["submissions"]} == {
        ("lab/public", False),
        ("lab/secret", True),
    }
    (exported,) = next(one["runs"] for one in data["submissions"] if one["model"] == "lab/public")
    assert [(score["metric"], score["value"]) for score in exported["scores"]] == [("hit@1", 0.5)] * 2
    assert data["claims"][0]["repo_id"] == "lab/public"
    assert {one["run_id"] for one in data["acts"]} == {str(public.pk), str(private.pk)}
    assert [(one["kind"], one["subject"]) for one in data["log"]] == [("token_create", "laptop of submitter")]


def test_strangers_get_nothing(client: Client) -> None:
    for name in ("account", "account-export", "account-deletion"):
        assert client.get(reverse(name))["Location"].startswith(reverse("account_login"))


# --- the end


def test_deleting_keeps_what_is_public_without_a_name(
    submitter: User, submitter_client: Client, public: Run, private: Run
) -> None:
    submitter.email = "me@example.org"
    submitter.save()
    NotificationSettings.objects.create(user=submitter)
    OwnerClaim.objects.create(repo_id="lab/public", claimant=submitter, token="t")
    Delivery.objects.create(
        run=public, recipient=submitter, channel="email", outcome="succeeded", address="me@example.org", content={},
        next_attempt_at=timezone.now(),
    )  # fmt: skip
    elsewhere = signed_in(submitter)
    response = submitter_client.post(
        reverse("account-deletion"), {"username": "submitter", "password": PASSWORD}, follow=True
    )
    assert "Your account is deleted." in response.content.decode()
    person = User.objects.get(pk=submitter.pk)
    assert re.fullmatch(r"deleted-[0-9a-f]{12}", person.username)
    assert (person.email, person.is_active, person.has_usable_password()) == ("", False, False)
    assert not Delivery.objects.exists()
    assert not OwnerClaim.objects.exists()
    assert not NotificationSettings.objects.exists()
    public.refresh_from_db()
    assert public.is_published
    assert not Run.objects.filter(pk=private.pk).exists()
    assert [submission.revision.model.repo_id for submission in Submission.objects.all()] == ["lab/public"]
    assert not EmbeddingModel.objects.filter(repo_id="lab/secret").exists()
    assert not RunEvent.objects.filter(actor="submitter").exists()
    page = Client().get(reverse("run-detail", args=[public.pk])).content.decode()
    assert person.username in page
    assert "submitter" not in page.replace("resubmitter", "")
    assert elsewhere.get(reverse("account")).status_code == 302, "signed out everywhere"
    assert not Client().login(username="submitter", password=PASSWORD)
    assert not Client().login(username=person.username, password=PASSWORD)


def test_a_private_model_that_others_submitted_too_stays(submitter: User, private: Run) -> None:
    other = make_run(revision=private.revision, suite=make_suite("four", n_tasks=1), state=RunState.SUCCEEDED)
    submitted(other, make_user("other"))
    account_delete(user=submitter)
    assert Run.objects.get() == other


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"username": "Submitter", "password": PASSWORD}, "username"),
        ({"username": "submitter", "password": "wrong"}, "password"),
        ({"username": "submitter"}, "password"),
        ({"username": "submitter", "password": "x" * 10_000}, "password"),
    ],
)
def test_it_has_to_be_meant(submitter_client: Client, data: dict[str, str], field: str) -> None:
    response = submitter_client.post(reverse("account-deletion"), data)
    assert list(response.context["form"].errors) == [field]
    assert User.objects.filter(username="submitter", is_active=True).exists()


def test_without_a_password_the_name_is_enough(submitter: User) -> None:
    submitter.set_unusable_password()
    submitter.save()
    client = signed_in(submitter)
    assert "Password" not in client.get(reverse("account-deletion")).content.decode()
    client.post(reverse("account-deletion"), {"username": "submitter"})
    assert not User.objects.get(pk=submitter.pk).is_active


def test_what_runs_has_to_end_first(submitter: User, submitter_client: Client) -> None:
    submitted(make_run(suite=make_suite(n_tasks=1), state=RunState.RUNNING), submitter)
    response = submitter_client.post(reverse("account-deletion"), {"username": "submitter", "password": PASSWORD})
    assert "Cancel them" in response.content.decode()
    assert User.objects.get(pk=submitter.pk).is_active


def test_an_administrators_account_is_not_deleted(administrator: User) -> None:
    with pytest.raises(TransitionRefused, match="administrator"):
        account_delete(user=administrator)


def test_nobody_takes_the_name_of_the_deleted_or_of_the_board(client: Client) -> None:
    for name in ("deleted-0123456789ab", "DELETED-x", "reaper", "Reaper"):
        data = {"username": name, "password1": "correct-horse-battery", "password2": "correct-horse-battery"}
        assert "username" in client.post(reverse("account_signup"), data).context["form"].errors
    assert not User.objects.exists()


# --- limits of signing in, in the cache that all processes share


def attempt(client: Client, password: str, **headers: str) -> object:
    return client.post(reverse("account_login"), {"login": "somebody", "password": password}, headers=headers)


def test_guessing_a_password_ends_soon_even_with_the_right_one(client: Client) -> None:
    make_user("somebody", password=PASSWORD)
    for _ in range(5):
        assert "not correct" in attempt(client, "wrong").content.decode()
    assert "Too many failed login attempts" in attempt(client, PASSWORD).content.decode()
    assert "_auth_user_id" not in client.session
    with redis.Redis.from_url(project_settings.REDIS_URL) as broker:
        prefix = project_settings.CACHES["default"]["KEY_PREFIX"]
        assert list(broker.scan_iter(f"{prefix}:*login_failed*")), "counted where other processes see it"


def test_attempts_are_counted_by_address_too(client: Client) -> None:
    data = {"password": "wrong"}
    statuses = [
        client.post(reverse("account_login"), {**data, "login": f"person{number}"}).status_code for number in range(31)
    ]
    assert statuses[:10] == [200] * 10
    assert statuses[-1] == 429


def test_a_made_up_header_gives_no_new_address(client: Client) -> None:
    make_user("somebody", password=PASSWORD)
    for number in range(5):
        attempt(client, "wrong", X_Forwarded_For=f"10.0.0.{number}")
    assert "Too many failed login attempts" in attempt(client, PASSWORD, X_Forwarded_For="10.9.9.9").content.decode()


def test_without_the_cache_server_people_sign_in_and_guessing_is_limited(client: Client, settings: object) -> None:
    away = {**project_settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:9/0"}
    settings.CACHES = {"default": away}
    make_user("somebody", password=PASSWORD)
    make_user("other", password=PASSWORD)
    client.post(reverse("account_login"), {"login": "other", "password": PASSWORD})
    assert client.get(reverse("account")).status_code == 200
    guessing = Client()
    for _ in range(5):
        attempt(guessing, "wrong")
    assert "Too many failed login attempts" in attempt(guessing, PASSWORD).content.decode()


def test_guessing_at_the_deletion_ends_too(submitter_client: Client) -> None:
    data = {"username": "submitter", "password": "wrong"}
    statuses = [submitter_client.post(reverse("account-deletion"), data).status_code for _ in range(11)]
    assert statuses == [200] * 10 + [429]


def test_attempts_at_once_are_all_counted() -> None:
    """Ten threads at once: were counts read and written without a lock, most would be lost."""
    cache.delete("probe")
    from allauth.core.internal.ratelimit import cache_lock

    def count() -> None:
        with cache_lock("probe") as locked:
            assert locked
            cache.set("probe", cache.get("probe", 0) + 1, 60)

    threads = [threading.Thread(target=count) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get("probe") == 10


# --- verified addresses


@pytest.fixture
def verifying(settings: object) -> None:
    """As where messages really go out."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]


@pytest.mark.usefixtures("verifying")
def test_an_address_has_to_be_verified_before_the_first_sign_in(client: Client) -> None:
    data = {
        "username": "newcomer", "email": "new@example.org", "password1": "correct-horse-battery",
        "password2": "correct-horse-battery",
    }  # fmt: skip
    assert "Verify your address" in client.post(reverse("account_signup"), data, follow=True).content.decode()
    assert client.get(reverse("submit")).status_code == 302
    (message,) = mail.outbox
    assert message.subject == "Verify your address for MedBoard"
    link = re.search(r"http://testserver(/accounts/confirm-email/\S+)", message.body)
    assert "Is new@example.org the address of newcomer?" in client.get(link[1]).content.decode()
    assert "is verified" in client.post(link[1], follow=True).content.decode()
    sign_in = {"login": "newcomer", "password": "correct-horse-battery"}
    assert client.post(reverse("account_login"), sign_in).status_code == 302
    assert client.get(reverse("submit")).status_code == 200


@pytest.mark.usefixtures("verifying")
def test_an_account_without_an_address_can_still_sign_in(client: Client) -> None:
    make_user("somebody", password=PASSWORD)
    attempt(client, PASSWORD)
    assert client.get(reverse("account")).status_code == 200


@pytest.mark.usefixtures("verifying")
def test_an_address_is_required_then(client: Client) -> None:
    data = {"username": "a", "password1": "correct-horse-battery", "password2": "correct-horse-battery"}
    assert "email" in client.post(reverse("account_signup"), data).context["form"].errors
