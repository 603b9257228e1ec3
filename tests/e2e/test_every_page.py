"""Every kind of page in a real browser: accessible, valid, within the policy and the screen, in both themes and widths.

With `MEDBOARD_SCREENSHOTS` naming a folder (`make screenshots`), each is also drawn in all four combinations.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings as django_settings
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from leaderboard.services.administration import submissions_pause, worker_class_pause
from tests.leaderboard.conftest import signed_in
from tests.leaderboard.pages import invalid
from tests.whole_site import WholeSite, make_whole_site

pytestmark = pytest.mark.e2e

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PAPER = {"width": 720, "height": 1020}
LOOKS = [("light", WIDE), ("dark", NARROW), ("dark", WIDE), ("light", NARROW)]
CHECKED = 2
"""How many of the looks are checked in tests: each theme and each width once."""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TABLE_OVERFLOW = (
    "Math.max(0, ...[...document.querySelectorAll('.sheet')].map(box => box.scrollWidth - box.clientWidth))"
)
FITTING = {"probing", "probing-clean", "probing-modality", "probing-level"}
"""Pages of which the tables fit a wide screen with the columns that they show by default."""
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    "resultTypes": ["violations"],
}
RULES_OF_LOOKS = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "scrollable-region-focusable", "target-size"]},
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
}
"""Those that depend on theme or width; the others say the same in every look."""
SERIOUS = {"serious", "critical"}
SESSION = django_settings.SESSION_COOKIE_NAME


def pages_of(site: WholeSite) -> dict[str, tuple[str, str]]:
    """A name for each kind of page, with who opens it and its address."""
    run = site.run
    task = run.suite.tasks.first()
    return {
        "board": ("", "/"),
        "board-family": ("", "/boards/family/image_to_label/"),
        "board-domain": ("", "/boards/domain/thoracic/"),
        "board-split": ("", "/boards/split/in_distribution/"),
        "board-empty": ("", "/?q=nosuchmodel"),
        "board-clean": ("", "/?ranks=clean"),
        "probing": ("", "/boards/medtec/"),
        "probing-clean": ("", "/boards/medtec/?ranks=clean&images=fundus&ability=L5"),
        "probing-modality": ("", "/boards/medtec/modality/chest_radiograph/"),
        "probing-level": ("", "/boards/medtec/level/L1/"),
        "probing-phrasing": ("", "/boards/medtec/analysis/phrasing/"),
        "probing-protocols": ("", "/boards/medtec/analysis/protocols/"),
        "probing-checks": ("", "/boards/medtec/analysis/checks/"),
        "model": ("", "/models/lab/strong/"),
        "model-probing": ("", f"/models/{site.probing.revision.model.repo_id}/"),
        "tasks": ("", "/tasks/"),
        "task": ("", f"/tasks/{run.suite.slug}/{task.name}/"),
        "task-probing": ("", f"/tasks/{site.probing.suite.slug}/{site.probing.suite.tasks.first().name}/"),
        "analyses": ("", "/analyses/"),
        "compare": ("", "/compare/"),
        "compare-pair": ("", f"/compare/?run={site.published.pk}&run={site.other.pk}"),
        "demo": ("", "/demo/"),
        "api": ("", "/api/"),
        "systems": ("", "/systems/"),
        "methods": ("", "/methods/"),
        "queue": ("", "/queue/"),
        "workers": ("", "/workers/"),
        "run": ("", reverse("run-detail", args=[site.published.pk])),
        "run-failed": ("owner", reverse("run-detail", args=[site.failed.pk])),
        "submit": ("owner", "/submit/"),
        "submission": ("owner", reverse("submission-detail", args=[run.submission_id])),
        "notifications": ("owner", "/notifications/"),
        "sign-in": ("", "/accounts/login/"),
        "sign-up": ("", "/accounts/signup/"),
        "sign-out": ("owner", "/accounts/logout/"),
        "password": ("owner", "/accounts/password/change/"),
        "password-forgotten": ("", "/accounts/password/reset/"),
        "e-mail": ("owner", "/accounts/email/"),
        "account": ("owner", "/account/"),
        "account-deletion": ("owner", "/account/delete/"),
        "api-tokens": ("owner", "/account/tokens/"),
        "owners": ("owner", "/owners/"),
        "training-data": ("staff", "/training-data/"),
        "error-400": ("", "/tasks/?sort=nosuch"),
        "error-403": ("stranger", "/administration/"),
        "error-404": ("", "/models/lab/nosuch/"),
        "error-405": ("", "/queue/pause/"),
        "administration": ("staff", "/administration/"),
        "audit": ("staff", "/audit/"),
        "audit-empty": ("staff", "/audit/?actor=nobody"),
        "limits": ("staff", "/administration/limits/?q=o"),
        "costs": ("staff", "/administration/costs/?by=model"),
        "queue-staff": ("staff", "/queue/"),
        "run-staff": ("staff", reverse("run-detail", args=[site.published.pk])),
        "run-publish": ("staff", reverse("run-detail", args=[site.rerun.pk])),
        "reruns": ("staff", "/reruns/"),
        "reruns-preview": ("staff", f"/reruns/?run={site.failed.pk}&scope=all"),
        "reruns-waiting": ("staff", "/reruns/waiting/"),
        "django-index": ("staff", "/admin/"),
        "django-runs": ("staff", "/admin/leaderboard/run/"),
        "django-person": ("staff", f"/admin/leaderboard/user/{site.people['owner'].pk}/change/"),
    }


@pytest.fixture(scope="module", autouse=True)
def database_beside_the_browser() -> Iterator[None]:
    """The browser's library runs an event loop in this thread, beside which Django would refuse to ask the database."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture
def site(transactional_db: None, settings: Any, tmp_path: Path) -> WholeSite:
    site = make_whole_site(settings, tmp_path)
    submissions_pause(actor=site.people["staff"], reason="New data are being installed.")
    worker_class_pause(actor=site.people["staff"], worker_class="gpu-24", reason="The driver is being renewed.")
    return site


@pytest.fixture
def context(browser: Browser, live_server: LiveServer) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=live_server.url, reduced_motion="reduce")
    context.set_default_timeout(30_000)
    yield context
    context.close()


def violations(page: Page, rules: dict[str, Any]) -> list[str]:
    """What axe-core, which the page has loaded, finds that keeps people out, with the first place of each."""
    found = page.evaluate("rules => axe.run(document, rules)", rules)["violations"]
    return [
        f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:160]} {one['nodes'][0]['any'][:1]}"
        for one in found
        if one["impact"] in SERIOUS
    ]


def look_at(page: Page, name: str, *, folder: str) -> list[str]:
    """What is wrong with the page that is open, in the looks that are checked; drawn where a folder is given."""
    found = []
    page.evaluate(Axe().axe_script)
    for number, (theme, size) in enumerate(LOOKS if folder else LOOKS[:CHECKED]):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size(size)
        wide = page.evaluate(OVERFLOW)
        beyond = page.evaluate(TABLE_OVERFLOW) if name in FITTING and size == WIDE else 0
        troubles = [
            *violations(page, RULES_OF_LOOKS if number else RULES),
            *([f"the page is {wide} pixels wider than the screen"] if wide > 0 else []),
            *([f"a table is {beyond} pixels wider than its box"] if beyond > 0 else []),
        ]
        found += [f"{theme} {size['width']}: {trouble}" for trouble in troubles]
        if folder:
            page.screenshot(path=Path(folder) / f"{name}-{size['width']}-{theme}.png", full_page=True)
    if folder:
        page.set_viewport_size(PAPER)
        page.emulate_media(media="print", color_scheme="light")
        page.screenshot(path=Path(folder) / f"{name}-print.png", full_page=True)
        page.emulate_media(media="screen")
    return found


def visit(page: Page, name: str, address: str, *, console: list[str], folder: str) -> list[str]:
    """Open a page; what is wrong with it. Django's own pages need only work under our policy."""
    console.clear()
    answer = page.goto(address)
    assert answer is not None
    expected = int(name.removeprefix("error-")) if name.startswith("error-") else 200
    found = [f"status {answer.status}"] if answer.status != expected else []
    if not name.startswith("django-"):
        found += invalid(answer.text()) + look_at(page, name, folder=folder)
    return found + [text for text in console if "the server responded with a status" not in text]


def test_every_page_is_accessible_valid_and_fits(
    site: WholeSite, context: BrowserContext, live_server: LiveServer
) -> None:
    folder = os.environ.get("MEDBOARD_SCREENSHOTS", "")
    page, console = context.new_page(), []
    page.on("pageerror", lambda error: console.append(str(error)))
    page.on("console", lambda message: console.append(message.text) if message.type == "error" else None)
    troubles = []
    for name, (person, address) in sorted(pages_of(site).items(), key=lambda item: item[1][0]):
        context.clear_cookies()
        if person:
            session = signed_in(site.people[person]).cookies[SESSION].value
            context.add_cookies([{"name": SESSION, "value": session, "url": live_server.url}])
        found = visit(page, name, address, console=console, folder=folder)
        troubles += [f"{name}: {trouble}" for trouble in found]
    assert not troubles, "\n" + "\n".join(troubles)
