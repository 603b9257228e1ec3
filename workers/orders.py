"""What a run's evaluating child is started on."""

from contextlib import AbstractContextManager
from pathlib import Path

from django.conf import settings

from evaluation.embedders.encode_config import encode_config_by_sha256
from evaluation.vocabulary import EmbedderFamily
from leaderboard.models import ModelRevision, Run
from workers.child import ChildOrder
from workers.enclosures import Evaluation, child_limits, evaluating_enclosure
from workers.own_stores import OwnStore, own_store
from workers.sealing import worker_sandbox
from workers.suite_folders import suite_folder


def store_of(run: Run) -> AbstractContextManager[OwnStore]:
    """The store of a run's revision: of a model at its commit, with an adapter at its own, in one encode config."""
    revision = run.revision
    parts = (
        revision.model.repo_id,
        revision.commit,
        revision.adapter_repo_id,
        revision.adapter_commit,
        revision.encode_config_sha256,
    )
    return own_store(settings.EMBEDDING_STORE_DIR, identity=" ".join(parts), max_bytes=settings.EMBEDDING_STORE_BYTES)


def order_of(run: Run, model: Path, adapter: Path | None, store: OwnStore) -> ChildOrder:
    """What the child of a run is started on, for a model and an adapter that lie in these folders.

    Raises:
        SandboxUnavailable: the machine does not allow what the setting SANDBOX asks for.
    """
    evaluation = Evaluation(
        model=model,
        adapter=adapter,
        encode_config=encode_config_name(run.revision),
        suite=suite_folder(run.suite),
        device=settings.WORKER_DEVICE,
        store=store.folder,
        store_bytes=store.max_bytes,
    )
    limits = child_limits(store_bytes=store.max_bytes, n_tasks=run.task_runs.count())
    return ChildOrder(
        enclosure=evaluating_enclosure(evaluation, limits),
        sandbox=worker_sandbox(),
        store_bytes=store.max_bytes,
        log=child_log_path(run),
        timeout_seconds=settings.TASK_TIMEOUT_SECONDS,
    )


def child_log_path(run: Run) -> Path:
    """The file that gets what a run's children print on this worker."""
    return settings.DATA_DIR / "logs" / f"{run.pk}.log"


def encode_config_name(revision: ModelRevision) -> str:
    """The name of the encode config that a revision was submitted with, "" for the default."""
    if not revision.encode_config_sha256:
        return ""
    return encode_config_by_sha256(EmbedderFamily(revision.model.family), revision.encode_config_sha256).name
