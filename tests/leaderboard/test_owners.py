"""Claiming a repository: each way to prove it, each way that proves nothing, and what an owner can decide."""

from datetime import timedelta

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.exceptions import ClaimRefused
from leaderboard.models import EmbeddingModel, OwnerClaim, Run, User
from leaderboard.models.vocabulary import RunState
from leaderboard.services import ownership
from tests.factories import make_published_run, make_revision, make_run, make_suite
from tests.fakes import COMMIT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]

NAME = "lab/good"


def open_claim(client: Client, repo_id: str = NAME) -> OwnerClaim:
    response = client.post(reverse("owners"), {"repo_id": repo_id})
    assert response.status_code == 302, response.context["form"].errors
    return OwnerClaim.objects.get(pk=int(response["Location"].rstrip("/").rpartition("/")[2]))


def act(client: Client, claim: OwnerClaim, what: str) -> str:
    response = client.post(reverse("owner-claim-act", args=[claim.pk]), {"act": what}, follow=True)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def proven(submitter_client: Client) -> OwnerClaim:
    claim = open_claim(submitter_client)
    act(submitter_client, claim, "look")
    claim.refresh_from_db()
    return claim


# --- proofs


def test_the_line_in_the_repository_proves_a_claim(submitter_client: Client) -> None:
    claim = open_claim(submitter_client, f"https://huggingface.co/{NAME}")
    page = submitter_client.get(reverse("owner-claim", args=[claim.pk])).content.decode()
    assert f"medboard-owner: {claim.token}" in page
    assert "The line was found." in act(submitter_client, claim, "look")
    claim.refresh_from_db()
    assert (claim.proof, claim.commit) == ("model_card", COMMIT)


@pytest.mark.parametrize(
    ("repo_id", "words"), [("lab/broken", "main branch of lab/broken"), ("lab/nowhere", "does not exist")]
)
def test_without_the_line_nothing_is_proven(submitter_client: Client, repo_id: str, words: str) -> None:
    claim = open_claim(submitter_client, repo_id)
    assert words in act(submitter_client, claim, "look")
    claim.refresh_from_db()
    assert claim.proven_at is None


def connect(user: User, name: object, *, provider: str = "huggingface", ago: timedelta = timedelta(0)) -> None:
    account = SocialAccount.objects.create(
        user=user, provider=provider, uid="1", extra_data={"userinfo": {"preferred_username": name}}
    )
    SocialAccount.objects.filter(pk=account.pk).update(last_login=timezone.now() - ago)


def test_an_account_of_the_namespaces_name_proves_a_claim(submitter_client: Client, submitter: User) -> None:
    connect(submitter, "Lab")
    claim = open_claim(submitter_client)
    assert "is yours here" in act(submitter_client, claim, "account")
    claim.refresh_from_db()
    assert (claim.proof, claim.commit) == ("account", "")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("other", {}),
        ("lab", {"provider": "github"}),
        ("lab", {"ago": timedelta(minutes=31)}),
        ("", {}),
        (None, {}),
        (["lab"], {}),
        ("lab/good", {}),
    ],
)
def test_another_account_or_an_old_sign_in_does_not(
    submitter_client: Client, submitter: User, name: object, facts: dict[str, object]
) -> None:
    connect(submitter, name, **facts)
    claim = open_claim(submitter_client)
    act(submitter_client, claim, "account")
    claim.refresh_from_db()
    assert claim.proven_at is None


def test_somebody_elses_account_does_not(submitter_client: Client, stranger_client: Client, submitter: User) -> None:
    connect(submitter, "lab")
    claim = open_claim(stranger_client)
    assert "No account on the hub" in act(stranger_client, claim, "account")


def test_an_administrator_can_vouch_for_a_claim(submitter_client: Client, administrator_client: Client) -> None:
    claim = open_claim(submitter_client, "lab/broken")
    assert "lab/broken" in administrator_client.get(reverse("owners")).content.decode()
    act(administrator_client, claim, "accept")
    claim.refresh_from_db()
    assert claim.proof == "administrator"


# --- whose claim it is


@pytest.mark.parametrize("what", ["look", "show", "hide", "allow", "withdraw", "account"])
def test_only_the_claimant_acts_on_a_claim(
    proven: OwnerClaim, what: str, stranger_client: Client, administrator_client: Client
) -> None:
    address = reverse("owner-claim-act", args=[proven.pk])
    assert stranger_client.post(address, {"act": what}).status_code == 404
    assert administrator_client.post(address, {"act": what}).status_code == 403
    assert stranger_client.get(reverse("owner-claim", args=[proven.pk])).status_code == 404


def test_nobody_vouches_for_themselves(submitter_client: Client) -> None:
    claim = open_claim(submitter_client, "lab/broken")
    address = reverse("owner-claim-act", args=[claim.pk])
    assert submitter_client.post(address, {"act": "accept"}).status_code == 403
    assert submitter_client.post(address, {"act": "nonsense"}).status_code == 404
    assert submitter_client.post(address).status_code == 404


def test_an_unproven_claim_decides_nothing(submitter_client: Client) -> None:
    EmbeddingModel.objects.create(repo_id="lab/broken")
    claim = open_claim(submitter_client, "lab/broken")
    for what in ("hide", "show"):
        assert "Prove first" in act(submitter_client, claim, what)
    claim.refresh_from_db()
    assert not EmbeddingModel.objects.get().owner_opted_out
    assert not claim.is_shown


def test_a_claim_is_made_once_and_others_have_their_own_token(
    submitter_client: Client, stranger_client: Client
) -> None:
    first = open_claim(submitter_client)
    assert open_claim(submitter_client, "LAB/good") == first
    assert open_claim(stranger_client).token != first.token


def test_unproven_claims_are_bounded(submitter: User) -> None:
    for number in range(ownership.MOST_UNPROVEN):
        ownership.owner_claim_open(claimant=submitter, repo_id=f"lab/model{number}")
    with pytest.raises(ClaimRefused, match="not proven yet"):
        ownership.owner_claim_open(claimant=submitter, repo_id="lab/one-more")


@pytest.mark.parametrize("text", ["", "nonsense", "a/b/c", "../etc/passwd", "<script>/x", "x" * 10_000])
def test_what_names_no_repository_is_told(submitter_client: Client, text: str) -> None:
    response = submitter_client.post(reverse("owners"), {"repo_id": text})
    assert response.context["form"].errors["repo_id"]
    assert "<script>/" not in response.content.decode()
    assert not OwnerClaim.objects.exists()


# --- what an owner decides


def test_a_model_that_its_owner_withdraws_vanishes_and_its_runs_say_why(
    proven: OwnerClaim, submitter_client: Client
) -> None:
    suite = make_suite("one", n_tasks=2)
    published = make_published_run(suite=suite, revision=make_revision("LAB/good"))
    waiting = make_run(revision=published.revision, suite=make_suite("two", n_tasks=1))
    assert "Hidden." in act(submitter_client, proven, "hide")
    assert Client().get(reverse("model-detail", args=["LAB/good"])).status_code == 404
    for run in (published, waiting):
        assert Client().get(reverse("run-detail", args=[run.pk])).status_code == 404
    assert "LAB/good" not in Client().get(reverse("board-overall")).content.decode()
    assert "LAB/good" not in Client().get(reverse("queue")).content.decode()
    published.refresh_from_db()
    waiting.refresh_from_db()
    assert published.is_published, "it is hidden, not unpublished"
    assert waiting.state == RunState.CANCELLED
    for run in (published, waiting):
        event = run.events.last()
        assert (event.actor, event.reason) == ("submitter", "withdrawn by its owner")
    assert "Allowed again." in act(submitter_client, proven, "allow")
    assert Client().get(reverse("run-detail", args=[published.pk])).status_code == 200
    assert published.events.last().reason == "shown again at its owner's wish"


def test_an_owner_can_withdraw_what_nobody_has_submitted(proven: OwnerClaim, submitter_client: Client) -> None:
    act(submitter_client, proven, "hide")
    assert EmbeddingModel.objects.get(repo_id=NAME).owner_opted_out


def test_withdrawing_a_claim_leaves_the_wish(proven: OwnerClaim, submitter_client: Client) -> None:
    act(submitter_client, proven, "hide")
    act(submitter_client, proven, "withdraw")
    assert not OwnerClaim.objects.exists()
    assert EmbeddingModel.objects.get().owner_opted_out


def test_an_owner_can_be_named_on_the_models_page(proven: OwnerClaim, submitter_client: Client) -> None:
    make_published_run(suite=make_suite(n_tasks=1), revision=make_revision(NAME))
    page = reverse("model-detail", args=[NAME])
    assert "<dd>submitter</dd>" not in Client().get(page).content.decode()
    act(submitter_client, proven, "show")
    assert "<dt>Owner</dt><dd>submitter</dd>" in Client().get(page).content.decode()
    act(submitter_client, proven, "unname")
    text = Client().get(page).content.decode()
    assert "<dd>submitter</dd>" not in text
    assert f'<a href="/owners/?repo_id={NAME}">Is it yours?</a>' in text


def test_an_administrator_acts_in_an_owners_name(administrator_client: Client, stranger_client: Client) -> None:
    run = make_published_run(suite=make_suite(n_tasks=1), revision=make_revision(NAME))
    address = reverse("owner-wish")
    assert stranger_client.post(address, {"repo_id": NAME, "wish": "hide"}).status_code == 403
    administrator_client.post(address, {"repo_id": NAME, "wish": "hide"})
    assert EmbeddingModel.objects.get().owner_opted_out
    assert run.events.last().actor == "administrator"
    administrator_client.post(address, {"repo_id": NAME, "wish": "allow"})
    assert not EmbeddingModel.objects.get().owner_opted_out
    told = administrator_client.post(address, {"repo_id": "x", "wish": "hide"}, follow=True)
    assert "owner/name" in told.content.decode()
    assert administrator_client.post(address, {"repo_id": NAME, "wish": "x"}).status_code == 400
    assert Run.objects.get().is_published


def test_the_pages_ask_the_database_a_bounded_number_of_questions(
    proven: OwnerClaim, submitter_client: Client, administrator_client: Client, django_assert_max_num_queries: object
) -> None:
    for number in range(5):
        ownership.owner_claim_open(claimant=proven.claimant, repo_id=f"lab/model{number}")
    with django_assert_max_num_queries(5):
        administrator_client.get(reverse("owners"))
    with django_assert_max_num_queries(5):
        submitter_client.get(reverse("owner-claim", args=[proven.pk]))
