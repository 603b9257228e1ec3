"""How often one address may ask; the counts live with the broker and end after a minute."""

from dataclasses import dataclass

import redis

_WINDOW_SECONDS = 60


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `most` events of an address within a minute that begins with its first."""

    name: str
    most: int

    def allows(self, client: "redis.Redis", address: str) -> bool:
        """Count an event, and say whether it is still within the limit."""
        key = f"panel:rate:{self.name}:{address}"
        with client.pipeline() as together:
            together.incr(key)
            together.expire(key, _WINDOW_SECONDS, nx=True)
            count, _ = together.execute()
        return int(count) <= self.most
