"""Asks the interactive worker, and waits for its answer within bounds."""

from collections.abc import Sequence
from typing import Any

from celery import Celery
from celery.exceptions import CeleryError
from celery.exceptions import TimeoutError as AnswerTimeout
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


def ask(app: Celery, query: Query) -> Answer:
    """The vectors of a query; neither it nor the answer stays with the broker.

    Raises:
        PanelRefusal: the worker refuses the query, fails, or does not answer in time.
    """
    try:
        answer = answer_from_json(_result(app, EMBED_QUERY, [query_to_json(query)], seconds=ANSWER_SECONDS))
    except AnswerTimeout as error:
        raise PanelRefusal(f"No answer came within {ANSWER_SECONDS} seconds. Try again in a minute.") from error
    except (CeleryError, MessageInvalid, RedisError, OSError) as error:
        raise PanelRefusal("The search failed on our side. Try again in a minute, or with a smaller query.") from error
    if answer.refused:
        raise PanelRefusal(answer.refused)
    return answer


def ask_for_items(app: Celery, slug: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The answer to a batch of gallery items.

    Raises:
        CeleryError, OSError: the worker does not answer or fails.
    """
    answer: dict[str, Any] = _result(app, EMBED_ITEMS, [slug, list(items)], seconds=INDEXING_SECONDS)
    return answer


def _result(app: Celery, task: str, arguments: list[Any], *, seconds: int) -> Any:
    asked = app.send_task(task, arguments, queue=QUEUE, expires=seconds)
    try:
        return asked.get(timeout=seconds)
    finally:
        asked.forget()
