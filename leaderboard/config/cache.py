"""The cache that all processes share, and what stands in for it while its server is away."""

import logging
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


class SharedCache(RedisCache):
    """Redis's cache; while its server does not answer, one of this process alone.

    What is counted here are attempts to sign in. Without the server people can still sign in, and guessing is still
    limited, by each process for itself.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._own = LocMemCache("shared-cache-away", {**params, "OPTIONS": {}})

    def add(self, *args: Any, **kwargs: Any) -> Any:
        """As Django's."""
        return self._ask("add", *args, **kwargs)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """As Django's."""
        return self._ask("get", *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> Any:
        """As Django's."""
        return self._ask("set", *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> Any:
        """As Django's."""
        return self._ask("incr", *args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """As Django's."""
        return self._ask("delete", *args, **kwargs)

    def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return getattr(RedisCache, name)(self, *args, **kwargs)
        except RedisError as error:
            logger.warning("the shared cache does not answer (%s); this process counts for itself", error)
            return getattr(self._own, name)(*args, **kwargs)
