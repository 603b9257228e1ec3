"""The interactive worker's tasks: they turn queries and gallery items into vectors."""

import logging
import os
import time
from typing import Any

import redis
from celery import shared_task
from celery.signals import worker_process_init

from evaluation.errors import EvaluationError
from evaluation.inputs import EmbeddingInput
from evaluation.suites.medheb.image_root import ImageRoot
from workers.demo.configuration import panel_model, required, suites_dir
from workers.demo.limits import INDEXING_SECONDS, WORK_SECONDS
from workers.demo.messages import EMBED_ITEMS, EMBED_QUERY, answer_to_json, encode_rows, query_from_json
from workers.demo.model import LoadedModel, load_model
from workers.demo.presence import Announcer

logger = logging.getLogger(__name__)


class _Process:
    """What a worker process holds, from its start on."""

    model: LoadedModel
    announcer: Announcer


@worker_process_init.connect
def load(**_signal: Any) -> None:
    """Load the model once for the life of the process, and say that it is there."""
    logging.getLogger("celery.app.trace").setLevel(logging.WARNING)  # it would log answers
    _Process.announcer = Announcer(redis.Redis.from_url(required("PANEL_BROKER_URL")))
    try:
        _Process.model = load_model(panel_model(), device=os.environ.get("PANEL_DEVICE", "cpu"))
    except EvaluationError as error:
        logger.critical("the panel's model cannot be loaded: %s", error.message)
        raise SystemExit(1) from error
    model = _Process.model
    _Process.announcer.loaded(model_key=model.key, model_name=model.name, dimension=model.dimension)
    logger.info("the panel's model %s is loaded", model.name)


@shared_task(name=EMBED_QUERY, time_limit=WORK_SECONDS)
def embed_query(message: dict[str, Any]) -> dict[str, Any]:
    """The vectors of a visitor's query, or a sentence why there are none."""
    started = time.monotonic()
    answer = answer_to_json(_Process.model.answer(query_from_json(message)))
    _Process.announcer.answered(time.monotonic() - started)
    return answer


@shared_task(name=EMBED_ITEMS, time_limit=INDEXING_SECONDS)
def embed_items(slug: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    """The vectors of inputs of an installed suite; their files are named relative to its folder.

    An input that cannot be embedded fails the batch: {"refused": why}.
    """
    folder = suites_dir() / ImageRoot(suites_dir()).file(slug, where="index_gallery").name
    root = ImageRoot(folder)
    try:
        inputs = [
            EmbeddingInput(
                text=item["text"],
                images=tuple(root.file(name, where=slug) for name in item["images"]),
                is_volume=item["is_volume"],
            )
            for item in items
        ]
        return {"rows": encode_rows(_Process.model.rows(inputs)), "model_key": _Process.model.key}
    except EvaluationError as error:
        return {"refused": error.message}
