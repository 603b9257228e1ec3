"""Whether an interactive worker is up: it says so every few seconds, and the panel reads it."""

import contextlib
import json
import threading
import time
from dataclasses import asdict, dataclass

import redis

STATE_KEY = "panel:worker"
LOADING_KEY = "panel:loading-seconds"
_SECONDS_BETWEEN = 1.0
_KEPT_SECONDS = 5
_SHARE_OF_NEWEST = 0.2


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What a worker says of itself. `seconds` is what a query took lately; 0 while none was answered."""

    ready: bool
    model_key: str = ""
    model_name: str = ""
    dimension: int = 0
    seconds: float = 0.0


class Announcer:
    """Says in a thread of its own what the worker's state is, for as long as the process lives."""

    def __init__(self, client: "redis.Redis") -> None:
        self._client = client
        self._state = WorkerState(ready=False)
        self._started = time.monotonic()
        threading.Thread(target=self._run, name="presence", daemon=True).start()

    def loaded(self, *, model_key: str, model_name: str, dimension: int) -> None:
        """The model is loaded: queries are answered from here on."""
        self._state = WorkerState(ready=True, model_key=model_key, model_name=model_name, dimension=dimension)
        self._client.set(LOADING_KEY, f"{time.monotonic() - self._started:.1f}")
        self._say()

    def answered(self, seconds: float) -> None:
        """A query was answered in so many seconds."""
        before = self._state.seconds
        mean = seconds if before == 0 else before + _SHARE_OF_NEWEST * (seconds - before)
        self._state = WorkerState(**{**asdict(self._state), "seconds": mean})

    def _say(self) -> None:
        self._client.set(STATE_KEY, json.dumps(asdict(self._state)), ex=_KEPT_SECONDS)

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            # A broker that is away is reported by celery, and the key ends by itself.
            with contextlib.suppress(redis.RedisError):
                self._say()
            pause.wait(_SECONDS_BETWEEN)


def worker_state(client: "redis.Redis") -> WorkerState | None:
    """What the worker last said; None where none has said anything for some seconds."""
    said = client.get(STATE_KEY)
    return WorkerState(**json.loads(said)) if said else None


def loading_seconds(client: "redis.Redis") -> float | None:
    """How long the model last took to load; None where it never was."""
    said = client.get(LOADING_KEY)
    return float(said) if said else None
