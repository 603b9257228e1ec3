"""The types of settings. Each refuses what it does not know, so that a slip never turns into a default."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ

from leaderboard.config.variables import Kind

YES_WORDS, NO_WORDS = {"true", "1", "yes", "on"}, {"false", "0", "no", "off"}
_DATABASE_SCHEMES = {"postgres", "postgresql", "pgsql"}
_BROKER_SCHEMES = {"redis", "rediss"}
_WEB_SCHEMES = {"http", "https"}


def _switch(text: str) -> bool:
    if text.lower() not in YES_WORDS | NO_WORDS:
        raise ValueError("true or false")
    return text.lower() in YES_WORDS


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError("a whole number") from error


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ValueError("a number") from error


def _words(text: str) -> list[str]:
    return [word for part in text.split(",") if (word := part.strip())]


def _database(text: str) -> dict[str, Any]:
    """Django's description of a database, with the options of the address's query."""
    wanted = "an address such as postgres://user:password@host:5432/medboard"
    if urlsplit(text).scheme not in _DATABASE_SCHEMES:
        raise ValueError(wanted)
    found: dict[str, Any] = environ.Env.db_url_config(text)
    if not found["NAME"]:
        raise ValueError(f"{wanted}, with the database's name")
    return found


def _broker(text: str) -> str:
    if urlsplit(text).scheme not in _BROKER_SCHEMES:
        raise ValueError("an address such as redis://:password@host:6379/0, or rediss:// with TLS")
    return text


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in _WEB_SCHEMES or not parts.hostname:
        raise ValueError("an address that begins with https:// or http://")
    return text.rstrip("/")


def _mail(text: str) -> dict[str, Any]:
    """Django's settings of how e-mail is sent, by name."""
    if urlsplit(text).scheme not in environ.Env.EMAIL_SCHEMES:
        raise ValueError("an address such as smtp+tls://user:password@host:587, or consolemail://")
    found: dict[str, Any] = environ.Env.email_url_config(text)
    return found


def one_of(*choices: str) -> Kind:
    """Exactly one of a few words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return Kind(" or ".join(choices), parse)


def integer_from(least: int) -> Kind:
    """A whole number that is at least `least`."""

    def parse(text: str) -> int:
        value = _integer(text)
        if value < least:
            raise ValueError(f"at least {least}")
        return value

    return Kind(f"whole number, at least {least}", parse)


def _plain(name: str, parse: Callable[[str], Any]) -> Kind:
    return Kind(name, parse)


TEXT = _plain("text", str)
SWITCH = _plain("true or false", _switch)
INTEGER = _plain("whole number", _integer)
NUMBER = _plain("number", _number)
WORDS = _plain("words, separated by commas", _words)
PATH = _plain("path", Path)
DATABASE = _plain("address of a Postgres database", _database)
BROKER = _plain("address of a Valkey or Redis", _broker)
WEB_ADDRESS = _plain("web address", _web_address)
MAIL = _plain("address of a mail server", _mail)
