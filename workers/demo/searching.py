"""From what a visitor gave to results, without anything of Gradio."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import redis
from celery import Celery

from leaderboard.selectors.gallery import Hit, gallery_search, live_galleries
from workers.demo.asking import ask
from workers.demo.celery import QUEUE
from workers.demo.limits import (
    MAX_INSTRUCTION_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    SEARCHES_A_MINUTE,
    SHOWN_RESULTS,
)
from workers.demo.messages import WHOLE, Query
from workers.demo.presence import WorkerState, loading_seconds, worker_state
from workers.demo.rates import RateLimit
from workers.demo.refusals import PanelRefusal
from workers.demo.uploads import read_uploads

SEARCHES = RateLimit("searches", SEARCHES_A_MINUTE)
_WORD = re.compile(r"[^\W_]{3,}")
_COMMON = frozenset(
    ["and", "are", "but", "for", "from", "has", "its", "not", "the", "this", "that", "was", "what", "which", "with"]
)
_USUAL_SECONDS = 0.2
_USUAL_LOADING_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Request:
    """What a visitor asks: the query as given, what to search, and the address it came from."""

    text: str
    instruction: str
    files: tuple[Path, ...]
    kinds: tuple[str, ...]
    galleries: tuple[str, ...]
    domains: tuple[str, ...]
    address: str


@dataclass(frozen=True, slots=True)
class Result:
    """An item that was found, and which words of the query stand in its label or caption."""

    hit: Hit
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether searches are answered now, in words for the visitor; `model_key` is empty while they are not."""

    words: str
    model_key: str = ""


class Search:
    """Answers requests with a broker and the galleries."""

    def __init__(self, *, app: Celery, client: "redis.Redis") -> None:
        self._app = app
        self._client = client

    def availability(self) -> Availability:
        """Whether a worker is up and what there is to search; with the expected wait where there is one."""
        try:
            state = worker_state(self._client)
            waiting = int(self._client.llen(QUEUE))
            loading = loading_seconds(self._client) or _USUAL_LOADING_SECONDS
        except redis.RedisError:
            return Availability("Searching is out of order: the broker does not answer. Try again in a few minutes.")
        if state is None:
            return Availability(
                "No worker is up, so nothing can be searched now. Once one is started, its model loads in about "
                f"{loading:.0f} seconds."
            )
        if not state.ready:
            return Availability(f"The model is being loaded, which takes about {loading:.0f} seconds. Try again then.")
        n_items = sum(gallery.n_items for gallery in live_galleries(model_key=state.model_key))
        if not n_items:
            return Availability(
                f"The model {state.model_name} is loaded, but its gallery is still being filled. Try again in a minute."
            )
        return Availability(_ready_words(state, n_items, waiting), state.model_key)

    def results(self, request: Request) -> tuple[Result, ...]:
        """The best items for a request. Uploaded files are read, and never kept.

        Raises:
            PanelRefusal: the request is refused, or nothing can be searched now.
        """
        query = _query(request)
        if not SEARCHES.allows(self._client, request.address):
            raise PanelRefusal(f"At most {SEARCHES_A_MINUTE} searches a minute come from one address. Wait a minute.")
        available = self.availability()
        if not available.model_key:
            raise PanelRefusal(available.words)
        answer = ask(self._app, query)
        galleries = [
            gallery
            for gallery in live_galleries(model_key=answer.model_key)
            if not request.galleries or gallery.suite_slug in request.galleries
        ]
        hits = gallery_search(
            galleries=galleries,
            vector=answer.vectors[WHOLE],
            count=SHOWN_RESULTS,
            kinds=request.kinds,
            domains=request.domains,
            parts={name: vector for name, vector in answer.vectors.items() if name != WHOLE},
        )
        words = words_of(query.text)
        return tuple(Result(hit, shared_words(words, hit)) for hit in hits)

    def galleries(self) -> Sequence[tuple[str, str]]:
        """Titles and slugs of what can be searched now."""
        state = worker_state(self._client)
        if state is None:
            return []
        return [(row.title, row.suite_slug) for row in live_galleries(model_key=state.model_key)]


def _query(request: Request) -> Query:
    text, instruction = request.text.strip(), request.instruction.strip()
    if len(text) > MAX_TEXT_CHARACTERS:
        raise PanelRefusal(
            f"The text has {len(text):,} characters; at most {MAX_TEXT_CHARACTERS:,} are read. Shorten it."
        )
    if len(instruction) > MAX_INSTRUCTION_CHARACTERS:
        raise PanelRefusal(f"The instruction has more than {MAX_INSTRUCTION_CHARACTERS} characters. Shorten it.")
    uploads = read_uploads(request.files)
    if not text and not uploads:
        raise PanelRefusal("Give a text, an image, or both.")
    return Query(text=text, instruction=instruction, files=tuple(upload.content for upload in uploads))


def _ready_words(state: WorkerState, n_items: int, waiting: int) -> str:
    seconds = state.seconds or _USUAL_SECONDS
    line = f" {waiting} searches wait before yours, about {max(1, waiting * seconds):.0f} seconds." if waiting else ""
    return f"Ready: {state.model_name} searches {n_items:,} items.{line}"


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case that say something: three letters or more, and no common ones."""
    return frozenset(word.lower() for word in _WORD.findall(text)) - _COMMON


def shared_words(words: Collection[str], hit: Hit) -> tuple[str, ...]:
    """Those of the words that stand in a hit's label or caption, in alphabetical order."""
    return tuple(sorted(words_of(f"{hit.label} {hit.caption}") & frozenset(words)))
