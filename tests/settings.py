"""The project's settings on servers of the tests' own, with nothing slow that tests do not look at."""

import os
from pathlib import Path

from leaderboard.config import embedded
from workers.sandbox.choice import best_sandbox_name

BASE_DIR = Path(__file__).resolve().parent.parent
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin while they wait slow the other processes
os.environ.setdefault("MEDBOARD_DATA_DIR", str(BASE_DIR / ".data" / "tests"))
os.environ.setdefault("SANDBOX", best_sandbox_name())  # tests of a sandbox that does not work here are skipped
SERVERS = embedded.start()

from leaderboard.config.settings import *  # noqa: E402, F403 - the servers above give these settings their addresses

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
CACHES["default"]["KEY_PREFIX"] = f"tests-{os.getpid()}"  # noqa: F405 - of the settings above
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
# Every test has one address; those of the limits set their own.
API_ANONYMOUS_PER_MINUTE = API_USER_PER_MINUTE = API_WRITES_PER_MINUTE = 10**6
