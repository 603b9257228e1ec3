"""Who may open what: every address that the resolver knows, for every kind of person, against a table."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings as django_settings
from django.contrib import admin
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from leaderboard.models import OwnerClaim, Run, Submission, User
from leaderboard.services.administration import submissions_pause, worker_class_pause
from tests.factories import make_run, make_suite, make_user
from tests.leaderboard.conftest import signed_in
from tests.leaderboard.routes import Route, all_routes
from tests.whole_site import WholeSite, make_whole_site

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_hub")]

PEOPLE = ("anonymous", "stranger", "owner", "staff")
Row = tuple[str, str]

# What GET and what POST without a field answer to an anonymous visitor, a stranger, the owner and an administrator.
# "in": they are sent to sign in.
OPEN = ("200 200 200 200", "405 405 405 405")
STAFF_PAGE = ("in 403 403 200", "405 405 405 405")
STAFF_ACT = ("405 405 405 405", "in 403 403 302")
OWN_ACT = ("405 405 405 405", "in 403 302 302")

TABLE: dict[str, Row] = {
    # boards
    "board-overall": OPEN,
    "board-family": OPEN,
    "board-domain": OPEN,
    "board-group": OPEN,
    "probe-board": OPEN,
    "probe-modality": OPEN,
    "probe-level": OPEN,
    "probe-analysis": OPEN,
    "model-detail": OPEN,
    "model-badge": OPEN,
    "model-profile": OPEN,
    "task-picture": ("404 404 404 404", "405 405 405 405"),
    "task-list": OPEN,
    "task-detail": OPEN,
    "analyses": OPEN,
    "compare": OPEN,
    "systems": OPEN,
    "methods": OPEN,
    "demo": OPEN,
    "healthz": OPEN,
    "readyz": OPEN,
    # submitting and runs
    "submit": ("in 200 200 200", "in 200 200 200"),
    "submission-detail": ("in 403 200 200", "405 405 405 405"),
    "submission-cancel": OWN_ACT,
    "submission-publish": ("405 405 405 405", "in 404 302 403"),
    "run-detail": OPEN,
    "run-progress": OPEN,
    "notifications": ("in 200 200 200", "in 302 302 302"),
    "notifications-secret": ("405 405 405 405", "in 302 302 302"),
    "queue": OPEN,
    "workers": OPEN,
    "metrics": ("404 404 404 404", "405 405 405 405"),
    # administrators
    "run-publish": STAFF_ACT,
    "run-withdraw": STAFF_ACT,
    "run-cancel": STAFF_ACT,
    "reruns": ("in 403 403 200", "in 403 403 200"),
    "reruns-waiting": ("in 403 403 200", "in 403 403 302"),
    "pause": STAFF_ACT,
    "resume": STAFF_ACT,
    "administration": STAFF_PAGE,
    "acts": STAFF_PAGE,
    "limits": ("in 403 403 200", "in 403 403 200"),
    "costs": STAFF_PAGE,
    "class-pause": STAFF_ACT,
    "class-resume": STAFF_ACT,
    # accounts
    "account_login": ("200 302 302 302", "200 302 302 302"),
    "account_signup": ("200 302 302 302", "200 302 302 302"),
    "account_logout": ("302 200 200 200", "302 302 302 302"),
    "account_inactive": ("200 200 200 200", "405 405 405 405"),
    "account_reauthenticate": ("in 200 200 200", "in 200 200 200"),
    "account_request_reauthentication_code": ("in 302 302 302", "in 302 302 302"),
    "account_confirm_reauthentication_code": ("in 302 302 302", "in 302 302 302"),
    "account_email": ("in 200 200 200", "in 302 302 302"),
    "account_email_verification_sent": ("200 200 200 200", "405 405 405 405"),
    "account_change_password": ("in 200 200 200", "in 200 200 200"),
    "account_set_password": ("in 302 302 302", "in 302 302 302"),
    "account_reset_password": ("200 200 200 200", "200 200 200 200"),
    "account_reset_password_done": ("200 200 200 200", "405 405 405 405"),
    "account_reset_password_from_key": ("200 200 200 200", "200 200 200 200"),
    "account_reset_password_from_key_done": ("200 200 200 200", "405 405 405 405"),
    "account_confirm_login_code": ("in 302 302 302", "in 302 302 302"),
    "account_confirm_email": ("200 200 200 200", "404 404 404 404"),
    # Django's administration
    "admin:index": ("in in in 200", "in in in 200"),
    "socialaccount_login_cancelled": ("200 200 200 200", "405 405 405 405"),
    "socialaccount_login_error": ("401 401 401 401", "405 405 405 405"),
    "socialaccount_signup": ("in in in in", "in in in in"),
    "socialaccount_connections": ("in 200 200 200", "in 200 200 200"),
    "accounts/social/login/cancelled/": ("301 301 301 301", "301 301 301 301"),
    "accounts/social/login/error/": ("301 301 301 301", "301 301 301 301"),
    "accounts/social/signup/": ("301 301 301 301", "301 301 301 301"),
    "accounts/social/connections/": ("301 301 301 301", "301 301 301 301"),
    # no application at GitHub and no provider is configured
    "github_login": ("404 404 404 404", "404 404 404 404"),
    "github_callback": ("404 404 404 404", "404 404 404 404"),
    "openid_connect_login": ("404 404 404 404", "404 404 404 404"),
    "openid_connect_callback": ("404 404 404 404", "404 404 404 404"),
    "account": ("in 200 200 200", "405 405 405 405"),
    "account-export": ("in 200 200 200", "405 405 405 405"),
    "account-deletion": ("in 200 200 200", "in 200 200 200"),
    "api-tokens": ("in 200 200 200", "in 200 200 200"),
    "api-token-revoke": ("405 405 405 405", "in 404 302 404"),
    # owners and training data
    "owners": ("in 200 200 200", "in 200 200 200"),
    "owner-claim": ("in 404 200 200", "405 405 405 405"),
    "owner-claim-act": ("405 405 405 405", "in 404 404 404"),
    "owner-wish": ("405 405 405 405", "in 403 403 400"),
    "training-data": ("in 403 403 200", "in 403 403 200"),
    "training-data-lift": ("405 405 405 405", "in 403 403 302"),
    # the API beside its operations
    "api-page": OPEN,
    "api-openapi": OPEN,
    "api/v1/": ("404 404 404 404", "404 404 404 404"),
    "api/v1/<path:rest>": ("404 404 404 404", "404 404 404 404"),
    "admin:login": ("in 403 403 302", "in 403 403 200"),
    "admin:logout": ("302 302 302 405", "302 302 302 200"),
    "admin:password_change": ("in in in 200", "in in in 200"),
    "admin:password_change_done": ("in in in 200", "in in in 405"),
    "admin:autocomplete": ("in in in 403", "in in in 405"),
    "admin:jsi18n": ("in in in 200", "in in in 405"),
    "admin:view_on_site": ("in in in 404", "in in in 404"),
    "admin:app_list": ("in in in 200", "in in in 200"),
    "admin:auth_user_password_change": ("in in in 200", "in in in 200"),
    "admin/(?P<url>.*)$": ("in in in 404", "in in in 404"),
}

API = "api-v1:"
"""What it answers to whom stands in test_api_authorisation.py."""

EDITABLE = {"user", "group", "emailaddress"}
PARTLY_EDITABLE = {"embeddingmodel"}


def admin_table() -> Iterator[tuple[str, Row]]:
    """The rows of each model in Django's administration: all may be looked at, few may be changed."""
    for model in admin.site._registry:
        name, app = model._meta.model_name, model._meta.app_label
        base = f"admin:{app}_{name}"
        changes = 200 if name in EDITABLE else 302 if name in PARTLY_EDITABLE else 403
        adds = 200 if name in EDITABLE else 403
        yield f"{base}_changelist", ("in in in 200", "in in in 200")
        yield f"{base}_add", (f"in in in {adds}", f"in in in {adds}")
        yield f"{base}_change", ("in in in 200", f"in in in {changes}")
        yield f"{base}_history", ("in in in 200", "in in in 200")
        yield f"{base}_delete", (f"in in in {adds}", f"in in in {adds}")
        yield f"admin/{app}/{name}/<path:object_id>/", ("in in in 302", "in in in 302")


def values_for(route: Route, site: WholeSite) -> dict[str, str]:
    """A value for each parameter that leads to something that exists."""
    values = {
        "claim_id": OwnerClaim.objects.get().pk,
        "provider_id": "huggingface",
        "rest": "nothing",
        "pk": 1,
        "token_id": site.token.pk,
        "mark_id": site.mark.pk,
        "run_id": site.run.pk,
        "submission_id": site.run.submission_id,
        "repo_id": "lab/strong",
        "suite": site.run.suite.slug,
        "name": "phrasing" if route.name == "probe-analysis" else site.run.suite.tasks.first().name,
        "family": "image_to_label",
        "domain": "thoracic",
        "axis": "split",
        "key": "chest_radiograph" if route.name == "probe-modality" else "in_distribution",
        "level": "L1",
        "app_label": "leaderboard",
        "url": "nosuchpage",
        "uidb36": "1",
        "content_type_id": ContentType.objects.get_for_model(Run).pk,
        "object_id": site.run.pk,
        "id": site.people["stranger"].pk,
    }
    return {name: str(value) for name, value in values.items()}


def object_ids(site: WholeSite) -> dict[str, str]:
    """For each model in Django's administration the key of a row."""
    Group.objects.create(name="editors")
    EmailAddress.objects.create(user=site.people["owner"], email="owner@example.org")
    submissions_pause(actor=site.people["staff"], reason="busy")
    worker_class_pause(actor=site.people["staff"], worker_class="gpu-24", reason="repair")
    found = {model._meta.model_name: model.objects.first() for model in admin.site._registry}
    found["user"] = make_user("somebody")
    return {name: str(row.pk) for name, row in found.items()}


def words(response: HttpResponse) -> str:
    """The status, or "in" for being sent to sign in."""
    entrances = (reverse("account_login"), reverse("admin:login"))
    is_sent = response.status_code == 302 and response["Location"].partition("?")[0] in entrances
    return "in" if is_sent else str(response.status_code)


def answer(method: str, path: str, session: str) -> str:
    """What a request gets; nothing that it does stays."""
    client = Client(raise_request_exception=False)
    if session:
        client.cookies[django_settings.SESSION_COOKIE_NAME] = session
    with transaction.atomic():
        found = words(getattr(client, method)(path))
        transaction.set_rollback(True)
    return found


@pytest.fixture
def silence() -> Iterator[None]:
    """Hundreds of refusals are not written down one by one."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("silence")
def test_each_person_gets_what_the_table_says_at_every_address(settings: object, tmp_path: Path) -> None:
    table = TABLE | dict(admin_table())
    routes = [route for route in all_routes() if not route.name.startswith(API)]
    assert sorted(table) == sorted({route.name for route in routes}), "an address without a row, or a row without one"
    site = make_whole_site(settings, tmp_path)
    ids = object_ids(site)
    sessions = {"anonymous": ""} | {
        name: signed_in(person).cookies[django_settings.SESSION_COOKIE_NAME].value
        for name, person in site.people.items()
    }
    wrong = []
    for route in routes:
        values = values_for(route, site)
        model = re.match(r"admin/\w+/(\w+)/<path:object_id>", route.text)
        if model:
            values["object_id"] = ids[model[1]]
        found = tuple(
            " ".join(answer(method, route.path(values), sessions[person]) for person in PEOPLE)
            for method in ("get", "post")
        )
        if found != table[route.name]:
            wrong.append(f'"{route.name}": {found}, not {table[route.name]}')
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.fixture
def run(submitter: User) -> Run:
    run = make_run(suite=make_suite(), user=submitter)
    run.submission = Submission.objects.create(revision=run.revision, suite=run.suite, submitter=submitter)
    run.save()
    return run


@pytest.mark.parametrize("name", ["run-publish", "run-withdraw", "run-cancel", "submission-cancel"])
def test_refused_acts_change_nothing(name: str, run: Run, stranger_client: Client) -> None:
    address = reverse(name, args=[run.submission_id if name.startswith("submission") else run.pk])
    assert stranger_client.post(address, {"reason": "I may not"}).status_code == 403
    run.refresh_from_db()
    assert run.state == "queued"


def test_forms_refuse_requests_from_other_sites(administrator: User, run: Run) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(administrator)
    answer = client.post(reverse("run-cancel", args=[run.pk]))
    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()
    run.refresh_from_db()
    assert run.is_active


UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize("name", ["run-detail", "run-progress", "submission-detail"])
def test_what_does_not_exist_is_not_found(name: str, administrator_client: Client) -> None:
    assert administrator_client.get(reverse(name, args=[UNKNOWN])).status_code == 404


@pytest.mark.parametrize("name", ["run-publish", "run-withdraw", "run-cancel", "submission-cancel"])
def test_changing_what_does_not_exist_is_not_found(name: str, administrator_client: Client) -> None:
    assert administrator_client.post(reverse(name, args=[UNKNOWN])).status_code == 404


def test_signing_in_leads_back_but_never_to_an_address_that_only_takes_post(client: Client, run: Run) -> None:
    assert client.get("/submit/")["Location"].endswith("?next=/submit/")
    assert "run" not in client.post(reverse("run-cancel", args=[run.pk]))["Location"]


def test_djangos_administration_has_no_entrance_of_its_own(client: Client) -> None:
    assert client.get(reverse("admin:login"))["Location"].startswith(reverse("account_login"))
