"""How often one caller may ask, within each minute.

The framework's own limits keep the state of a request on an object that all threads share, and read and write back a
list; these count with one atomic step in the cache that all processes share.
"""

import logging
import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from ninja.throttling import BaseThrottle
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

MINUTE = 60


class PerMinute(BaseThrottle):
    """So many requests a minute for each token, person or address. `setting` names the number for people."""

    def __init__(self, kind: str, *, setting: str) -> None:
        self._kind = kind
        self._setting = setting

    def allow_request(self, request: HttpRequest) -> bool:
        """Whether the caller is within the limit. While the counters are away everybody is: quotas stand elsewhere."""
        caller = request.auth
        minute = int(time.time()) // MINUTE
        limit = getattr(settings, self._setting if caller.user.is_authenticated else "API_ANONYMOUS_PER_MINUTE")
        try:
            return _count(f"api-{self._kind}-{caller.counted_as}-{minute}") <= limit
        except RedisError as error:
            logger.warning("requests to the API are not counted: %s", error)
            return True

    def wait(self) -> int:
        """Seconds until the next minute."""
        return MINUTE - int(time.time()) % MINUTE


def _count(key: str) -> int:
    """One more under this key: how many there are now."""
    cache.add(key, 0, timeout=2 * MINUTE)
    try:
        return int(cache.incr(key))
    except ValueError:  # the cache dropped it between the two steps
        return 1


READS = PerMinute("read", setting="API_USER_PER_MINUTE")
WRITES = PerMinute("write", setting="API_WRITES_PER_MINUTE")
