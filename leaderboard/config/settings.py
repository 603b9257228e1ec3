"""Settings, grouped by what they are about. `variable_table` says what is read from the environment."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from leaderboard.config.identity import identity_origins, identity_providers
from leaderboard.config.logs import logging_config
from leaderboard.config.variable_table import read_environment
from leaderboard.config.variables import values_or_end

BASE_DIR = Path(__file__).resolve().parent.parent.parent

value = values_or_end(lambda: read_environment(os.environ))

# --- this machine ---------------------------------------------------------------------------------------------------

DATA_DIR = value["MEDBOARD_DATA_DIR"]
DEBUG = value["DEBUG"]
SECRET_KEY = value["SECRET_KEY"]
ALLOWED_HOSTS = value["ALLOWED_HOSTS"]
CSRF_TRUSTED_ORIGINS = value["CSRF_TRUSTED_ORIGINS"]
BEHIND_TLS = value["BEHIND_TLS"]

# --- database and broker: with neither given, `leaderboard.config.embedded` starts them and sets the variables ---------

# A server that vanished without a word is given up within a minute, so that no worker waits for it for hours.
GIVE_UP = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 45_000,
}
DATABASE = value["DATABASE_URL"]
DATABASES = {
    "default": {
        **DATABASE,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**GIVE_UP, **DATABASE.get("OPTIONS", {})},
    }
}
REDIS_URL = value["REDIS_URL"]

# --- the hub of models, and where workers keep what they need ---------------------------------------------------------

HUB_ENDPOINT = value["HUB_ENDPOINT"]
HUB_TOKEN = value["HUB_TOKEN"]
MODEL_HUB_BACKEND = value["MODEL_HUB_BACKEND"]
SUITES_DIR = value["SUITES_DIR"]
MODEL_CACHE_DIR = value["MODEL_CACHE_DIR"]
EMBEDDING_STORE_DIR = value["EMBEDDING_STORE_DIR"]
EMBEDDING_STORE_BYTES = value["EMBEDDING_STORE_BYTES"]
WORKER_DEVICE = value["WORKER_DEVICE"]
WORKER_CLASS = value["WORKER_CLASS"]
CPU_CLASS_BYTES = value["CPU_CLASS_BYTES"]
MODEL_CACHE_BYTES = value["MODEL_CACHE_BYTES"]

# --- how workers seal off what they evaluate ---------------------------------------------------------------------------

SANDBOX = value["SANDBOX"]
CHILD_MEMORY_BYTES = value["CHILD_MEMORY_BYTES"]
CHILD_PROCESSES = value["CHILD_PROCESSES"]
CHILD_TMP_BYTES = value["CHILD_TMP_BYTES"]

# --- what the site quotes ---------------------------------------------------------------------------------------------

REPORTED_FIGURES = value["REPORTED_FIGURES"]
PROBING_REPORTED_FIGURES = value["PROBING_REPORTED_FIGURES"]
DATASETS_TABLE = value["DATASETS_TABLE"]
KNOWN_SYSTEMS = value["KNOWN_SYSTEMS"]

# --- the demo panel: where it is shown from, what it reads with, and its own broker ------------------------------------

PANEL_URL = value["PANEL_URL"]
PANEL_DATABASE_URL = value["PANEL_DATABASE_URL"]
PANEL_BROKER_URL = value["PANEL_BROKER_URL"]
GALLERY_INDEXER = value["GALLERY_INDEXER"]

# --- the queue --------------------------------------------------------------------------------------------------------

LEASE_SECONDS = value["LEASE_SECONDS"]
HEARTBEAT_SECONDS = value["HEARTBEAT_SECONDS"]
REAPER_SECONDS = value["REAPER_SECONDS"]
CANCEL_POLL_SECONDS = value["CANCEL_POLL_SECONDS"]
WORKER_GRACE_SECONDS = value["WORKER_GRACE_SECONDS"]
MAX_LOST_LEASES = 3
MAX_RETRIES = 3
RETRY_SECONDS = value["RETRY_SECONDS"]
TASK_TIMEOUT_SECONDS = value["TASK_TIMEOUT_SECONDS"]
DOWNLOAD_TIMEOUT_SECONDS = value["DOWNLOAD_TIMEOUT_SECONDS"]
# Longer than any bell may take to answer: a second delivery would only wake another worker for nothing.
VISIBILITY_TIMEOUT_SECONDS = value["VISIBILITY_TIMEOUT_SECONDS"]
QUEUE_AGING_SECONDS = value["QUEUE_AGING_SECONDS"]
SUBMISSIONS_PER_DAY = value["SUBMISSIONS_PER_DAY"]
SUBMISSIONS_AT_ONCE = value["SUBMISSIONS_AT_ONCE"]

# --- telling people, and being looked at ----------------------------------------------------------------------------

SITE_URL = value["SITE_URL"]
vars().update(value["EMAIL_URL"])
DEFAULT_FROM_EMAIL = value["DEFAULT_FROM_EMAIL"]
EMAIL_TIMEOUT = 20
WEBHOOKS_TO_PRIVATE_ADDRESSES = value["WEBHOOKS_TO_PRIVATE_ADDRESSES"]
METRICS_TOKEN = value["METRICS_TOKEN"]
LOG_FORMAT = value["LOG_FORMAT"]
SENTRY_DSN = value["SENTRY_DSN"]

# --- how long things are kept that are no results ----------------------------------------------------------------------

CHILD_LOG_DAYS = value["CHILD_LOG_DAYS"]
DELIVERY_DAYS = value["DELIVERY_DAYS"]

# --- Django -----------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.socialaccount.providers.github",
    "csp",
    "django_htmx",
    "django_filters",
    "leaderboard",
    "workers",  # no models: commands that need what workers know
]

MIDDLEWARE = [
    "leaderboard.config.middleware.permissions_policy",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "leaderboard.views.page_cache.KeptPages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "leaderboard.config.middleware.null_characters_refused",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "leaderboard.config.middleware.refused_methods_explained",
]

ROOT_URLCONF = "leaderboard.config.urls"
WSGI_APPLICATION = "leaderboard.config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- accounts ---------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "leaderboard.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
# Where messages really go out, an address counts once it is verified; accounts without one can still sign in.
EMAIL_IS_SENT = EMAIL_BACKEND == "django.core.mail.backends.smtp.EmailBackend"  # noqa: F821 - from EMAIL_URL, above
ACCOUNT_ADAPTER = "leaderboard.views.account_adapter.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "leaderboard.views.account_adapter.SocialAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*" if EMAIL_IS_SENT else "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if EMAIL_IS_SENT else "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_MAX_EMAIL_ADDRESSES = 3
ACCOUNT_USERNAME_BLACKLIST = ["reaper", "demo"]  # names under which the board itself acts
# Attempts are counted in the cache, which all processes share. Behind proxies, their number tells whose address counts.
ALLAUTH_TRUSTED_PROXY_COUNT = value["TRUSTED_PROXIES"]
LOGIN_REDIRECT_URL = "board-overall"
LOGIN_URL = "account_login"

# --- signing in with an account elsewhere: only where an identifier and a secret are given -----------------------------

HUGGINGFACE_CLIENT_ID = value["HUGGINGFACE_CLIENT_ID"]
HUGGINGFACE_CLIENT_SECRET = value["HUGGINGFACE_CLIENT_SECRET"]
GITHUB_CLIENT_ID = value["GITHUB_CLIENT_ID"]
GITHUB_CLIENT_SECRET = value["GITHUB_CLIENT_SECRET"]
GITHUB_URL = value["GITHUB_URL"]
SOCIALACCOUNT_PROVIDERS = identity_providers(
    hub=HUB_ENDPOINT,
    huggingface=(HUGGINGFACE_CLIENT_ID, HUGGINGFACE_CLIENT_SECRET),
    github_url=GITHUB_URL,
    github=(GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET),
)
SOCIALACCOUNT_AUTO_SIGNUP = False

# --- the cache, shared by all processes: counts of attempts, nothing that may not be lost ------------------------------

CACHES = {
    "default": {
        "BACKEND": "leaderboard.config.cache.SharedCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "medboard",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},  # a page never waits long for a counter
    }
}

# --- security ---------------------------------------------------------------------------------------------------------

SESSION_COOKIE_SECURE = BEHIND_TLS
CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_SSL_REDIRECT = BEHIND_TLS
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]  # asked for inside, where no proxy is between
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = BEHIND_TLS
SECURE_HSTS_PRELOAD = BEHIND_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'", *identity_origins(SOCIALACCOUNT_PROVIDERS)],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# No page takes a file, and the largest form names the tasks of a suite and the runs of a page.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
DATA_UPLOAD_MAX_NUMBER_FILES = 0
DEFAULT_EXCEPTION_REPORTER_FILTER = "leaderboard.config.error_reports.SettingsWithAddressesHidden"

SECRETS = [
    SECRET_KEY,
    HUB_TOKEN,
    METRICS_TOKEN,
    HUGGINGFACE_CLIENT_SECRET,
    GITHUB_CLIENT_SECRET,
    urlsplit(PANEL_DATABASE_URL).password or "",
    urlsplit(PANEL_BROKER_URL).password or "",
    DATABASE["PASSWORD"],
    urlsplit(REDIS_URL).password or "",
    vars().get("EMAIL_HOST_PASSWORD") or "",
]
LOGGING = logging_config(LOG_FORMAT, secrets=[secret for secret in SECRETS if secret])

# --- the API: requests per minute, counted in a cache that all processes of the site share ----------------------------

API_ANONYMOUS_PER_MINUTE = value["API_ANONYMOUS_PER_MINUTE"]
API_USER_PER_MINUTE = value["API_USER_PER_MINUTE"]
API_WRITES_PER_MINUTE = value["API_WRITES_PER_MINUTE"]
