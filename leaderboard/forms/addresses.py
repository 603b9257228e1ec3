"""Reads what people paste where a hub repository is asked for."""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.conf import settings

HUB_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
REPO_ID = re.compile(rf"{NAME}/{NAME}")
REVISION = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._/+-]{0,198}[A-Za-z0-9_+-])?")
OTHER_REPOSITORIES = ("datasets", "spaces")


class AddressInvalid(ValueError):
    """The text names no repository; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on the hub; `revision` is '' where the text named none."""

    repo_id: str
    revision: str = ""


def read_repository(text: str) -> Repository:
    """Read `owner/name`, or the address of a repository's page with or without `/tree/<revision>`.

    Raises:
        AddressInvalid: the text is neither.
    """
    text = text.strip()
    if "://" in text or text.partition("/")[0].lower() in _hub_hosts():
        return _read_address(text if "://" in text else f"https://{text}")
    return Repository(_checked_repo_id(text))


def read_revision(text: str) -> str:
    """A branch, tag or commit.

    Raises:
        AddressInvalid: the text cannot be one.
    """
    text = text.strip()
    if not REVISION.fullmatch(text) or ".." in text:
        raise AddressInvalid("This can't be a branch, tag or commit. Copy it from the repository's history page.")
    return text


def _hub_hosts() -> set[str]:
    return {*HUB_HOSTS, urlsplit(settings.HUB_ENDPOINT).netloc.lower()}


def _read_address(text: str) -> Repository:
    try:
        address = urlsplit(text)
    except ValueError as error:
        raise AddressInvalid("This address can't be read. Write the repository as owner/name.") from error
    if address.netloc.lower() not in _hub_hosts() or address.scheme not in {"http", "https"}:
        raise AddressInvalid(
            f"This is not an address on the hub ({urlsplit(settings.HUB_ENDPOINT).netloc}). Write the repository as"
            " owner/name."
        )
    parts = [unquote(part) for part in address.path.split("/") if part]
    if parts and parts[0] in OTHER_REPOSITORIES:
        raise AddressInvalid(f"This is an address under /{parts[0]}. Only model repositories can be evaluated.")
    match parts:
        case [owner, name]:
            return Repository(_checked_repo_id(f"{owner}/{name}"))
        case [owner, name, "tree" | "commit", revision]:
            return Repository(_checked_repo_id(f"{owner}/{name}"), read_revision(revision))
    raise AddressInvalid("This is not the address of a repository's main page. Write the repository as owner/name.")


def _checked_repo_id(text: str) -> str:
    if not REPO_ID.fullmatch(text) or ".." in text or "--" in text:
        raise AddressInvalid("Write the repository as owner/name, as the title of its page on the hub shows it.")
    return text
