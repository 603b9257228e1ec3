#!/usr/bin/env python
"""Django's command line. Without `DATABASE_URL` it works on the embedded Postgres of this checkout."""

import os
import sys

from django.core.management import execute_from_command_line

from leaderboard.config import embedded

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.config.settings")
    embedded.start(with_broker=False)
    execute_from_command_line(sys.argv)
