"""Signing up, in and out, and passwords, in the look of the site."""

import re

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from leaderboard.models import User
from tests.factories import make_user

pytestmark = pytest.mark.django_db

PASSWORD = "correct-horse-battery"


def sign_up(client: Client, **changes: str) -> object:
    data = {"username": "newcomer", "email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD, **changes}
    return client.post(reverse("account_signup"), data)


def test_a_newcomer_signs_up_and_is_signed_in(client: Client) -> None:
    response = sign_up(client)
    assert response.status_code == 302
    assert client.get(reverse("submit")).status_code == 200
    assert not User.objects.get().is_staff


def test_signing_up_leads_on_to_where_one_wanted_to_go(client: Client) -> None:
    login = client.get(reverse("submit"), follow=True).content.decode()
    assert re.search(r'href="/accounts/signup/\?next=(/|%2F)submit', login)
    assert sign_up(client, next="/submit/")["Location"] == "/submit/"


def test_problems_stand_at_their_fields(client: Client) -> None:
    text = sign_up(client, username="a<b>", password2="something else").content.decode()
    assert 'class="problem"' in text
    assert "a<b>" not in text


def test_a_wrong_password_is_refused(client: Client) -> None:
    make_user("somebody", password=PASSWORD)
    response = client.post(reverse("account_login"), {"login": "somebody", "password": "wrong"})
    assert 'class="notice error"' in response.content.decode()
    assert client.post(reverse("account_login"), {"login": "somebody", "password": PASSWORD}).status_code == 302


def test_a_forgotten_password_is_replaced_through_the_link(client: Client) -> None:
    user = make_user("somebody")
    user.email = "somebody@example.org"
    user.save()
    client.post(reverse("account_reset_password"), {"email": user.email})
    (message,) = mail.outbox
    link = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", message.body)
    form = client.get(link[1], follow=True)
    assert "Choose a new password" in form.content.decode()
    client.post(form.redirect_chain[-1][0], {"password1": PASSWORD, "password2": PASSWORD})
    assert client.login(username="somebody", password=PASSWORD)
    assert "does not work any more" in Client().get(link[1], follow=True).content.decode()


@pytest.mark.parametrize(
    "name",
    ["account_login", "account_signup", "account_reset_password", "account_reset_password_done", "account_inactive",
     "account_reset_password_from_key_done", "account_email_verification_sent", "socialaccount_login_cancelled",
     "socialaccount_login_error"],
)  # fmt: skip
def test_pages_for_everybody_have_the_sites_look(name: str, client: Client) -> None:
    text = client.get(reverse(name)).content.decode()
    assert 'class="mark"' in text
    assert text.count("<h1>") == 1


@pytest.mark.parametrize(
    "name",
    [
        "account_logout",
        "account_change_password",
        "account_email",
        "account_reauthenticate",
        "socialaccount_connections",
    ],
)
def test_pages_of_an_account_have_the_sites_look(name: str, submitter_client: Client) -> None:
    text = submitter_client.get(reverse(name)).content.decode()
    assert 'class="mark"' in text
    assert text.count("<h1>") == 1


def test_no_page_of_ours_has_inline_scripts_or_styles(submitter_client: Client) -> None:
    for name in ["account_change_password", "account_logout", "submit", "queue"]:
        text = submitter_client.get(reverse(name)).content.decode()
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text)
