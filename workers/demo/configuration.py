"""The environment of the panel's processes; `.env.example` says what each variable means."""

import os
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parents[2]


class ConfigurationMissing(Exception):
    """A variable that is needed is not set."""


def required(name: str) -> str:
    """The value of a variable, or of the file that NAME_FILE names.

    Raises:
        ConfigurationMissing: it is not set, or empty, or its file cannot be read.
    """
    value, file = os.environ.get(name, ""), os.environ.get(f"{name}_FILE", "")
    if not value and file:
        try:
            value = Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ConfigurationMissing(f"{name}_FILE names {file}, which cannot be read: {error}.") from error
    if not value:
        raise ConfigurationMissing(f"{name} is not set. See .env.example, section 'the demo panel'.")
    return value


def data_dir() -> Path:
    """The folder of this checkout's data."""
    return Path(os.environ.get("MEDBOARD_DATA_DIR", BASE_DIR / ".data"))


def suites_dir() -> Path:
    """Where suites lie on this machine."""
    return Path(os.environ.get("SUITES_DIR", data_dir() / "suites"))


def panel_model() -> str:
    """The model of the panel: a folder, or the small one that the demo suite trained."""
    return os.environ.get("PANEL_MODEL") or str(data_dir() / "hub" / "demo" / "lite-dual")
