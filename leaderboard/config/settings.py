"""Settings, read from the environment and grouped by what they are about. `.env.example` lists every variable."""

from pathlib import Path

import environ

from leaderboard.config.logs import logging_config

BASE_DIR = Path(__file__).resolve().parent.parent.parent

env = environ.Env()

# --- this machine ---------------------------------------------------------------------------------------------------

DATA_DIR = Path(env.str("MEDBOARD_DATA_DIR", default=str(BASE_DIR / ".data")))
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
BEHIND_TLS = env.bool("BEHIND_TLS", default=False)

# --- database and broker: with neither given, `leaderboard.config.embedded` starts them and sets the variables ---------

# A server that vanished without a word is given up within a minute, so that no worker waits for it for hours.
GIVE_UP = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 45_000,
}
DATABASE = env.db("DATABASE_URL")
DATABASES = {
    "default": {
        **DATABASE,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**GIVE_UP, **DATABASE.get("OPTIONS", {})},
    }
}
REDIS_URL = env.str("REDIS_URL")

# --- the hub of models, and where workers keep what they need ---------------------------------------------------------

HUB_ENDPOINT = env.str("HUB_ENDPOINT", default="https://huggingface.co")
HUB_TOKEN = env.str("HUB_TOKEN", default="")
MODEL_HUB_BACKEND = env.str("MODEL_HUB_BACKEND", default="workers.hub.HuggingFaceHub")
SUITES_DIR = Path(env.str("SUITES_DIR", default=str(DATA_DIR / "suites")))
MODEL_CACHE_DIR = Path(env.str("MODEL_CACHE_DIR", default=str(DATA_DIR / "models")))
EMBEDDING_STORE_DIR = Path(env.str("EMBEDDING_STORE_DIR", default=str(DATA_DIR / "embeddings")))
EMBEDDING_STORE_BYTES = env.int("EMBEDDING_STORE_BYTES", default=10 * 1024**3)
WORKER_DEVICE = env.str("WORKER_DEVICE", default="cpu")
WORKER_CLASS = env.str("WORKER_CLASS", default="cpu")
CPU_CLASS_BYTES = env.int("CPU_CLASS_BYTES", default=8 * 1024**3)
MODEL_CACHE_BYTES = env.int("MODEL_CACHE_BYTES", default=200 * 1024**3)

# --- how workers seal off what they evaluate ---------------------------------------------------------------------------

SANDBOX = env.str("SANDBOX", default="auto")
CHILD_MEMORY_BYTES = env.int("CHILD_MEMORY_BYTES", default=0)  # 0: four fifths of the machine's
CHILD_PROCESSES = env.int("CHILD_PROCESSES", default=1024)
CHILD_TMP_BYTES = env.int("CHILD_TMP_BYTES", default=1024**3)

# --- what the site quotes ---------------------------------------------------------------------------------------------

REPORTED_FIGURES = Path(
    env.str("REPORTED_FIGURES", default=str(BASE_DIR / "evaluation" / "suites" / "medheb" / "reported.json"))
)
PROBING_REPORTED_FIGURES = Path(
    env.str("PROBING_REPORTED_FIGURES", default=str(BASE_DIR / "evaluation" / "suites" / "medtec" / "reported.json"))
)

KNOWN_SYSTEMS = Path(env.str("KNOWN_SYSTEMS", default=str(BASE_DIR / "evaluation" / "embedders" / "systems.yaml")))

# --- the demo panel: where it is shown from, what it reads with, and its own broker ------------------------------------

PANEL_URL = env.str("PANEL_URL", default="")
PANEL_DATABASE_URL = env.str("PANEL_DATABASE_URL", default="")
PANEL_BROKER_URL = env.str("PANEL_BROKER_URL", default="")
GALLERY_INDEXER = env.str("GALLERY_INDEXER", default="workers.demo.indexing.index_suites")

# --- the queue --------------------------------------------------------------------------------------------------------

LEASE_SECONDS = env.int("LEASE_SECONDS", default=60)
HEARTBEAT_SECONDS = env.float("HEARTBEAT_SECONDS", default=LEASE_SECONDS / 4)
REAPER_SECONDS = env.float("REAPER_SECONDS", default=60.0)
CANCEL_POLL_SECONDS = env.float("CANCEL_POLL_SECONDS", default=min(2.0, HEARTBEAT_SECONDS))
WORKER_GRACE_SECONDS = env.float("WORKER_GRACE_SECONDS", default=3.0)
MAX_LOST_LEASES = 3
MAX_RETRIES = 3
RETRY_SECONDS = env.float("RETRY_SECONDS", default=30.0)
TASK_TIMEOUT_SECONDS = env.int("TASK_TIMEOUT_SECONDS", default=6 * 3600)
DOWNLOAD_TIMEOUT_SECONDS = env.int("DOWNLOAD_TIMEOUT_SECONDS", default=4 * 3600)
# Longer than any bell may take to answer: a second delivery would only wake another worker for nothing.
VISIBILITY_TIMEOUT_SECONDS = env.int("VISIBILITY_TIMEOUT_SECONDS", default=2 * TASK_TIMEOUT_SECONDS)
QUEUE_AGING_SECONDS = env.int("QUEUE_AGING_SECONDS", default=24 * 3600)
SUBMISSIONS_PER_DAY = env.int("SUBMISSIONS_PER_DAY", default=20)
SUBMISSIONS_AT_ONCE = env.int("SUBMISSIONS_AT_ONCE", default=10)

# --- telling people, and being looked at ----------------------------------------------------------------------------

SITE_URL = env.str("SITE_URL", default=f"http://localhost:{env.int('MEDBOARD_PORT', default=8000)}").rstrip("/")
vars().update(env.email_url("EMAIL_URL", default="consolemail://"))
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="medboard@localhost")
EMAIL_TIMEOUT = 20
WEBHOOKS_TO_PRIVATE_ADDRESSES = env.bool("WEBHOOKS_TO_PRIVATE_ADDRESSES", default=False)
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
LOG_FORMAT = env.str("LOG_FORMAT", default="plain")

# --- how long things are kept that are no results ----------------------------------------------------------------------

CHILD_LOG_DAYS = env.int("CHILD_LOG_DAYS", default=90)
DELIVERY_DAYS = env.int("DELIVERY_DAYS", default=90)

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
    "csp",
    "django_htmx",
    "django_filters",
    "leaderboard",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
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
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
LOGIN_REDIRECT_URL = "board-overall"
LOGIN_URL = "account_login"

# --- security ---------------------------------------------------------------------------------------------------------

SESSION_COOKIE_SECURE = BEHIND_TLS
CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_SSL_REDIRECT = BEHIND_TLS
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
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

LOGGING = logging_config(LOG_FORMAT)
