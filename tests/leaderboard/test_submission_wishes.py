"""What a submitter chooses besides model and suite: how to encode, and what is said of training data."""

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.exceptions import OwnerOptedOut, SuiteInapplicable, TrainingDataUnknown
from leaderboard.models import EmbeddingModel, Run, Submission, Suite, User
from leaderboard.models.vocabulary import Modality, TrainingDataStatement
from leaderboard.ports import model_hub
from leaderboard.selectors.applicability import applicability
from leaderboard.services.submissions import Wishes, submission_create, submissions_create
from tests.factories import make_cell, make_suite, make_task
from tests.fakes import SHA256

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]


@pytest.fixture
def suite() -> Suite:
    return make_suite("medheb-mini", n_tasks=2)


@pytest.fixture
def probes() -> Suite:
    suite = Suite.objects.create(slug="medtec-mini", version="1", title="Probes", kind="probing", synthetic=False)
    make_cell(suite)
    return suite


def post(client: Client, *suites: Suite, **changes: object) -> object:
    slugs = [suite.slug for suite in suites]
    return client.post(reverse("submit"), {"repo_id": "lab/good", "suite": slugs, "action": "submit", **changes})


# --- encode config


def test_the_ways_to_encode_are_offered_once_the_family_is_known(submitter_client: Client, suite: Suite) -> None:
    assert 'name="encode_config"' not in submitter_client.get(reverse("submit")).content.decode()
    text = post(submitter_client, suite, action="check").content.decode()
    assert '<option value="" selected>default (the authors&#x27; own)</option>' in text
    assert '<option value="letters-as-given">letters-as-given: small letters: no</option>' in text


def test_the_default_needs_no_digest_and_another_has_its_own(submitter_client: Client, suite: Suite) -> None:
    post(submitter_client, suite)
    post(submitter_client, suite, encode_config="letters-as-given")
    assert set(Submission.objects.values_list("revision__encode_config_sha256", flat=True)) == {"", SHA256}
    text = post(submitter_client, suite, encode_config="letters-as-given").content.decode()
    assert "being evaluated on this suite right now" in text
    assert Run.objects.count() == 2


@pytest.mark.parametrize("name", ["no-such", "<script>alert(1)</script>"])
def test_an_unknown_config_is_refused_not_replaced(submitter_client: Client, suite: Suite, name: str) -> None:
    response = post(submitter_client, suite, encode_config=name)
    assert response.context["form"].errors["encode_config"]
    assert "<script>alert" not in response.content.decode()
    assert not Submission.objects.exists()


# --- what applies


def test_a_model_of_texts_gets_no_probing_run(submitter_client: Client, suite: Suite, probes: Suite) -> None:
    make_task(suite, position=9, pairing_type="text_text", evidence_form="text")
    text = post(submitter_client, suite, probes, repo_id="lab/texts", action="check").content.decode()
    assert "Probes does not apply: none of its 1 tasks can be asked" in text
    assert "1 of 3 tasks apply to what this model reads" in text
    assert "Ready to submit" in text
    post(submitter_client, suite, probes, repo_id="lab/texts")
    assert [run.suite for run in Run.objects.all()] == [suite]


def test_where_nothing_applies_nothing_is_queued(submitter_client: Client, submitter: User, probes: Suite) -> None:
    text = post(submitter_client, probes, repo_id="lab/texts").content.decode()
    assert "Nothing to run" in text
    assert "Ready to submit" not in text
    report = model_hub().preflight(repo_id="lab/texts")
    with pytest.raises(SuiteInapplicable, match="does not apply"):
        submissions_create(submitter=submitter, report=report, suites=[probes])
    with pytest.raises(SuiteInapplicable, match="does not apply"):
        submission_create(submitter=submitter, report=report, suite=probes)
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("reads", "n_retrieval", "n_probing"),
    [
        (("text",), 1, 0),
        (("image",), 1, 0),
        (("volume",), 1, 0),
        (("text", "image"), 3, 1),
        (("text", "volume"), 3, 1),
        (("text", "image", "images", "volume"), 5, 2),
    ],
)
def test_a_task_needs_all_that_it_consists_of(
    probes: Suite, reads: tuple[str, ...], n_retrieval: int, n_probing: int
) -> None:
    suite = Suite.objects.create(slug="s", version="1", title="S", synthetic=False)
    kinds = [
        ("text_text", "text"), ("image_image", "image_2d"), ("image_text", "image_2d"), ("image_text", "volume_3d"),
        ("modality_bridging", "volume_3d"),
    ]  # fmt: skip
    for position, (pairing, form) in enumerate(kinds):
        make_task(suite, position=position, pairing_type=pairing, evidence_form=form)
    make_task(suite, position=7, pairing_type="text_text", is_installed=False)
    make_cell(probes, position=1, modality=Modality.ABDOMINAL_CT)
    found = applicability([suite, probes], reads=reads)
    assert [(one.n_applicable, one.n_installed) for one in found] == [(n_retrieval, 5), (n_probing, 2)]


# --- training data


def test_the_catalogues_data_sets_and_those_of_other_suites_can_be_ticked(
    submitter_client: Client, suite: Suite
) -> None:
    text = submitter_client.get(reverse("submit")).content.decode()
    assert text.count('name="declared_training_data"') == 54 + 1
    for name in ("MIMIC-CXR-LT", "OmniMedVQA", "made_up"):
        assert f'value="{name}"' in text


def test_a_declaration_is_stored_once_each_and_in_order(submitter_client: Client, suite: Suite) -> None:
    names = ["PathMNIST", "made_up", "BloodMNIST", "made_up"]
    post(submitter_client, suite, training_data="listed", declared_training_data=names)
    submission = Submission.objects.get()
    assert submission.declared_training_data == ["BloodMNIST", "PathMNIST", "made_up"]
    assert submission.training_data == TrainingDataStatement.LISTED
    text = submitter_client.get(reverse("submission-detail", args=[submission.pk])).content.decode()
    assert "BloodMNIST, PathMNIST, made_up" in text


@pytest.mark.parametrize(("said", "stored"), [("", "unknown"), ("unknown", "unknown"), ("none", "none")])
def test_none_and_not_known_are_two_things(submitter_client: Client, suite: Suite, said: str, stored: str) -> None:
    post(submitter_client, suite, training_data=said)
    assert Submission.objects.get().training_data == stored


@pytest.mark.parametrize(
    ("said", "names", "field"),
    [
        ("listed", [], "training_data"),
        ("none", ["PathMNIST"], "training_data"),
        ("", ["PathMNIST"], "training_data"),
        ("listed", ["no such"], "declared_training_data"),
        ("listed", ["\u202egnp.exe"], "declared_training_data"),
        ("listed", ["x" * 10_000], "declared_training_data"),
        ("maybe", [], "training_data"),
    ],
)
def test_a_contradiction_or_an_unknown_name_is_told(
    submitter_client: Client, suite: Suite, said: str, names: list[str], field: str
) -> None:
    response = post(submitter_client, suite, training_data=said, declared_training_data=names)
    assert list(response.context["form"].errors) == [field]
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    "wishes",
    [
        Wishes(declared_training_data=["no such"]),
        Wishes(declared_training_data=["PathMNIST"], training_data=TrainingDataStatement.NONE),
        Wishes(training_data=TrainingDataStatement.LISTED),
    ],
)
def test_the_service_refuses_them_too(submitter: User, suite: Suite, wishes: Wishes) -> None:
    report = model_hub().preflight(repo_id="lab/good")
    with pytest.raises(TrainingDataUnknown):
        submission_create(submitter=submitter, report=report, suite=suite, wishes=wishes)


# --- owners who do not want it


@pytest.mark.parametrize(
    ("opted_out", "asked"), [("LAB/Good", {}), ("lab/Adapter", {"adapter_repo_id": "lab/adapter"})]
)
def test_what_its_owner_does_not_want_here_is_refused(
    submitter_client: Client, submitter: User, suite: Suite, opted_out: str, asked: dict[str, str]
) -> None:
    EmbeddingModel.objects.create(repo_id=opted_out, owner_opted_out=True)
    for action in ("check", "submit"):
        response = post(submitter_client, suite, action=action, **asked)
        assert "does not want it evaluated here" in response.context["form"].errors["repo_id"][0]
    report = model_hub().preflight(repo_id="lab/good", **asked)
    with pytest.raises(OwnerOptedOut):
        submission_create(submitter=submitter, report=report, suite=suite)
    assert not Submission.objects.exists()


def test_checking_asks_a_bounded_number_of_questions(
    submitter_client: Client, suite: Suite, probes: Suite, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(16):
        post(submitter_client, suite, probes, action="check")


NONSENSE = (
    "\u202elab/good", "<script>alert(1)</script>", "x" * 10_000, "../../etc", "\ud7ff\uffff"
)  # fmt: skip


@pytest.mark.parametrize(
    "field", ["repo_id", "revision", "adapter_repo_id", "encode_config", "suite", "training_data", "visibility"]
)
def test_no_field_takes_nonsense(submitter_client: Client, suite: Suite, field: str) -> None:
    for text in NONSENSE:
        response = post(submitter_client, suite, **{field: text})
        assert response.status_code == 200, text
        assert response.context["form"].errors, text
        assert "<script>alert" not in response.content.decode()
    assert not Submission.objects.exists()


@pytest.mark.parametrize("address", ["/owners/{}/", "/owners/{}/act/", "/training-data/{}/lift/"])
def test_numbers_beyond_all_rows_are_not_found(administrator_client: Client, address: str) -> None:
    for number in (0, 2**31, 2**63, 10**30):
        place = address.format(number)
        response = administrator_client.get(place) if place.count("/") == 3 else administrator_client.post(place)
        assert response.status_code == 404, place
