"""The site as a WSGI application."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import resolve

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.config.settings")
application = get_wsgi_application()
resolve("/")  # imports every view now, so that the first visitor of a process does not wait for it
