"""API tokens: shown once, stored as a hash, good for what was ticked, until a day or until revoked."""

import hashlib
import re
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from leaderboard.exceptions import TokenLimitReached
from leaderboard.models import Act, ApiToken, User
from leaderboard.models.vocabulary import ApiScope
from leaderboard.services.accounts import account_delete
from leaderboard.services.api_tokens import (
    MAX_TOKENS,
    api_token_create,
    api_token_revoke,
    api_token_use,
    api_tokens_expire,
)
from tests.factories import make_user
from tests.leaderboard.api_requests import API, get, with_token
from tests.leaderboard.pages import blocked_by_policy, tables, wrongly_nested
from workers.tasks import reap

pytestmark = pytest.mark.django_db

PAGE = "/account/tokens/"


def make(user: User, **changes: object) -> tuple[ApiToken, str]:
    new = api_token_create(**{"user": user, "name": "laptop", "scopes": [ApiScope.READ], "days": 30, **changes})
    return new.token, new.secret


def test_the_page_shows_a_new_token_once_and_stores_its_hash_alone(submitter_client: Client, submitter: User) -> None:
    answer = submitter_client.post(PAGE, {"name": "laptop", "scopes": ["read", "submit"], "days": "365"})
    assert "no-store" in answer["Cache-Control"]
    html = answer.content.decode()
    (secret,) = re.findall(r"mb_[A-Za-z0-9_-]{43}", html)
    token = ApiToken.objects.get()
    assert token.secret_sha256 == hashlib.sha256(secret.encode()).hexdigest()
    assert (token.user, token.scopes, token.prefix) == (submitter, ["read", "submit"], secret[:9])
    assert token.expires_at - token.created_at == pytest.approx(timedelta(days=365), abs=timedelta(minutes=1))
    again = submitter_client.get(PAGE).content.decode()
    assert secret not in again
    assert tables(again)[0][1][:3] == [f"laptop|{secret[:9]}…", "Read what its owner can see; Submit models and cancel submissions", "Works"]  # fmt: skip
    for page in (html, again):
        assert blocked_by_policy(page) == wrongly_nested(page) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "This field is required."), ({"name": "x" * 81}, "at most 80 characters"),
        ({"scopes": []}, "Choose at least one thing"), ({"scopes": ["admin"]}, "Select a valid choice"),
        ({"days": "10000"}, "Select a valid choice"),
    ],
)  # fmt: skip
def test_a_form_that_cannot_be_understood_makes_no_token(
    changes: dict[str, object], words: str, submitter_client: Client
) -> None:
    fields = {"name": "laptop", "scopes": ["read"], "days": "30", **changes}
    assert words in submitter_client.post(PAGE, fields).content.decode()
    assert not ApiToken.objects.exists()


def test_a_name_is_shown_as_text(submitter_client: Client) -> None:
    name = "<script>alert(1)</script>\u202e"
    submitter_client.post(PAGE, {"name": name, "scopes": ["read"], "days": "30"})
    html = submitter_client.get(PAGE).content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_a_token_answers_until_it_is_revoked(submitter_client: Client, submitter: User) -> None:
    token, secret = make(submitter)
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    assert get(program, "/submissions")["items"] == []
    answer = submitter_client.post(f"{PAGE}{token.pk}/revoke/", follow=True)
    assert "Revoked “laptop”." in answer.content.decode()
    assert get(program, "/submissions", status=401)["code"] == "token_invalid"
    assert tables(submitter_client.get(PAGE).content.decode())[0][1][2] == "Revoked"
    assert submitter_client.post(f"{PAGE}{token.pk}/revoke/").status_code == 404


def test_nobody_revokes_or_sees_anothers_token(submitter: User, administrator_client: Client) -> None:
    token, secret = make(submitter, name="a laptop of mine")
    assert administrator_client.post(f"{PAGE}{token.pk}/revoke/").status_code == 404
    assert "a laptop of mine" not in administrator_client.get(PAGE).content.decode()
    assert api_token_use(secret) == token


def test_what_expired_or_belongs_to_a_closed_account_does_not_work(submitter: User) -> None:
    token, secret = make(submitter)
    made = timezone.now() - timedelta(days=2)
    ApiToken.objects.filter(pk=token.pk).update(created_at=made, expires_at=made + timedelta(days=1))
    assert api_token_use(secret) is None
    _, other = make(submitter)
    User.objects.filter(pk=submitter.pk).update(is_active=False)
    assert api_token_use(other) is None


@pytest.mark.parametrize(
    "header",
    ["Bearer mb_wrong", "Bearer", "Bearer ", "Basic bWI6bWI=", "mb_wrong", "Bearer \x00", "Bearer " + "é" * 20],
)
def test_a_wrong_token_is_refused_even_where_none_is_needed(header: str) -> None:
    answer = Client().get(f"{API}/models", headers={"Authorization": header})
    assert (answer.status_code, answer.json()["code"]) == (401, "token_invalid")
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer["Cache-Control"] == "no-store"


def test_the_day_of_use_is_noted_and_nothing_finer(submitter: User) -> None:
    token, secret = make(submitter)
    assert token.last_used_on is None
    api_token_use(secret)
    token.refresh_from_db()
    assert token.last_used_on == timezone.now().date()


def test_a_token_without_a_scope_says_which_is_missing(submitter: User) -> None:
    refused = get(with_token(submitter, ApiScope.SUBMIT), "/models", status=403)
    assert refused["code"] == "scope_missing"
    assert "'read'" in refused["message"]


def test_a_person_has_a_bounded_number_of_tokens_that_work(submitter: User, submitter_client: Client) -> None:
    tokens = [make(submitter)[0] for _ in range(MAX_TOKENS)]
    with pytest.raises(TokenLimitReached):
        make(submitter)
    assert "that is the limit" in submitter_client.post(
        PAGE, {"name": "one more", "scopes": ["read"], "days": "30"}
    ).content.decode()  # fmt: skip
    api_token_revoke(user=submitter, token_id=tokens[0].pk)
    make(submitter)
    make(make_user())


def test_the_page_and_revoking_are_for_people_who_are_signed_in(submitter: User) -> None:
    token, _ = make(submitter)
    assert Client().get(PAGE)["Location"].startswith("/accounts/login/")
    assert Client().post(f"{PAGE}{token.pk}/revoke/")["Location"].startswith("/accounts/login/")
    assert Client().get(f"{PAGE}{token.pk}/revoke/").status_code == 405


def test_the_secret_is_in_no_log(submitter_client: Client, caplog: pytest.LogCaptureFixture) -> None:
    html = submitter_client.post(PAGE, {"name": "laptop", "scopes": ["read"], "days": "30"}).content.decode()
    (secret,) = re.findall(r"mb_[A-Za-z0-9_-]{43}", html)
    Client(headers={"Authorization": f"Bearer {secret}"}).get(f"{API}/nothing")
    Client(headers={"Authorization": f"Bearer {secret}x"}).get(f"{API}/models")
    assert secret not in caplog.text


def log(token: ApiToken) -> list[tuple[str, str]]:
    """Who did what to a token, the oldest first."""
    lines = Act.objects.filter(details__beginning=token.prefix).order_by("pk")
    assert {line.subject for line in lines} <= {f"{token.name} of {token.user.username}"}
    return [(line.kind, line.actor) for line in lines]


def expire(token: ApiToken) -> None:
    made = timezone.now() - timedelta(days=2)
    ApiToken.objects.filter(pk=token.pk).update(created_at=made, expires_at=made + timedelta(days=1))


def test_the_log_says_when_a_token_is_made_first_used_and_revoked(submitter_client: Client, submitter: User) -> None:
    submitter_client.post(PAGE, {"name": "laptop", "scopes": ["read", "submit"], "days": "30"})
    token = ApiToken.objects.get()
    assert log(token) == [("token_create", "submitter")]
    (line,) = Act.objects.all()
    assert line.details["scopes"] == ["read", "submit"]
    assert line.details["expires_at"] == f"{token.expires_at:%Y-%m-%d %H:%M} UTC"
    submitter_client.post(f"{PAGE}{token.pk}/revoke/")
    submitter_client.post(f"{PAGE}{token.pk}/revoke/")
    assert log(token) == [("token_create", "submitter"), ("token_revoke", "submitter")], "once each"


def test_only_the_first_use_of_all_is_in_the_log(submitter: User) -> None:
    token, secret = make(submitter)
    api_token_use(secret)
    api_token_use(secret)
    ApiToken.objects.filter(pk=token.pk).update(last_used_on=timezone.now().date() - timedelta(days=3))
    api_token_use(secret)
    assert log(token) == [("token_create", "submitter"), ("token_use", "submitter")]


def test_the_log_says_once_that_a_token_has_expired(submitter: User) -> None:
    lasting, (expired, _) = make(submitter, name="other")[0], make(submitter)
    revoked, _ = make(submitter, name="third")
    expire(expired)
    api_token_revoke(user=submitter, token_id=revoked.pk)
    expire(revoked)
    reap()
    assert api_tokens_expire() == 0
    assert log(expired) == [("token_create", "submitter"), ("token_expire", "reaper")]
    assert log(lasting) == [("token_create", "submitter")]
    assert log(revoked)[-1] == ("token_revoke", "submitter"), "what is revoked does not expire"


def test_an_act_and_what_it_tells_of_stand_or_fall_together(submitter: User, monkeypatch: pytest.MonkeyPatch) -> None:
    token, secret = make(submitter)
    expired, _ = make(submitter, name="old")
    expire(expired)

    def fail(**_act: object) -> None:
        raise DatabaseError("the log cannot be written")

    monkeypatch.setattr("leaderboard.services.api_tokens.act_record", fail)
    for act in (
        lambda: make(submitter, name="new"),
        lambda: api_token_use(secret),
        lambda: api_token_revoke(user=submitter, token_id=token.pk),
        api_tokens_expire,
    ):
        with pytest.raises(DatabaseError):
            act()
    assert set(ApiToken.objects.values_list("name", "last_used_on", "revoked_at", "is_expiry_recorded")) == {
        ("laptop", None, None, False),
        ("old", None, None, False),
    }


def test_closing_an_account_revokes_its_tokens(submitter: User) -> None:
    token, secret = make(submitter)
    account_delete(user=submitter)
    assert api_token_use(secret) is None
    lines = Act.objects.filter(details__beginning=token.prefix).order_by("pk").values_list("kind", "actor")
    assert list(lines) == [("token_create", "submitter"), ("token_revoke", "submitter")]
