"""What a newcomer does: sign up, submit a model, watch it run, find it on a family board; an administrator reruns it."""

import csv
import io
import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Board

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

PASSWORD = "a long passphrase for tests"
EVALUATION_TIMEOUT = 300_000
SUITE = "?suite=medheb-demo"


def sign_up(page: Page, board: Board, name: str) -> None:
    page.goto(f"{board.address}/accounts/signup/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def sign_in(page: Page, board: Board, name: str, password: str) -> None:
    page.goto(f"{board.address}/accounts/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


def wait_for_row(page: Page, model: str) -> None:
    """Look again until a model stands on a board."""
    deadline = time.monotonic() + EVALUATION_TIMEOUT / 1000
    while not row_of(page, model).count():
        assert time.monotonic() < deadline, f"{model} is not on the board"
        page.reload()


def row_of(page: Page, model: str):
    return page.locator("tbody tr").filter(has=page.locator("th", has_text=model))


def test_submit_watch_and_find_on_the_boards_then_rerun(page: Page, board: Board) -> None:
    sign_up(page, board, "ada")

    page.get_by_role("link", name="Submit a model").first.click()
    page.get_by_label("Model on the hub").fill("demo/siglip-tiny")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("heading", name="Ready to submit")).to_be_visible()
    expect(page.get_by_label("Result of the check")).to_contain_text("SigLIP")
    page.get_by_role("button", name="Submit", exact=True).click()

    expect(page).to_have_url(re.compile(r"/submissions/[0-9a-f-]{36}/$"))
    submission = page.url
    expect(page.locator("#progress")).to_contain_text(re.compile(r"Task \d+ of 24"), timeout=EVALUATION_TIMEOUT)
    bar = page.get_by_label("Tasks that have ended")
    expect(bar).not_to_have_attribute("value", "0", timeout=EVALUATION_TIMEOUT)
    expect(page.locator("#progress")).to_contain_text("24 of 24 tasks have a score", timeout=EVALUATION_TIMEOUT)

    page.goto(f"{board.address}/boards/family/image_to_label/{SUITE}")
    expect(page.get_by_text("Synthetic data").first).to_be_visible()
    wait_for_row(page, "siglip-tiny")
    shown = [cell.inner_text() for cell in row_of(page, "siglip-tiny").locator("th, td").all()]
    page.goto(f"{board.address}/boards/domain/thoracic/{SUITE}")
    expect(row_of(page, "siglip-tiny")).to_have_count(1)

    answer = page.request.get(f"{board.address}/boards/family/image_to_label/{SUITE}&format=csv")
    rows = list(csv.reader(io.StringIO(answer.text())))
    (own,) = [row for row in rows if "demo/siglip-tiny" in row]
    lower, upper = own[1:3]
    assert shown[0] == (lower if lower == upper else f"{lower}–{upper}"), "the ranks in the download are on the page"

    page.goto(f"{board.address}/submit/")
    page.get_by_label("Model on the hub").fill("demo/siglip-tiny")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("heading", name="Already there")).to_be_visible()

    page.context.clear_cookies()
    sign_in(page, board, "admin", board.admin_password)
    page.goto(submission)
    page.goto(f"{board.address}/models/demo/siglip-tiny/")
    page.get_by_role("row").filter(has_text="MedHEB").locator("a[href*='/runs/']").first.click()
    page.get_by_role("button", name="Rerun all tasks").click()
    expect(page.get_by_role("heading", name="Before you rerun")).to_be_visible()
    page.get_by_role("button", name="Queue 1 rerun").click()
    expect(page.get_by_text(re.compile("attempt 2", re.IGNORECASE)).first).to_be_visible()
    expect(page.locator("#progress")).to_contain_text("24 of 24 tasks have a score", timeout=EVALUATION_TIMEOUT)
    page.get_by_role("button", name=re.compile("^Publish")).click()
    expect(page.get_by_text("On the boards").first).to_be_visible()

    # Both suites were ticked; the reruns of an administrator stand behind submissions, so this one is done too.
    page.goto(f"{board.address}/boards/medtec/?suite=medtec-demo")
    wait_for_row(page, "siglip-tiny")
    expect(page.get_by_text("Synthetic data").first).to_be_visible()
    stops = row_of(page, "siglip-tiny").locator("td").nth(2).inner_text()
    page.get_by_role("list", name="Modality").get_by_role("link", name="Chest radiograph").click()
    expect(row_of(page, "siglip-tiny").locator("td").nth(2)).to_have_text(stops, use_inner_text=True)


def test_everything_that_is_wrong_with_a_repository_is_said_at_once(page: Page, board: Board) -> None:
    sign_up(page, board, "grace")
    page.goto(f"{board.address}/submit/")
    page.get_by_label("Model on the hub").fill("demo/gated-tiny")
    page.get_by_label("Revision", exact=True).fill("not a revision!")
    page.get_by_role("button", name="Check").click()
    report = page.get_by_label("Result of the check")
    expect(report.get_by_role("listitem")).to_have_count(2)
    expect(report).to_contain_text("gated")


def test_boards_and_forms_work_without_javascript(board: Board, browser) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto(f"{board.address}/{SUITE}")
    page.get_by_role("list", name="Family").get_by_role("link", name="Report", exact=True).click()
    expect(page).to_have_url(re.compile("/boards/family/image_to_report/"))
    page.goto(f"{board.address}/{SUITE}")
    wait_for_row(page, "lite-dual")
    page.get_by_label("Best for").select_option("Text to text")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_label("Find a model")).to_contain_text("Text to text task")
    page.get_by_label("Model", exact=True).fill("lite")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile("lite"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sign_up(page, board, "barbara")
    page.goto(f"{board.address}/submit/")
    page.get_by_label("Model on the hub").fill("demo/nothing-here")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("alert")).to_contain_text("demo/nothing-here")
    context.close()


def test_going_back_shows_the_board_that_was_there_before(page: Page, board: Board) -> None:
    page.goto(f"{board.address}/{SUITE}")
    before = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("list", name="Family").get_by_role("link", name="Report", exact=True).click()
    expect(page).to_have_url(re.compile("/boards/family/image_to_report/"))
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(before)
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
