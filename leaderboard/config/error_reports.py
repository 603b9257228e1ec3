"""What the page of an exception shows while DEBUG is on. Without DEBUG nobody sees one."""

import re

from django.views.debug import SafeExceptionReporterFilter


class SettingsWithAddressesHidden(SafeExceptionReporterFilter):
    """Also hides the addresses of servers: they hold passwords, and stand in the environment under the same names."""

    hidden_settings = re.compile(
        f"{SafeExceptionReporterFilter.hidden_settings.pattern}|DATABASE|REDIS|EMAIL_URL|LOGGING", re.IGNORECASE
    )
