"""A visitor searches: on the site's page with its frame, with text and files, with what must be refused, without a worker."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import psutil
import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.e2e.conftest import SERVER_ADDRESSES, Board
from tests.processes import BASE_DIR
from workers.demo.limits import MAX_FILE_BYTES

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

FILLED = 120_000
"""Milliseconds until the gallery of a fresh board can be searched, in the worst case."""


@pytest.fixture
def frame(page: Page, board: Board) -> Iterator[FrameLocator]:
    """The panel in the site's page, once it is ready; nothing that it loads comes from beyond this machine."""
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.goto(f"{board.address}/demo/")
    found = page.frame_locator("iframe.panel-frame")
    expect(found.locator("#state")).to_contain_text("Ready:", timeout=FILLED)
    yield found
    known = (board.address, board.panel_address, "data:", "blob:")
    assert [address for address in addresses if not address.startswith(known)] == []


def contents(board: Board) -> list[str]:
    """Names of what the panel holds of visitors' files; Gradio leaves an empty file beside each, which says nothing."""
    files = (path for path in (board.data_dir / "panel").rglob("*") if path.is_file())
    return [path.name for path in files if path.stat().st_size]


LIGHT, DARK = "rgb(251, 250, 246)", "rgb(19, 22, 26)"


def test_the_panel_has_the_sites_theme_and_follows_its_button(page, frame, board) -> None:
    ground = frame.locator(".gradio-container").first
    expect(ground).to_have_css("background-color", LIGHT)
    page.get_by_role("button", name="Dark theme").click()
    expect(ground).to_have_css("background-color", DARK)
    page.reload()
    expect(frame.locator("#state")).to_contain_text("Ready:", timeout=FILLED)
    expect(ground).to_have_css("background-color", DARK)
    assert page.get_by_role("link", name="Open the panel").get_attribute("href").endswith("?__theme=dark")
    say = (
        "(body, [origin, isParent]) => dispatchEvent(new MessageEvent('message',"
        " {data: {theme: 'light'}, origin, source: isParent ? parent : window}))"
    )
    body = frame.locator("body")
    for stranger in (["http://stranger.example", True], [board.address, False]):
        body.evaluate(say, stranger)
        expect(ground).to_have_css("background-color", DARK)
    body.evaluate(say, [board.address, True])
    expect(ground).to_have_css("background-color", LIGHT)


def search(frame: FrameLocator, text: str) -> None:
    frame.get_by_label("Text", exact=True).fill(text)
    frame.locator("#search").click()


def image_of(board: Board) -> str:
    """An image of the demo suite that its gallery holds."""
    folder = board.data_dir / "suites" / "medheb-demo"
    task = json.loads(next(folder.rglob("DemoRadiograph_cls.json")).read_text())
    return str(next(folder.rglob(task[0]["qry_img_path"].rpartition("/")[2])))


def test_a_text_finds_images_that_can_be_compared(frame, page) -> None:
    search(frame, "chest radiograph with pleural effusion")
    expect(frame.locator("#status")).to_contain_text("10 results")
    expect(frame.locator(".hit")).to_have_count(10)
    first = frame.locator(".hit").first
    expect(first).to_contain_text("synthetic: drawn by a program, no patient")
    expect(first).to_contain_text("Thoracic")
    frame.get_by_text("Why not this one?").click()
    frame.locator("#why").click()
    expect(frame.locator("#comparison caption")).to_contain_text("is nearer to the query by")
    expect(frame.locator("#comparison")).to_contain_text("Words shared with your text")


def test_an_example_asks_with_one_click_and_shows_where_a_region_lies(frame) -> None:
    frame.get_by_role("button", name="The part of an image with a cyst").click()
    expect(frame.locator(".hit")).to_have_count(10)
    expect(frame.locator(".hit .hit-box").first).to_be_attached()


def test_an_image_finds_itself_and_is_deleted(frame, board) -> None:
    frame.locator("#files input[type=file]").set_input_files(image_of(board))
    expect(frame.locator("#files .file-preview")).to_be_visible()
    frame.locator("#search").click()
    expect(frame.locator("#status")).to_contain_text("Your files were deleted with the answer.")
    expect(frame.locator(".hit-score").first).to_have_text("1.000")
    expect(frame.locator("#files .file-preview")).to_have_count(0)
    assert contents(board) == []


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("picture.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "neither PNG, JPEG nor DICOM"),
        ("broken.png", b"\x89PNG\r\n\x1a\n" + bytes(64), "File 1 cannot be decoded"),
    ],
)
def test_a_bad_file_is_refused_with_a_sentence(frame, name, content, sentence) -> None:
    frame.locator("#files input[type=file]").set_input_files({"name": name, "mimeType": "image/png", "buffer": content})
    expect(frame.locator("#files .file-preview")).to_be_visible()
    frame.locator("#search").click()
    expect(frame.get_by_role("alert")).to_contain_text(sentence)
    expect(frame.locator(".hit")).to_have_count(0)
    expect(frame.locator("#compare")).to_be_hidden()


def test_on_a_small_screen_results_come_into_view(page, frame) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    frame.get_by_role("button", name="A melanoma").click()
    expect(frame.locator("#status")).to_contain_text("10 results")
    expect(frame.locator(".hit").first).to_be_in_viewport()


def test_two_at_once_get_their_own_results(browser: Browser, frame, board) -> None:
    other = browser.new_context().new_page()
    other.goto(f"{board.panel_address}/")
    expect(other.locator("#state")).to_contain_text("Ready:", timeout=FILLED)
    frame.get_by_label("Text", exact=True).fill("melanoma")
    other.get_by_label("Text", exact=True).fill("pleural effusion")
    frame.locator("#search").click()
    other.locator("#search").click()
    expect(frame.locator(".hit").first).to_contain_text("Dermatology")
    expect(other.locator(".hit").first).to_contain_text("Thoracic")
    other.context.close()


@pytest.fixture
def own_board(board: Board) -> Board:
    """The board where these tests have started it; one that runs already is not ours to stop or to administer."""
    if board.process is None:
        pytest.skip("the board runs already: its processes and servers are not ours")
    return board


def interactive_processes(board: Board) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(board.process.process.pid).children(recursive=True)
        if "workers.demo.celery" in " ".join(child.cmdline())
    ]


def test_without_a_worker_the_panel_says_so_until_it_is_back(frame, own_board) -> None:
    stopped = interactive_processes(own_board)
    assert len(stopped) >= 2
    for process in stopped:
        process.suspend()
    try:
        expect(frame.locator("#state")).to_contain_text("No worker is up", timeout=30_000)
        search(frame, "melanoma")
        expect(frame.get_by_role("alert")).to_contain_text("its model loads in about")
    finally:
        for process in stopped:
            os.kill(process.pid, signal.SIGCONT)
    expect(frame.locator("#state")).to_contain_text("Ready:", timeout=30_000)


def test_an_administrator_fills_the_galleries_and_removes_old_ones_beside_the_running_board(frame, own_board) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in (*SERVER_ADDRESSES, "PANEL_BROKER_URL")}
    done = subprocess.run(
        [sys.executable, "manage.py", "index_gallery", "--remove-old"],
        cwd=BASE_DIR,
        env={**kept, "MEDBOARD_DATA_DIR": str(own_board.data_dir)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "0 of them new" in done.stdout
    assert done.stdout.endswith("no gallery is old\n")


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd"])
def test_no_file_of_ours_is_given_out(board, path) -> None:
    assert httpx2.get(f"{board.panel_address}/gradio_api/file={path}").status_code in {403, 404}


def test_a_file_beyond_the_limit_is_refused_while_it_is_received(board) -> None:
    files = {"files": ("a.png", bytes(MAX_FILE_BYTES + 1))}
    assert httpx2.post(f"{board.panel_address}/gradio_api/upload", files=files).status_code == 413


@pytest.mark.parametrize("place", ["{own}/static/favicon.svg", "/etc/passwd"])
def test_neither_addresses_nor_our_own_files_are_read_in_the_place_of_an_upload(board, place) -> None:
    """What a program can send that does not keep to the page: the events of the page are reached by number."""
    address = f"{board.panel_address}/gradio_api"
    config = httpx2.get(f"{board.panel_address}/config").json()
    parts = {part["id"]: part for part in config["components"]}
    event = next(
        one for one in config["dependencies"] if any(parts[number]["type"] == "file" for number in one["inputs"])
    )
    file = {"path": place.format(own=board.address), "meta": {"_type": "gradio.FileData"}}
    values = {"textbox": "x", "file": [file], "dropdown": "", "checkboxgroup": []}
    data = [values[parts[number]["type"]] for number in event["inputs"]]
    body = {"data": data, "fn_index": event["id"], "session_hash": "hostile"}
    joined = httpx2.post(f"{address}/queue/join", json=body)
    assert joined.status_code == 200
    with httpx2.stream("GET", f"{address}/queue/data?session_hash=hostile", timeout=30) as answer:
        (completed,) = [line for line in answer.iter_lines() if "process_completed" in line]
    assert json.loads(completed.removeprefix("data:"))["success"] is False
    assert contents(board) == []
