"""`python -m workers.launcher`: the whole board on one machine, for trying it out and for development.

Starts Postgres and Valkey from wheels where no address is given, prepares what is missing (tables, a synthetic suite,
a local hub with small models, an administrator), then runs site, worker, scheduler and hub until Ctrl-C.
"""

import io
import os
import secrets
import signal
import sys
import threading
from pathlib import Path

from honcho.manager import Manager
from honcho.printer import Printer

from leaderboard.config import embedded
from workers.demo.launching import add_panel_processes, fill_galleries, panel_environment
from workers.machine import memory_of_this_machine
from workers.sandbox.choice import UNSEALED, best_sandbox_name

BASE_DIR = Path(__file__).resolve().parent.parent
SITE_PORT = int(os.environ.get("MEDBOARD_PORT", "8000"))
HUB_PORT = int(os.environ.get("MEDBOARD_HUB_PORT", str(SITE_PORT + 1)))
PANEL_PORT = int(os.environ.get("MEDBOARD_PANEL_PORT", str(SITE_PORT + 2)))
ADMIN = "admin"
QUIET = {"PYTHONUNBUFFERED": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
_ORDINARY_ENDS = (0, 128 + signal.SIGINT, 128 + signal.SIGTERM)


def main() -> None:
    """Prepare, announce, and supervise."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin while they wait take the site's processor
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the servers are stopped while still preparing
    os.environ.setdefault("CPU_CLASS_BYTES", str(memory_of_this_machine()))
    os.environ.setdefault("WORKER_GRACE_SECONDS", "1")  # what does not end in five seconds is killed by the manager
    servers = embedded.start()
    try:
        embedded.start_panel_broker(servers)
        panel_environment(PANEL_PORT)
        with_local_hub = "HUB_ENDPOINT" not in os.environ
        os.environ.setdefault("HUB_ENDPOINT", f"http://127.0.0.1:{HUB_PORT}")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.config.settings")
        if "SANDBOX" not in os.environ:
            os.environ["SANDBOX"] = best_sandbox_name()
        _prepare()
        manager = _processes(with_local_hub=with_local_hub)
        if with_local_hub:
            threading.Thread(target=_submit_demo_models, name="demo models", daemon=True).start()
        threading.Thread(target=fill_galleries, name="galleries", daemon=True).start()
        _announce()
        manager.loop()
        # A process that ended by itself took the others with it; Ctrl-C and SIGTERM are the ordinary end.
        sys.exit(0 if manager.returncode in _ORDINARY_ENDS else manager.returncode)
    finally:
        servers.stop()


def _prepare() -> None:
    import django  # noqa: PLC0415 - Django can only be set up once the servers' addresses are known

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415 - the same

    from workers.catalogue import sync_catalogue  # noqa: PLC0415 - the same
    from workers.demo_board import prepare_demo  # noqa: PLC0415 - the same

    call_command("migrate", verbosity=0, interactive=False)
    call_command("create_panel_role", stdout=io.StringIO())
    call_command("collectstatic", verbosity=0, interactive=False)
    prepare_demo()
    sync_catalogue()
    _create_admin()


def _create_admin() -> None:
    """An administrator for this machine, with a password of its own, if there is none."""
    from django.conf import settings  # noqa: PLC0415 - needs Django set up

    from leaderboard.models import User  # noqa: PLC0415 - the same

    if User.objects.filter(is_superuser=True).exists():
        return
    password = secrets.token_urlsafe(12)
    User.objects.create_superuser(username=ADMIN, password=password)
    file = settings.DATA_DIR / "admin-password"
    file.touch(mode=0o600)
    file.write_text(password)


def _processes(*, with_local_hub: bool) -> Manager:
    from workers.placement import find_gpus, worker_environments  # noqa: PLC0415 - needs Django set up

    python = sys.executable
    manager = Manager(Printer(sys.stdout))
    commands = {
        "site": f"{python} -m gunicorn leaderboard.config.wsgi --bind 127.0.0.1:{SITE_PORT} --workers 2 --threads 4"
        " --no-control-socket --log-level warning",
        # Fixed tasks: a schedule kept in a file could only be found damaged after a power cut.
        "beat": f"{python} -m celery -A workers.celery beat --scheduler celery.beat.Scheduler --loglevel warning",
    }
    if with_local_hub:
        commands["hub"] = f"{python} -m workers.local_hub --root {_hub_root()} --port {HUB_PORT}"
    for name, command in commands.items():
        manager.add_process(name, command, cwd=str(BASE_DIR), env={**os.environ, **QUIET})
    for number, own in enumerate(worker_environments(find_gpus(), os.environ), start=1):
        command = f"{python} -m celery -A workers.celery worker -n worker{number}@%h --pool threads --concurrency 1"
        environment = {**os.environ, **QUIET, **own}
        manager.add_process(f"worker{number}", f"{command} --loglevel info", cwd=str(BASE_DIR), env=environment)
    add_panel_processes(manager, port=PANEL_PORT, environment={**os.environ, **QUIET})
    return manager


def _hub_root() -> Path:
    from workers.demo_board import demo_hub_root  # noqa: PLC0415 - needs Django set up

    return demo_hub_root()


def _submit_demo_models() -> None:
    from workers.demo_board import submit_demo_models  # noqa: PLC0415 - needs Django set up

    submit_demo_models()


def _announce() -> None:
    from django.conf import settings  # noqa: PLC0415 - needs Django set up

    file = settings.DATA_DIR / "admin-password"
    sys.stdout.write(f"\nMedBoard is at http://127.0.0.1:{SITE_PORT}/\n")
    if file.exists():
        sys.stdout.write(f"Administrator: {ADMIN}, password in {os.path.relpath(file)}\n")
    if settings.SANDBOX == UNSEALED:
        sys.stdout.write("Models are NOT sealed off: this machine allows no sandbox. Let nobody else submit any.\n")
    else:
        sys.stdout.write(f"Models are sealed off by {settings.SANDBOX}.\n")
    sys.stdout.write("Ctrl-C stops it.\n\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
