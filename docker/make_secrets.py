"""`python docker/make_secrets.py`: make the secrets that compose.yml names, once, in docker/secrets/.

Nothing that is there is changed. Only the owner of the folder can enter it; the files themselves can be read by the
containers' users, into which they are mounted one by one.
"""

import secrets
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "secrets"
BYTES = 48


def main(folder: Path) -> int:
    """Write what is missing; the addresses follow from the passwords."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in ("secret_key", "postgres_password", "valkey_password", "panel_valkey_password", "metrics_token"):
        write_once(folder / name, secrets.token_urlsafe(BYTES))
    postgres, valkey, panel_valkey = (
        (folder / f"{name}_password").read_text() for name in ("postgres", "valkey", "panel_valkey")
    )
    panel = secrets.token_urlsafe(BYTES)  # stands nowhere but in the address
    write_once(folder / "database_url", f"postgres://medboard:{postgres}@postgres:5432/medboard")
    write_once(folder / "redis_url", f"redis://:{valkey}@valkey:6379/0")
    write_once(folder / "panel_database_url", f"postgres://medboard_panel:{panel}@postgres:5432/medboard")
    write_once(folder / "panel_broker_url", f"redis://:{panel_valkey}@panel-valkey:6379/0")
    return 0


def write_once(file: Path, text: str) -> None:
    """Write a file that nobody but its owner can change, unless it is there."""
    if not file.exists():
        file.write_text(text)
        file.chmod(0o444)


if __name__ == "__main__":
    sys.exit(main(FOLDER))
