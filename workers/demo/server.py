"""The panel's web server."""

import os
import secrets
import tempfile
from typing import Any
from urllib.parse import urlsplit

from django.utils.html import format_html

from workers.demo.configuration import BASE_DIR, data_dir, required

PATH = "/panel"
HOST = "127.0.0.1"


def use_reading_role() -> None:
    """Let Django use the panel's database role, and nothing that the site alone needs.

    Raises:
        ConfigurationMissing: PANEL_DATABASE_URL is not set.
    """
    os.environ["DATABASE_URL"] = os.environ["PANEL_DATABASE_URL"] = required("PANEL_DATABASE_URL")
    os.environ["REDIS_URL"] = os.environ["PANEL_BROKER_URL"] = required("PANEL_BROKER_URL")
    os.environ["SECRET_KEY"] = secrets.token_urlsafe(48)  # the panel signs nothing
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.config.settings")
    for name in ("PANEL_DATABASE_URL_FILE", "PANEL_BROKER_URL_FILE", "HUB_TOKEN", "EMAIL_URL", "METRICS_TOKEN"):
        os.environ.pop(name, None)


def framers(site_url: str) -> list[str]:
    """The origins that may frame the panel: the site, under both names of this machine where it is local."""
    parts = urlsplit(site_url)
    names = {parts.hostname or ""}
    if names & {"localhost", "127.0.0.1"}:
        names |= {"localhost", "127.0.0.1"}
    port = f":{parts.port}" if parts.port else ""
    return sorted(f"{parts.scheme}://{name}{port}" for name in names)


def script_of_theme(origins: list[str]) -> str:
    """What the page loads so that it follows the theme of the site that frames it."""
    return format_html('<script src="{}/site/panel.js" data-framers="{}"></script>', PATH, " ".join(origins))


def refuse_addresses() -> None:
    """Gradio fetches an address that a caller names in the place of a file; the panel reads nothing but uploads."""
    from gradio import processing_utils  # noqa: PLC0415 - reads its environment when it is imported

    async def refuse(url: str, **_options: Any) -> str:
        raise ValueError("only files that were uploaded here are read")

    processing_utils.async_ssrf_protected_download = refuse


def serve(port: int) -> None:
    """Serve the panel until the process is told to stop.

    Raises:
        ConfigurationMissing: a variable that the panel needs is not set.
    """
    use_reading_role()
    folder = data_dir() / "panel"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="uploads-", dir=folder) as uploads:
        os.environ["GRADIO_TEMP_DIR"] = uploads
        _serve(port)


def _serve(port: int) -> None:
    import django  # noqa: PLC0415 - only once the role is chosen
    import gradio  # noqa: PLC0415 - reads its environment when it is imported
    import redis  # noqa: PLC0415 - with the rest
    import uvicorn  # noqa: PLC0415 - with the rest
    from django.conf import settings  # noqa: PLC0415 - with the rest
    from fastapi import FastAPI  # noqa: PLC0415 - with the rest
    from starlette.staticfiles import StaticFiles  # noqa: PLC0415 - with the rest

    django.setup()
    refuse_addresses()
    from workers.demo.boundary import Boundary  # noqa: PLC0415 - needs Django set up
    from workers.demo.celery import interactive_app  # noqa: PLC0415 - the same
    from workers.demo.limits import MAX_FILE_BYTES  # noqa: PLC0415 - the same
    from workers.demo.look import panel_theme  # noqa: PLC0415 - the same
    from workers.demo.panel import build_panel  # noqa: PLC0415 - the same
    from workers.demo.searching import Search  # noqa: PLC0415 - the same

    client = redis.Redis.from_url(settings.PANEL_BROKER_URL, socket_timeout=5, socket_connect_timeout=2)
    search = Search(app=interactive_app(settings.PANEL_BROKER_URL), client=client)
    panel = build_panel(search)
    panel.has_launched = True  # Gradio checks which files a caller may name only in an application that it launched
    site = FastAPI(openapi_url=None)
    site.mount(f"{PATH}/site", StaticFiles(directory=BASE_DIR / "static"))
    origins = framers(settings.SITE_URL)
    gradio.mount_gradio_app(
        site,
        panel,
        path=PATH,
        footer_links=[],
        show_error=False,
        max_file_size=MAX_FILE_BYTES,
        ssr_mode=False,
        enable_monitoring=False,
        pwa=False,
        mcp_server=False,
        theme=panel_theme(),
        css_paths=[BASE_DIR / "static" / "panel.css"],
        head=script_of_theme(origins),
    )
    boundary = Boundary(inner=site, client=client, framers=" ".join(["'self'", *origins]))
    uvicorn.run(
        boundary,
        host=os.environ.get("PANEL_HOST", HOST),
        port=port,
        log_level="warning",
        proxy_headers=True,
        forwarded_allow_ips=os.environ.get("PANEL_TRUSTED_PROXIES", HOST),
    )
