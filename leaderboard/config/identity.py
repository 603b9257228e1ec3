"""Accounts elsewhere that people can sign in with, as django-allauth wants to be told."""

from typing import Any
from urllib.parse import urlsplit

HUGGINGFACE = "huggingface"
PUBLIC_GITHUB = "https://github.com"


def identity_providers(
    *, hub: str, huggingface: tuple[str, str], github_url: str, github: tuple[str, str]
) -> dict[str, Any]:
    """The setting `SOCIALACCOUNT_PROVIDERS`: each provider of which an identifier and a secret are given.

    The hub is an OpenID Connect provider; its accounts also show whose a repository is, so it is always the hub that
    models are read from.
    """
    apps: list[dict[str, Any]] = []
    if all(huggingface):
        apps.append(
            {
                "provider_id": HUGGINGFACE,
                "name": "Hugging Face",
                "client_id": huggingface[0],
                "secret": huggingface[1],
                "settings": {"server_url": hub, "scope": ["openid", "profile", "email"], "oauth_pkce_enabled": True},
            }
        )
    of_github = [{"client_id": github[0], "secret": github[1], "name": "GitHub"}] if all(github) else []
    return {
        "openid_connect": {"APPS": apps},
        "github": {"APPS": of_github, "SCOPE": ["user:email"], **_own_server(github_url)},
    }


def _own_server(github_url: str) -> dict[str, str]:
    """Where a company's own GitHub is; without it allauth speaks to github.com, whose API has another host."""
    return {} if github_url == PUBLIC_GITHUB else {"GITHUB_URL": github_url}


def identity_origins(providers: dict[str, Any]) -> list[str]:
    """The origins that a form may lead to: those where people sign in."""
    addresses = [app["settings"]["server_url"] for app in providers["openid_connect"]["APPS"]]
    if providers["github"]["APPS"]:
        addresses.append(providers["github"].get("GITHUB_URL", PUBLIC_GITHUB))
    return [f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, addresses)]
