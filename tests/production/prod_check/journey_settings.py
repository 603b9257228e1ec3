"""Settings for pytest where the board runs elsewhere: no server is started and no database asked."""

SECRET_KEY = "of a process that serves nothing"
INSTALLED_APPS: list[str] = []
