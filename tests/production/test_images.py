"""Images and compose files, as far as they can be tested without a container engine: what they name is there."""

import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.core.management import get_commands

from leaderboard.config.variable_table import VARIABLES
from tests.processes import BASE_DIR
from tests.production.only_these_packages import canonical

DOCKER = BASE_DIR / "docker"
IMAGES = sorted(DOCKER.glob("*.Dockerfile"))
COMPOSE = [BASE_DIR / name for name in ("compose.yml", "compose.gpu.yml", "compose.workers.yml")]
OTHER_PROGRAMS = re.compile(r"PATH|PYTHON\w+|PIP_\w+|POSTGRES_\w+|NVIDIA_\w+|GRADIO_\w+|OMP_WAIT_POLICY")
PANEL_IS_THERE = (BASE_DIR / "workers" / "demo" / "__main__.py").is_file()


@functools.cache
def instructions(image: Path) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, with continued lines joined."""
    text = re.sub(r"^#.*\n", "", image.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in text.splitlines() if line.strip()]


def of_kind(image: Path, kind: str) -> list[str]:
    return [rest for name, rest in instructions(image) if name == kind]


@functools.cache
def services(file: Path) -> dict[str, Any]:
    """The services of a compose file; those that extend another have what they do not set from there."""
    found = yaml.safe_load(file.read_text())["services"]
    for name, service in found.items():
        if "extends" in service:
            base = services(BASE_DIR / service["extends"]["file"])[service["extends"]["service"]]
            merged = {**base.get("environment", {}), **service.get("environment", {})}
            found[name] = {**base, **service, "environment": merged}
    return found


def commands() -> dict[str, list[str]]:
    """Everything that is started, by where that is said."""
    found = {}
    for image in IMAGES:
        found[f"{image.name} CMD"] = json.loads(of_kind(image, "CMD")[0])
        found[f"{image.name} HEALTHCHECK"] = json.loads(of_kind(image, "HEALTHCHECK")[0].partition("CMD ")[2])
    for file in COMPOSE:
        for name, service in services(file).items():
            if str(service["image"]).startswith("medboard-") and "command" in service:
                found[f"{file.name} {name}"] = service["command"]
    return found


def test_dockerfiles_have_no_fault_that_a_linter_knows() -> None:
    linter = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([linter, *IMAGES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout == ""


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: file.name)
def test_compose_files_follow_the_specification(file: Path) -> None:
    schema = json.loads((Path(__file__).parent / "schema" / "compose-spec.json").read_text())
    document = yaml.safe_load(file.read_text())
    errors = list(jsonschema.Draft7Validator(schema).iter_errors(document))
    assert not errors, [f"{error.json_path}: {error.message}" for error in errors]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate({**document, "services": {"web": {"imagee": "x"}}})


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image.name)
def test_images_copy_what_is_there_are_pinned_and_do_not_run_as_root(image: Path) -> None:
    for source in of_kind(image, "FROM"):
        assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-bookworm AS \w+", source)
    ignored = (BASE_DIR / ".dockerignore").read_text().splitlines()
    for copied in of_kind(image, "COPY"):
        if not copied.startswith("--from"):
            *sources, _ = copied.split()
            for source in sources:
                assert (BASE_DIR / source).exists(), source
                assert f"!{source.split('/')[0]}" in ignored, f"{source} is not sent to the engine"
    assert of_kind(image, "USER") == ["10001"]
    ports = {int(port) for port in of_kind(image, "EXPOSE")}
    settings = dict(part.split("=", 1) for env in of_kind(image, "ENV") for part in env.split())
    known = {variable.name for variable in VARIABLES}
    for name in settings:
        assert name in known or OTHER_PROGRAMS.fullmatch(name), name
    started = of_kind(image, "CMD")[0]
    asked = of_kind(image, "HEALTHCHECK")[0]
    caddyfile = (DOCKER / "Caddyfile").read_text()
    for port in ports:
        assert str(port) in started
        assert str(port) in asked
        assert f"{image.name.split('.')[0]}:{port}}}" in caddyfile, "the proxy's default upstream"


@pytest.mark.parametrize(
    ("where", "command"), commands().items(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_started_is_there(where: str, command: list[str]) -> None:
    if command[:2] == ["python", "-m"]:
        if command[2] == "workers.demo" and not PANEL_IS_THERE:
            pytest.skip("the demo panel is not part of this checkout")
        assert importlib.util.find_spec(command[2])
    elif command[:2] == ["python", "manage.py"]:
        assert command[2] in get_commands()
    elif command[0] == "python":
        assert (BASE_DIR / command[1]).is_file()
    elif command[0] == "celery":
        assert importlib.util.find_spec(command[command.index("-A") + 1])
        assert command[3] in {"worker", "beat"}
    else:
        assert command[0] == "gunicorn"
        assert importlib.util.find_spec(command[command.index("--config") + 1].removeprefix("python:"))
        assert importlib.util.find_spec(command[-1])


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: file.name)
def test_compose_files_name_what_is_there(file: Path) -> None:
    document = yaml.safe_load(file.read_text())
    whole = {**yaml.safe_load(COMPOSE[0].read_text()), **document} if file.name == "compose.gpu.yml" else document
    declared = whole["secrets"]
    volumes = {**yaml.safe_load(COMPOSE[0].read_text())["volumes"], **document["volumes"]}
    plain = {variable.name for variable in VARIABLES}
    secret = {f"{variable.name}_FILE" for variable in VARIABLES if variable.secret}
    scripts = "".join(path.read_text() for path in (DOCKER / "Caddyfile", *DOCKER.glob("*.sh")))
    for name, service in services(file).items():
        for variable, value in service.get("environment", {}).items():
            known = variable in plain | secret or OTHER_PROGRAMS.fullmatch(variable) or f"{variable}:" in scripts
            assert known, f"{name}: {variable}"
            if variable.endswith("_FILE"):
                assert Path(value).name in service["secrets"], f"{name}: {value} is not mounted"
        assert set(service.get("secrets", [])) <= set(declared)
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (BASE_DIR / source).is_file() if source.startswith(".") else source in volumes, f"{name}: {source}"
        assert re.search(r":\d|^medboard-", service["image"]), f"{name}: its image is not pinned"
        assert "memory" in service.get("deploy", {}).get("resources", {}).get("limits", {}) or name == "migrate"
        if "build" in service:
            assert (BASE_DIR / service["build"]["dockerfile"]).is_file()
        for needed in service.get("depends_on", {}):
            assert needed in services(COMPOSE[0])


def test_a_worker_has_longer_to_stop_than_its_grace_and_shares_the_values_that_must_agree() -> None:
    for file in COMPOSE:
        for name, service in services(file).items():
            grace = service.get("environment", {}).get("WORKER_GRACE_SECONDS")
            if grace:
                assert int(service["stop_grace_period"].rstrip("s")) >= int(grace) + 10, name
                assert service["environment"]["CPU_CLASS_BYTES"] == "${CPU_CLASS_BYTES:-}"
    web = services(COMPOSE[0])["web"]
    assert int(web["stop_grace_period"].rstrip("s")) > 30, "longer than gunicorn's graceful_timeout"


def test_secrets_are_made_once_and_fit_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_secrets", DOCKER / "make_secrets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path / "secrets"
    module.main(folder)
    first = {file.name: file.read_text() for file in folder.iterdir()}
    module.main(folder)
    assert {file.name: file.read_text() for file in folder.iterdir()} == first
    declared = yaml.safe_load(COMPOSE[0].read_text())["secrets"]
    assert {name: f"docker/secrets/{name}" for name in first} == {n: s["file"] for n, s in declared.items()}
    assert folder.stat().st_mode & 0o077 == 0
    from leaderboard.config.variable_table import read_environment

    files = {
        f"{name.upper()}_FILE": str(folder / name) for name in first if f"{name}".upper() in {v.name for v in VARIABLES}
    }
    values = read_environment({**files, "BEHIND_TLS": "true", "SITE_URL": "https://board.example"})
    assert values["DATABASE_URL"]["PASSWORD"] == first["postgres_password"]
    assert first["valkey_password"] in values["REDIS_URL"]
    assert len(values["SECRET_KEY"]) == 64


@pytest.mark.parametrize("part", ["web", "worker", "panel"])
def test_requirements_are_a_part_of_the_project_s(part: str) -> None:
    direct = names_in(DOCKER / f"requirements-{part}.in")
    assert direct <= names_in(BASE_DIR / "requirements.in")
    pinned = pins_in(DOCKER / f"requirements-{part}.txt")
    assert direct <= set(pinned)
    project = pins_in(BASE_DIR / "requirements.txt")
    assert {name: pin for name, pin in pinned.items() if project.get(name, pin) != pin} == {}
    assert ("torch" in pinned) == (part == "worker")
    assert ("gunicorn" in pinned) == (part == "web")


def names_in(file: Path) -> set[str]:
    lines = [line.partition("#")[0].strip() for line in file.read_text().splitlines()]
    return {canonical(re.split(r"[\[<>=]", line)[0].strip()) for line in lines if line and not line.startswith("-")}


def pins_in(file: Path) -> dict[str, str]:
    lines = [line.partition("#")[0].strip() for line in file.read_text().splitlines()]
    return {canonical(name): pin for name, _, pin in (line.partition("==") for line in lines) if pin}


@pytest.mark.parametrize(
    ("part", "modules"),
    [
        ("web", ["leaderboard.config.urls", "leaderboard.config.wsgi", "leaderboard.config.gunicorn", "workers.hub"]),
        ("worker", ["leaderboard.config.urls", "workers.tasks", "evaluation.__main__"]),
    ],
)
def test_an_image_has_every_package_that_its_processes_import(part: str, modules: list[str]) -> None:
    script = Path(__file__).parent / "only_these_packages.py"
    environment = {"DATABASE_URL": "postgres://nobody@localhost/nothing", "REDIS_URL": "redis://localhost"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, DOCKER / f"requirements-{part}.txt", *modules],
        cwd=BASE_DIR,
        env={"PATH": os.environ["PATH"], "SECRET_KEY": "x", "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings"}
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "all imported\n", done.stderr[-2000:]


@pytest.mark.skipif(shutil.which("caddy") is None, reason="the proxy, Debian's package caddy, is not installed")
def test_the_proxy_takes_its_configuration(tmp_path: Path) -> None:
    own = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "SITE_ADDRESS": "board.example"}
    command = ["caddy", "adapt", "--config", DOCKER / "Caddyfile", "--adapter", "caddyfile"]
    done = subprocess.run(command, env={"PATH": os.environ["PATH"], **own}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "board.example" in done.stdout
    formatted = subprocess.run(["caddy", "fmt", DOCKER / "Caddyfile"], capture_output=True, text=True, check=False)
    assert formatted.stdout == (DOCKER / "Caddyfile").read_text()
