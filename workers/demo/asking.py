"""Asks the interactive worker, and waits for its answer within bounds."""

import logging
from collections.abc import Sequence
from typing import Any

from celery import Celery
from celery.exceptions import TimeoutError as AnswerTimeout
from kombu.exceptions import KombuError
from redis import RedisError

from workers.demo.celery import QUEUE
from workers.demo.limits import ANSWER_SECONDS, INDEXING_SECONDS
from workers.demo.messages import (
    EMBED_ITEMS,
    EMBED_QUERY,
    Answer,
    MessageInvalid,
    Query,
    answer_from_json,
    query_to_json,
)
from workers.demo.refusals import PanelRefusal

logger = logging.getLogger(__name__)


class WorkerFailed(Exception):
    """The worker gave no answer; the text says why, for a log."""


def ask(app: Celery, query: Query) -> Answer:
    """The vectors of a query; neither it nor the answer stays with the broker.

    Raises:
        PanelRefusal: the worker refuses the query, fails, or does not answer in time.
    """
    try:
        answer = answer_from_json(_result(app, EMBED_QUERY, [query_to_json(query)], seconds=ANSWER_SECONDS))
    except (WorkerFailed, MessageInvalid) as error:
        logger.warning("a query was not answered: %s", error)
        raise PanelRefusal("The search failed on our side. Try again in a minute, or with a smaller query.") from error
    if answer.refused:
        raise PanelRefusal(answer.refused)
    return answer


def ask_for_items(app: Celery, slug: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The answer to a batch of gallery items.

    Raises:
        WorkerFailed: the worker does not answer or fails.
    """
    answer: dict[str, Any] = _result(app, EMBED_ITEMS, [slug, list(items)], seconds=INDEXING_SECONDS)
    return answer


def _result(app: Celery, task: str, arguments: list[Any], *, seconds: int) -> Any:
    try:
        asked = app.send_task(task, arguments, queue=QUEUE, expires=seconds)
        try:
            value = asked.get(timeout=seconds, propagate=False)
            if not asked.successful():
                raise WorkerFailed(f"{task} ended with {type(value).__name__}")
        finally:
            asked.forget()
    except AnswerTimeout as error:
        raise WorkerFailed(f"{task} was not answered within {seconds} seconds") from error
    except (KombuError, RedisError, OSError) as error:
        raise WorkerFailed(f"the broker is away: {type(error).__name__}") from error
    return value
