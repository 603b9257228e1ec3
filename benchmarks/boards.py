"""`python -m benchmarks.boards --write`: how fast boards of 1,000 models answer, and beside it a file of the same size.

Starts Postgres in a folder of its own, fills it with invented models (`manage.py seed_load`), and serves it as
`make run` does: gunicorn with two processes of four threads, production settings. A visit is warm when a process keeps the page, cold when it has to make it.
"""

import argparse
import http
import http.client
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from leaderboard.config import embedded

ROOT = Path(__file__).resolve().parent.parent
PORT = 8791
BOARDS = {
    "front": "/",
    "family": "/boards/family/image_to_label/",
    "domain": "/boards/domain/thoracic/",
    "every task": "/boards/release-group/all_ood/",
    "MedTEC overview": "/boards/medtec/",
    "MedTEC modality": "/boards/medtec/modality/fundus/",
    "MedTEC level": "/boards/medtec/level/L4/",
}
WARM_VISITS, COLD_VISITS = 200, 12
CONNECTIONS, BURST_SECONDS = 8, 5.0
SWITCHES = 10
CLICK_TO_PAINT = """title => new Promise(resolve => {
  const link = [...document.querySelectorAll("main nav a")].find(one => one.textContent === title);
  const shown = () => requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
  document.addEventListener("htmx:afterSettle", shown, {once: true});
  const start = performance.now();
  link.click();
})"""
"""Milliseconds until the second frame after the new board stands in the page: the first one may still be the old."""
FILE = "load.html"
BROWSER = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Visits:
    """Seconds of visits to an address, and the compressed bytes of its answer."""

    seconds: tuple[float, ...]
    size: int

    def percentile(self, share: float) -> str:
        """A percentile in milliseconds."""
        ordered = sorted(self.seconds)
        return f"{1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.0f}"


def main() -> None:
    """Measure, print, and with --write store the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MEDBOARD_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings"}
        servers = embedded.start(with_broker=False)
        try:
            section = _measure(arguments.models, Path(folder))
        finally:
            servers.stop()
    print(section)
    if arguments.write:
        write_section(section)


def _measure(n_models: int, folder: Path) -> str:
    _manage("migrate", "-v0")
    started = time.monotonic()
    _manage("seed_load", "--models", str(n_models))
    seeding = time.monotonic() - started
    _manage("collectstatic", "--noinput", "-v0")
    queries = _queries()
    with _site():
        cold = {name: _cold(address) for name, address in BOARDS.items()}
        warm = {name: _visits(address, WARM_VISITS) for name, address in BOARDS.items()}
        first_view = _first_view()
        front = _request(BOARDS["front"], encoding="br")[1]
        burst = _burst(BOARDS["front"], "br")
        switch = _switches()
    (folder / "staticfiles" / FILE).write_bytes(front)
    with _site():
        _visits(BOARDS["front"], SWITCHES)
        static = _burst(f"/static/{FILE}", "identity")
        burst_again = _burst(BOARDS["front"], "br")
    rows = [
        [
            name, cold[name].percentile(0.5), cold[name].percentile(0.95), warm[name].percentile(0.5),
            warm[name].percentile(0.95), str(queries[name]), f"{warm[name].size / 1000:.1f}",
        ]
        for name in BOARDS
    ]  # fmt: skip
    heading = ["Board", "cold p50, ms", "cold p95", "warm p50, ms", "warm p95", "queries, cold", "kB, brotli"]
    return "\n".join(
        [
            "# Boards of 1,000 models" if n_models == 1000 else f"# Boards of {n_models} models",  # noqa: PLR2004 - in words
            "",
            (
                f"{machine()}; {n_models} invented models on 107 retrieval and 150 probing tasks (stored in {seeding:.0f} s),"
                " gunicorn with 2 processes of 4 threads. A cold visit is to an address that"
                " nobody has asked for, the first of them to a process that has just started; a warm one is to a kept page. Aims: 50 ms warm, 300 ms cold, 5 queries."
            ),
            "",
            markdown_table(heading, rows),
            "",
            (
                f"First view with style, script and font: {first_view / 1000:.0f} kB (aim: under 150). {CONNECTIONS} visitors at"
                f" once: {burst:.0f} pages a second, {burst_again:.0f} when repeated; {burst_again / static:.2f} of what the same server gives"
                " for a static file of the compressed page's bytes (aim: 0.5). From one family's board to the next in Chromium,"
                f" from the click to the frame that shows it: {switch} (aim: under 100 ms)."
            ),
        ]
    )


def _manage(*arguments: str) -> None:
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, check=True)


def _queries() -> dict[str, int]:
    """Queries of a first visit to each board, counted by Django's own client."""
    import django  # noqa: PLC0415 - the servers' addresses are known only now

    django.setup()
    from django.conf import settings  # noqa: PLC0415 - the same
    from django.db import connection  # noqa: PLC0415 - the same
    from django.test import Client  # noqa: PLC0415 - the same
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415 - the same

    settings.ALLOWED_HOSTS = ["testserver"]
    found = {}
    for name, address in BOARDS.items():
        with CaptureQueriesContext(connection) as captured:
            answer = Client().get(address)
        if answer.status_code != http.HTTPStatus.OK:
            raise SystemExit(f"{address} answers {answer.status_code}: there is nothing to measure.")
        found[name] = len(captured)
    connection.close()
    return found


@contextmanager
def _site() -> Iterator[None]:
    """The site in processes of its own, which have seen nothing yet."""
    command = [
        sys.executable, "-m", "gunicorn", "leaderboard.config.wsgi", "--bind", f"127.0.0.1:{PORT}", "--workers", "2",
        "--threads", "4", "--no-control-socket", "--log-level", "warning",
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        _until_it_answers()
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _until_it_answers() -> None:
    until = time.monotonic() + 60
    while True:
        try:
            _request("/static/favicon.svg", encoding="identity")
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return


def _request(address: str, *, encoding: str) -> tuple[float, bytes]:
    """Seconds and bytes of an answer, on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    started = time.perf_counter()
    connection.request("GET", address, headers={"Accept-Encoding": encoding})
    body = connection.getresponse().read()
    seconds = time.perf_counter() - started
    connection.close()
    return seconds, body


def _visits(address: str, count: int) -> Visits:
    found = [_request(address, encoding="br") for _ in range(count)]
    return Visits(tuple(seconds for seconds, _ in found), len(found[-1][1]))


def _cold(address: str) -> Visits:
    """Visits to addresses that no process keeps; the first of them also read the table."""
    mark = "&" if "?" in address else "?"
    found = [_request(f"{address}{mark}q=model-{number}", encoding="br") for number in range(COLD_VISITS)]
    return Visits(tuple(seconds for seconds, _ in found), len(found[-1][1]))


def _first_view() -> int:
    """Compressed bytes of the front page and what it loads."""
    page = _request(BOARDS["front"], encoding="identity")[1].decode()
    parts = {part.partition('"')[0] for part in page.split('="/static/')[1:]}
    files = sum(len(_request(f"/static/{part}", encoding="br, gzip")[1]) for part in parts)
    return files + len(_request(BOARDS["front"], encoding="br")[1])


def _burst(address: str, encoding: str) -> float:
    """Answers a second to visitors who each ask again at once."""
    counts = [0] * CONNECTIONS
    until = time.monotonic() + BURST_SECONDS

    def visit(number: int) -> None:
        while time.monotonic() < until:
            _request(address, encoding=encoding)
            counts[number] += 1

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / BURST_SECONDS


def _switches() -> str:
    """Milliseconds from a click on the next family to its first paint, by the browser's own clock."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - takes a second

    from tests.browser_setup import find_browser  # noqa: PLC0415 - the same

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(BROWSER))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"http://127.0.0.1:{PORT}/boards/family/image_to_label/")
        found = [_switch(page, number) for number in range(SWITCHES)]
        browser.close()
    return f"median {statistics.median(found):.0f} ms, slowest {max(found):.0f} ms"


def _switch(page: Any, number: int) -> float:
    """One switch; two families take turns, so that each is kept by the server after its first visits."""
    title = ("Image to image", "Image to label")[number % 2]
    return float(page.evaluate(CLICK_TO_PAINT, title))


if __name__ == "__main__":
    main()
