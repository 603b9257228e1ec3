"""Strings that mean harm, in every field of every form and in everything that a hub or a worker tells the site."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from leaderboard.models import (
    Act,
    ChildLog,
    Delivery,
    EmbeddingModel,
    ModelRevision,
    Run,
    RunEvent,
    SubmissionPause,
    TaskRun,
    Worker,
)
from leaderboard.ports import PreflightProblem, PreflightReport
from leaderboard.services.texts import fitted
from tests.leaderboard.conftest import signed_in
from tests.leaderboard.pages import blocked_by_policy, wrongly_nested
from tests.leaderboard.routes import all_routes
from tests.leaderboard.test_authorisation import API, object_ids, values_for
from tests.whole_site import WholeSite, make_whole_site

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert('x')</script>"
BREAKING = "\"'></a></td></textarea><img src=x onerror=alert(1)>"
HOSTILE = {
    "script": SCRIPT,
    "breaking": BREAKING,
    "right-to-left": "abc\u202egnp.exe\u2066\u200f",
    "long": "x" * 10_000,
    "null": "a\x00b",
    "path": "../../../../etc/passwd",
    "template": "{{ settings.SECRET_KEY }}{% debug %}%s%n",
    "unicode": "\ufeff\u0301\U0001f9ec\u2028\x0b\x7fİﬀ",
    "lines": "a\r\nSet-Cookie: stolen=1\r\n\r\nb",
    "query": "' OR 1=1; DROP TABLE leaderboard_run; --",
}
HARMLESS = {
    "reason": "a reason", "username": "owner", "per_day": "5", "at_once": "5", "worker_class": "cpu",
    "repo_id": "lab/good", "suite": "", "login": "owner", "password": "wrong", "scope": "all",
}  # fmt: skip
LEAVING = {"account_logout", "admin:logout"}
PLANTED = ("script", "breaking", "right-to-left", "long", "path", "unicode")
"""What matters where a text is shown; the database stores no null character."""
UNASKED = {"path", "unicode"}
"""Names that no hub gives and no browser asks for."""
FREE_TEXT = {"text", "search", "email", "password", "url", "number", "date", "hidden", "textarea", "select", "checkbox"}


class HostileHub:
    """A hub that says of every repository what the test wants."""

    text = ""

    def __init__(self, *, endpoint: str, token: str) -> None: ...

    def preflight(self, *, repo_id: str, **asked: str) -> PreflightReport:
        if repo_id == "lab/refused":
            problem = PreflightProblem("odd", "repo_id", f"It says: {self.text}")
            return PreflightReport(repo_id=repo_id, problems=(problem,))
        return PreflightReport(
            repo_id=repo_id, commit="c0ffee00" * 5, family="siglip", architecture=self.text, licence=self.text,
            parameters=1000, size_bytes=4000, adapter_repo_id="lab/adapter", adapter_commit="ada97e40" * 5,
        )  # fmt: skip


@dataclass
class Form:
    """A form of a page: where it goes, and its fields with the values that they have."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class FormReader(HTMLParser):
    """The forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        if tag == "form":
            self.forms.append(Form(facts.get("action") or "", (facts.get("method") or "get").lower()))
            self._open = True
        elif tag in {"input", "select", "textarea"} and self._open and facts.get("name"):
            kind = facts.get("type") or tag.replace("input", "text")
            if kind in FREE_TEXT and facts["name"] != "csrfmiddlewaretoken":
                self.forms[-1].fields.setdefault(facts["name"], facts.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = False


def forms_of(html: str, page: str) -> list[Form]:
    reader = FormReader()
    reader.feed(html)
    for form in reader.forms:
        form.action = form.action or page
    return [form for form in reader.forms if form.action.startswith("/")]


@pytest.fixture
def site(settings: Any, tmp_path: Path) -> WholeSite:
    settings.MODEL_HUB_BACKEND = "tests.leaderboard.test_hostile.HostileHub"
    return make_whole_site(settings, tmp_path)


@pytest.fixture
def silence() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def is_harmless(html: str) -> bool:
    """Nothing of the hostile texts became a tag, and nothing that the policy would have to block is there."""
    return SCRIPT not in html and "<img src=x" not in html and "DROP TABLE leaderboard_run;</" not in html.upper()


def trouble_of(client: Client, form: Form, name: str, values: dict[str, str]) -> str:
    """What is wrong with the answer to a filled form; nothing that it does stays."""
    with transaction.atomic():
        answer = getattr(client, form.method)(form.action, values)
        if answer.status_code in {301, 302}:
            if "stolen" in answer.headers or "\n" in answer["Location"]:
                return f"{form.action} {name}: a header was split"
            answer = client.get(answer["Location"]) if answer["Location"].startswith("/") else answer
        transaction.set_rollback(True)
    if answer.status_code >= 500:
        return f"{form.action} {name}: status {answer.status_code}"
    is_page = answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming
    if is_page and not is_harmless(answer.content.decode()):
        return f"{form.action} {name}: not escaped"
    return ""


def forms_of_the_site(site: WholeSite, ids: dict[str, str]) -> list[tuple[Client, Form]]:
    """Every form that an anonymous visitor or an administrator finds, once, with who found it."""
    people = (Client(raise_request_exception=False), signed_in(site.people["staff"]))
    people[1].raise_request_exception = False
    found: dict[tuple[str, ...], tuple[Client, Form]] = {}
    for route in (one for one in all_routes() if not one.name.startswith(API)):
        page = route.path(values_for(route, site) | {"object_id": ids["user"]})
        if route.name in LEAVING or (page.startswith("/admin/") and "user" not in page):
            continue
        for person in people:
            answer = person.get(page)
            if answer.status_code == 200 and "text/html" in answer["Content-Type"]:
                for form in forms_of(answer.content.decode(), page):
                    place = form.action if form.method == "post" else ""  # boards have the same filters
                    found.setdefault((place, *sorted(form.fields)), (person, form))
    return [(person, form) for person, form in found.values() if "logout" not in form.action]


@pytest.mark.usefixtures("silence")
def test_every_field_of_every_form_takes_every_hostile_text(site: WholeSite) -> None:
    tried, troubles = 0, []
    for person, form in forms_of_the_site(site, object_ids(site)):
        ordinary = {name: value or HARMLESS.get(name, "") for name, value in form.fields.items()}
        for text in HOSTILE.values():
            if form.action.startswith("/admin/"):
                troubles.append(trouble_of(person, form, "all fields", dict.fromkeys(form.fields, text)))
                continue
            for name in form.fields:
                tried += 1
                troubles.append(trouble_of(person, form, f"{name}={text[:20]!r}", {**ordinary, name: text}))
    assert tried > 200
    assert [trouble for trouble in troubles if trouble] == []


def plant(site: WholeSite, text: str) -> str:
    """Put a text wherever a hub or a worker can put one; the name of the repository that it became."""
    line = text.replace("\r\n", " ")
    repo_id = f"lab/{line}"[:200]
    EmbeddingModel.objects.filter(pk=site.published.revision.model_id).update(
        repo_id=repo_id, licence=line[:128], architecture=line[:128]
    )
    ModelRevision.objects.filter(pk=site.published.revision_id).update(
        adapter_repo_id=line[:200], adapter_commit="ada97e40" * 5
    )
    Run.objects.filter(pk=site.failed.pk).update(error_message=text, error_code=line[:64])
    Run.objects.filter(pk=site.published.pk).update(
        model_description={line: [text], "encode_config": {"name": text}}, environment={line: text}
    )
    TaskRun.objects.filter(run=site.failed, task__position=0).update(
        state="failed", error_code=line[:64], error_kind="model", error_message=text
    )
    ChildLog.objects.update(text=text)
    Worker.objects.update(versions={line: text}, device=line[:64], current_run=site.run)
    Delivery.objects.update(trouble=line[:300])
    RunEvent.objects.create(run=site.failed, actor=line[:200], reason=text)
    SubmissionPause.objects.create(reason=line[:300], started_by=site.people["staff"])
    Act.objects.create(actor=line[:200], kind="pause", subject=text, reason=text, repo_id=line, details={line: text})
    return repo_id


def pages_with_foreign_texts(site: WholeSite) -> list[str]:
    suite = site.run.suite
    return [
        "/", "/queue/", "/workers/", "/audit/", "/administration/", "/reruns/waiting/", "/compare/", "/analyses/",
        "/tasks/", f"/tasks/{suite.slug}/{suite.tasks.first().name}/", f"/reruns/?run={site.published.pk}&scope=all",
        "/submit/", "/administration/costs/?by=model", "/boards/family/image_to_label/",
        *(reverse("run-detail", args=[run.pk]) for run in (site.published, site.rerun, site.failed, site.run)),
        *(reverse(f"admin:leaderboard_{model}_changelist") for model in ("run", "embeddingmodel", "worker", "act")),
    ]  # fmt: skip


def test_what_the_hub_and_workers_say_is_shown_harmlessly_everywhere(site: WholeSite) -> None:
    staff, owner = signed_in(site.people["staff"]), signed_in(site.people["owner"])
    for name in PLANTED:
        text = HOSTILE[name]
        with transaction.atomic():
            model = reverse("model-detail", args=[plant(site, text)])
            for page in [*pages_with_foreign_texts(site), *([] if name in UNASKED else [model])]:
                answer = staff.get(page)
                assert answer.status_code == 200, (name, page)
                html = answer.content.decode()
                assert is_harmless(html), (name, page)
                assert page.startswith("/admin/") or blocked_by_policy(html) == wrongly_nested(html) == [], (name, page)
            assert is_harmless(owner.get("/notifications/").content.decode())
            transaction.set_rollback(True)


def test_what_the_hub_says_of_a_repository_is_stored_as_a_text_or_refused(
    site: WholeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = signed_in(site.people["owner"])
    for name, text in HOSTILE.items():
        monkeypatch.setattr(HostileHub, "text", text)
        for repo_id in ("lab/good", "lab/refused"):
            with transaction.atomic():
                wanted = {"repo_id": repo_id, "suite": [site.run.suite.slug], "action": "submit"}
                html = owner.post("/submit/", wanted, follow=True).content.decode()
                assert is_harmless(html), name
                assert wrongly_nested(html) == [], name
                stored = EmbeddingModel.objects.filter(repo_id="lab/good").first()
                assert (stored is not None) == (repo_id == "lab/good"), name
                assert stored is None or ("\x00" not in stored.licence and len(stored.licence) <= 128), name
                assert is_harmless(owner.get("/queue/").content.decode()), name
                transaction.set_rollback(True)


@pytest.mark.parametrize("model", ["run", "taskrun", "user", "embeddingmodel", "act"])
def test_searches_of_djangos_administration(administrator_client: Client, model: str) -> None:
    for name, text in HOSTILE.items():
        answer = administrator_client.get(reverse(f"admin:leaderboard_{model}_changelist"), {"q": text})
        assert answer.status_code == (400 if name == "null" else 200), name
        assert is_harmless(answer.content.decode()), name


@pytest.mark.parametrize(
    ("text", "stored"),
    [("mit", "mit"), ("a\x00b\x1b[31m", "ab[31m"), ("x" * 11, "x" * 9 + "…"), ("é\n\t", "é\n\t"), ("\ud800a", "a")],
)
def test_foreign_texts_fit_their_column(text: str, stored: str) -> None:
    assert fitted(text, most=10) == stored
