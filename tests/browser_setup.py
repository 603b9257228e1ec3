"""`python -m tests.browser_setup`: make sure that there is a Chromium for the end-to-end tests, or say what to do."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """The path of an installed Chromium, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def main() -> int:
    if find_browser():
        return 0
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        sys.stderr.write(
            "The end-to-end tests need Chromium and none was found. Install it (on Debian: sudo apt-get install"
            " chromium), then run this again.\n"
        )
        return 1
    sys.stderr.write("Chromium was not found; installing Debian's package chromium ...\n")
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
        if subprocess.run(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, check=False).returncode:
            sys.stderr.write(f"`{' '.join(command)}` failed; the end-to-end tests cannot run without a browser.\n")
            return 1
    return 0 if find_browser() else 1


if __name__ == "__main__":
    sys.exit(main())
