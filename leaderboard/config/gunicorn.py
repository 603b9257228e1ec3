"""How gunicorn serves the site in production: `gunicorn --config python:leaderboard.config.gunicorn ...`."""

import os
from typing import Any

from leaderboard.config.logs import logging_config

_FORMAT = "json" if os.environ.get("LOG_FORMAT") == "json" else "plain"
_OWN_LOGGERS = {"gunicorn.error": {"level": "INFO", "handlers": [], "propagate": True}}

worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY") or "2")
threads = 4
timeout = 60
graceful_timeout = 30  # a request that has begun may end before the process is stopped
max_requests = 10_000  # whatever a library keeps for ever is given back now and then
max_requests_jitter = 1_000
worker_tmp_dir = "/dev/shm"  # noqa: S108 - heartbeats in memory: a slow disk must not look like a process that hangs
control_socket_disable = True
forwarded_allow_ips = "*"  # the port is open to the proxy alone
logconfig_dict = logging_config(_FORMAT)
logconfig_dict["loggers"] = {**logconfig_dict["loggers"], **_OWN_LOGGERS}


def on_starting(server: Any) -> None:
    """Read the settings in the parent, which ends with status 2 if they are invalid, instead of child after child."""
    from leaderboard.config import settings  # noqa: F401, PLC0415 - read here, not when this module is imported
