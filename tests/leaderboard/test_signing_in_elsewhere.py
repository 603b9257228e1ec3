"""Signing in with Hugging Face and GitHub, against a server on loopback that speaks their protocols."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from django.test import Client
from django.urls import reverse

from leaderboard.config.identity import identity_origins, identity_providers
from leaderboard.models import OwnerClaim, User
from tests.factories import make_user
from tests.leaderboard.conftest import signed_in
from tests.leaderboard.identity_server import CLIENT_ID, SECRET, IdentityServer, identity_server

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]

HUB_LOGIN = "/accounts/oidc/huggingface/login/"
GITHUB_LOGIN = "/accounts/github/login/"


@pytest.fixture(scope="module")
def servers() -> Iterator[IdentityServer]:
    with identity_server() as server:
        yield server


@pytest.fixture
def elsewhere(servers: IdentityServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> IdentityServer:
    """Both providers set up, and somebody who signs in there."""
    servers.person = {"sub": "1", "preferred_username": "lab", "email": "lab@example.org", "email_verified": True}
    servers.audience = CLIENT_ID
    servers.asked.clear()
    settings.SOCIALACCOUNT_PROVIDERS = identity_providers(
        hub=servers.address,
        huggingface=(CLIENT_ID, SECRET),
        github_url=servers.address,
        github=(CLIENT_ID, SECRET),
    )
    api = f"{servers.address}/api/v3"
    for name, address in {
        "access_token_url": f"{servers.address}/token",
        "authorize_url": f"{servers.address}/login/oauth/authorize",
        "profile_url": f"{api}/user",
        "emails_url": f"{api}/user/emails",
    }.items():
        monkeypatch.setattr(GitHubOAuth2Adapter, name, address)  # it reads the settings once, when it is imported
    return servers


def go(client: Client, address: str, **data: str) -> Any:
    """Press the button, sign in there, and come back; the answer to coming back."""
    there = client.post(address, data)
    assert there.status_code == 302, there.content
    back = requests.get(there["Location"], allow_redirects=False, timeout=10).headers["Location"]
    parts = urlsplit(back)
    return client.get(f"{parts.path}?{parts.query}", follow=True)


def test_without_set_up_there_is_no_button_and_no_address(client: Client) -> None:
    text = client.get(reverse("account_login")).content.decode()
    assert "elsewhere" not in text
    assert "Hugging Face" not in text
    for address in (HUB_LOGIN, GITHUB_LOGIN, f"{HUB_LOGIN}callback/", f"{GITHUB_LOGIN}callback/"):
        assert client.get(address).status_code == 404


@pytest.mark.parametrize("given", [("", ""), ("id", ""), ("", "secret")])
def test_half_a_set_up_is_none(given: tuple[str, str]) -> None:
    found = identity_providers(
        hub="https://h.example", huggingface=given, github_url="https://github.com", github=given
    )
    assert [found["openid_connect"]["APPS"], found["github"]["APPS"]] == [[], []]
    assert identity_origins(found) == []


def test_forms_may_lead_to_where_people_sign_in_and_nowhere_else() -> None:
    found = identity_providers(
        hub="https://hub.example/path", huggingface=("i", "s"), github_url="https://github.com", github=("i", "s")
    )
    assert identity_origins(found) == ["https://hub.example", "https://github.com"]
    assert "GITHUB_URL" not in found["github"], "github.com has its API on a host of its own"


def test_a_newcomer_signs_in_with_the_hub_and_chooses_a_name(client: Client, elsewhere: IdentityServer) -> None:
    text = client.get(reverse("account_login")).content.decode()
    assert "Sign in with Hugging Face" in text
    assert "Sign in with GitHub" in text
    form = go(client, HUB_LOGIN)
    assert 'class="mark"' in form.content.decode()
    assert "You are signed in with Hugging Face" in form.content.decode()
    client.post(reverse("socialaccount_signup"), {"username": "lab", "email": "lab@example.org"})
    user = User.objects.get()
    assert (user.username, user.has_usable_password()) == ("lab", False)
    assert EmailAddress.objects.get(user=user).verified
    assert client.get(reverse("account")).status_code == 200
    assert not SocialToken.objects.exists(), "nothing that opens an account elsewhere is kept"
    assert "/userinfo" in elsewhere.asked


def test_who_comes_again_is_signed_in_at_once(client: Client, elsewhere: IdentityServer) -> None:
    go(client, HUB_LOGIN)
    client.post(reverse("socialaccount_signup"), {"username": "lab", "email": "lab@example.org"})
    again = Client()
    go(again, HUB_LOGIN)
    assert again.get(reverse("account")).status_code == 200
    assert User.objects.count() == 1


def test_an_account_of_the_same_address_is_not_taken_over(client: Client, elsewhere: IdentityServer) -> None:
    """The hub says that the address is verified; still nobody gets into an account here by it."""
    victim = make_user("victim")
    EmailAddress.objects.create(user=victim, email="lab@example.org", verified=True, primary=True)
    go(client, HUB_LOGIN)
    assert client.get(reverse("account")).status_code == 302
    client.post(reverse("socialaccount_signup"), {"username": "lab", "email": "lab@example.org"})
    assert not SocialAccount.objects.filter(user=victim).exists()


def test_a_hostile_name_from_elsewhere_does_no_harm(client: Client, elsewhere: IdentityServer) -> None:
    elsewhere.person |= {"preferred_username": "<script>alert(1)</script>\u202e", "name": "x" * 10_000}
    text = go(client, HUB_LOGIN).content.decode()
    assert "<script>alert" not in text
    response = client.post(reverse("socialaccount_signup"), {"username": "deleted-0", "email": "lab@example.org"})
    assert "username" in response.context["form"].errors
    assert not User.objects.exists()


def test_a_token_for_another_site_is_refused(client: Client, elsewhere: IdentityServer) -> None:
    elsewhere.audience = "another-site"
    text = go(client, HUB_LOGIN).content.decode()
    assert "Signing in did not work" in text
    assert not SocialAccount.objects.exists()


def test_an_answer_that_was_not_asked_for_is_refused(client: Client, elsewhere: IdentityServer) -> None:
    text = client.get(f"{HUB_LOGIN}callback/?code=made-up&state=made-up").content.decode()
    assert "Signing in did not work" in text
    assert elsewhere.asked == []


def test_who_stops_there_is_told(client: Client, elsewhere: IdentityServer) -> None:
    state = parse_qs(urlsplit(client.post(HUB_LOGIN)["Location"]).query)["state"][0]
    response = client.get(f"{HUB_LOGIN}callback/?error=access_denied&state={state}", follow=True)
    assert "Not signed in" in response.content.decode()


def test_a_link_alone_begins_nothing(client: Client, elsewhere: IdentityServer) -> None:
    """Otherwise any page could sign a visitor in by a picture's address."""
    text = client.get(HUB_LOGIN).content.decode()
    assert "Sign in with Hugging Face" in text
    assert 'method="post"' in text


def test_github_works_too(client: Client, elsewhere: IdentityServer) -> None:
    go(client, GITHUB_LOGIN)
    client.post(reverse("socialaccount_signup"), {"username": "octo", "email": "octo@example.org"})
    account = SocialAccount.objects.get()
    assert (account.provider, account.uid, account.user.username) == ("github", "7", "octo")


def test_a_connected_account_proves_what_is_in_its_namespace(elsewhere: IdentityServer) -> None:
    user = make_user("somebody")
    client = signed_in(user)
    page = client.get(reverse("socialaccount_connections")).content.decode()
    assert "No account elsewhere is connected" in page
    go(client, HUB_LOGIN + "?process=connect")
    assert SocialAccount.objects.get().user == user
    assert "You can sign in with any of these." in client.get(reverse("socialaccount_connections")).content.decode()
    for repo_id in ("LAB/good", "other/good"):
        client.post(reverse("owners"), {"repo_id": repo_id})
        claim = OwnerClaim.objects.get(repo_id=repo_id)
        client.post(reverse("owner-claim-act", args=[claim.pk]), {"act": "account"})
    assert dict(OwnerClaim.objects.values_list("repo_id", "proof")) == {"LAB/good": "account", "other/good": ""}
