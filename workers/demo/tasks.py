"""The interactive worker's tasks: they turn queries and gallery items into vectors."""

import logging
import os
import time
from typing import Any

import redis
from celery import shared_task
from celery.signals import worker_process_init, worker_process_shutdown

from evaluation.errors import EvaluationError
from evaluation.inputs import EmbeddingInput
from evaluation.suites.medheb.image_root import ImageRoot
from workers.demo.configuration import panel_model, required, suites_dir
from workers.demo.decoders import Decoders, DecoderUnavailable
from workers.demo.limits import INDEXING_SECONDS, WORK_SECONDS
from workers.demo.messages import EMBED_ITEMS, EMBED_QUERY, answer_to_json, encode_rows, query_from_json
from workers.demo.model import LoadedModel, load_model
from workers.demo.presence import Announcer
from workers.sandbox.choice import AUTOMATIC, chosen_sandbox
from workers.sandbox.protocol import SandboxUnavailable

logger = logging.getLogger(__name__)


class _Process:
    """What a worker process holds, from its start on."""

    model: LoadedModel
    decoders: Decoders
    announcer: Announcer


@worker_process_init.connect
def load(**_signal: Any) -> None:
    """Load the model once for the life of the process, start what reads files, and say that both are there."""
    logging.getLogger("celery.app.trace").setLevel(logging.WARNING)  # it would log answers
    _Process.announcer = Announcer(redis.Redis.from_url(required("PANEL_BROKER_URL")))
    try:
        _Process.decoders = _decoders()
        _Process.model = load_model(panel_model(), device=os.environ.get("PANEL_DEVICE", "cpu"))
    except (SandboxUnavailable, DecoderUnavailable) as error:
        logger.critical("visitors' files cannot be read in a sealed process: %s", error)
        raise SystemExit(1) from error
    except EvaluationError as error:
        logger.critical("the panel's model cannot be loaded: %s", error.message)
        raise SystemExit(1) from error
    model = _Process.model
    _Process.announcer.loaded(model_key=model.key, model_name=model.name, dimension=model.dimension)
    logger.info("the panel's model %s is loaded", model.name)


def _decoders() -> Decoders:
    """What reads visitors' files, sealed off as SANDBOX says.

    Raises:
        SandboxUnavailable, DecoderUnavailable: this machine does not allow it.
    """
    sandbox = chosen_sandbox(os.environ.get("SANDBOX", AUTOMATIC))
    if not sandbox.is_sealed:
        logger.warning("SANDBOX=none: a file of a visitor that takes its decoder over has the rights of this worker")
    decoders = Decoders(sandbox)
    decoders.require()
    return decoders


@worker_process_shutdown.connect
def end(**_signal: Any) -> None:
    """End what stands ready, if it came so far."""
    if hasattr(_Process, "decoders"):
        _Process.decoders.close()


@shared_task(name=EMBED_QUERY, time_limit=WORK_SECONDS)
def embed_query(message: dict[str, Any]) -> dict[str, Any]:
    """The vectors of a visitor's query, or a sentence why there are none."""
    started = time.monotonic()
    answer = answer_to_json(_Process.model.answer(query_from_json(message), _Process.decoders))
    _Process.announcer.answered(time.monotonic() - started)
    _Process.decoders.fill()
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
