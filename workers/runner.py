"""What a worker does when it hears the bell: takes runs, feeds the evaluating child, carries results to services."""

import logging
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluation.embedders.encode_config import encode_config_by_sha256
from evaluation.errors import EvaluationError
from evaluation.vocabulary import EmbedderFamily
from leaderboard.config.logs import about_run
from leaderboard.exceptions import LeaseLost, TransitionRefused
from leaderboard.models import ModelRevision, Run
from leaderboard.models.vocabulary import RunState
from leaderboard.services import leases, results, runs
from leaderboard.services.administration import worker_takes
from leaderboard.services.leases import TaskClaim
from workers.child import ChildError, ChildLost, ChildOrder, EvaluatingChild
from workers.comparisons import build_comparisons
from workers.heartbeat import Heartbeat
from workers.hub import HuggingFaceHub
from workers.identity import WorkerIdentity
from workers.ingest import aggregates_of_run, outcome_from_message
from workers.log_keeping import keep_child_log
from workers.shutdown import SHUTDOWN
from workers.snapshots import build_snapshots
from workers.suite_folders import suite_folder

MAX_MESSAGE = 2000

logger = logging.getLogger(__name__)


def work_until_idle(worker: WorkerIdentity) -> None:
    """Close runs that are done and evaluate runs that need a hand, the most urgent first, until there is none.

    What a run changed on the boards is computed before the next one is taken, as the bell for it waits behind this.
    """
    while not SHUTDOWN.requested:
        if run := results.run_scoring_claim(worker=worker.name):
            with about_run(run.pk):
                _close(run, worker)
            build_snapshots()
            build_comparisons()
        elif run := leases.run_next_claim(worker=worker.name):
            with about_run(run.pk):
                _evaluate(run, worker)
        else:
            return


def _evaluate(run: Run, worker: WorkerIdentity) -> None:
    """Work on a run until none of its tasks is left, and turn whatever goes wrong into a state that says so."""
    logger.info("run %s: %s works on it", run.pk, worker.name)
    worker_takes(name=worker.name, run_id=run.pk)
    try:
        _evaluate_tasks(run, worker)
    except LeaseLost as lost:
        logger.warning("run %s: %s", run.pk, lost)
    except (EvaluationError, ChildError) as error:
        _fail(run, worker, code=error.code, kind=error.kind, message=_without_folders(error.message))
    except ChildLost as lost:
        # Its unfinished tasks were given back; the run stays in the queue and is taken up again.
        logger.warning("run %s: %s", run.pk, lost)
    finally:
        SHUTDOWN.call_when_requested(None)
        keep_child_log(run_id=run.pk, worker=worker.name, path=_log_path(run))
        worker_takes(name=worker.name, run_id=None)


def _evaluate_tasks(run: Run, worker: WorkerIdentity) -> None:
    with _HeldRun(run, worker) as held:
        model, adapter = _download(run)
        with EvaluatingChild(_order(run, model, adapter)) as child:
            held.child = child
            SHUTDOWN.call_when_requested(child.kill)
            ready = _wait_until_ready(child, run, worker)
            results.run_model_describe(
                run_id=run.pk,
                description=ready["model"],
                environment=ready["environment"],
                code_version=ready["environment"]["code_version"],
            )
            leases.run_start(run_id=run.pk, worker=worker.name)
            while claims := leases.task_group_claim(run_id=run.pk, worker=worker.name):
                _evaluate_group(child, claims, worker, kind=run.suite.kind)


def _download(run: Run) -> tuple[Path, Path | None]:
    """The folders of the run's model and of its adapter, if it has one, at exactly the run's commits."""
    hub = HuggingFaceHub(endpoint=settings.HUB_ENDPOINT, token=settings.HUB_TOKEN)
    cache = settings.MODEL_CACHE_DIR
    revision = run.revision
    model = hub.download(repo_id=revision.model.repo_id, commit=revision.commit, cache_folder=cache)
    if not revision.adapter_repo_id:
        return model, None
    adapter = hub.download_adapter(repo_id=revision.adapter_repo_id, commit=revision.adapter_commit, cache_folder=cache)
    return model, adapter


def _wait_until_ready(child: EvaluatingChild, run: Run, worker: WorkerIdentity) -> dict[str, Any]:
    try:
        return child.wait_until_ready()
    except ChildLost as lost:
        leases.run_give_back(run_id=run.pk, worker=worker.name, reason=str(lost), blameless=SHUTDOWN.requested)
        raise


class _HeldRun(Heartbeat):
    """A heartbeat that ends the child, once there is one, when the run is lost."""

    child: EvaluatingChild | None = None

    def __init__(self, run: Run, worker: WorkerIdentity) -> None:
        super().__init__(run_id=run.pk, worker=worker.name, on_lost=self._end_child)

    def _end_child(self) -> None:
        if self.child is not None:
            self.child.kill()


def _order(run: Run, model: Path, adapter: Path | None) -> ChildOrder:
    return ChildOrder(
        model=model,
        adapter=adapter,
        encode_config=_encode_config_name(run.revision),
        suite=suite_folder(run.suite),
        device=settings.WORKER_DEVICE,
        store=settings.EMBEDDING_STORE_DIR,
        store_bytes=settings.EMBEDDING_STORE_BYTES,
        log=_log_path(run),
        timeout_seconds=settings.TASK_TIMEOUT_SECONDS,
    )


def _log_path(run: Run) -> Path:
    """The file that gets what a run's children write on this worker."""
    return settings.DATA_DIR / "logs" / f"{run.pk}.log"


def _encode_config_name(revision: ModelRevision) -> str:
    """The name of the encode config that a revision was submitted with, "" for the default."""
    if not revision.encode_config_sha256:
        return ""
    return encode_config_by_sha256(EmbedderFamily(revision.model.family), revision.encode_config_sha256).name


def _evaluate_group(child: EvaluatingChild, claims: list[TaskClaim], worker: WorkerIdentity, *, kind: str) -> None:
    """Evaluate claimed tasks of a kind of suite; what the child did not get to is given back."""
    open_claims = {claim.task_name: claim for claim in claims}
    try:
        for message in child.evaluate(list(open_claims)):
            _handle(message, open_claims, worker, kind=kind)
    finally:
        leases.claims_return(claims=list(open_claims.values()), worker=worker.name, blameless=SHUTDOWN.requested)


def _handle(message: dict[str, Any], open_claims: dict[str, TaskClaim], worker: WorkerIdentity, *, kind: str) -> None:
    match message["type"]:
        case "progress":
            claim = open_claims.get(str(message.get("task")))
            if claim:
                done, total = int(message["done"]), int(message["total"])
                results.task_run_progress(claim=claim, worker=worker.name, done=done, total=total)
        case "task_result":
            name, outcome = outcome_from_message(message, kind=kind)
            results.task_run_succeed(claim=_claim_for(name, open_claims), worker=worker.name, outcome=outcome)
            del open_claims[name]
            logger.info("task %s: stored", name)
        case "task_failed":
            name = str(message.get("task"))
            results.task_run_fail(
                claim=_claim_for(name, open_claims),
                worker=worker.name,
                code=str(message["code"])[:64],
                kind=str(message["kind"]),
                message=_without_folders(str(message["message"])),
            )
            del open_claims[name]
        case other:
            raise ChildLost(f"the child sent a message of unknown type {other!r}")


def _without_folders(message: str) -> str:
    """A message for people, without the folders of this worker."""
    for folder in (settings.SUITES_DIR, settings.MODEL_CACHE_DIR, settings.EMBEDDING_STORE_DIR):
        message = message.replace(f"{folder}/", "")
    return message[:MAX_MESSAGE]


def _claim_for(name: str, open_claims: dict[str, TaskClaim]) -> TaskClaim:
    if name not in open_claims:
        raise ChildLost(f"the child answered for task {name!r}, which it was not asked")
    return open_claims[name]


def _close(run: Run, worker: WorkerIdentity) -> None:
    if run.state != RunState.SCORING:
        return
    try:
        results.run_succeed(run_id=run.pk, worker=worker.name, aggregates=aggregates_of_run(run))
        logger.info("run %s: succeeded", run.pk)
    except LeaseLost as lost:
        logger.warning("run %s: %s", run.pk, lost)


def _fail(run: Run, worker: WorkerIdentity, *, code: str, kind: str, message: str) -> None:
    logger.warning("run %s: failed, %s: %s", run.pk, code, message)
    try:
        runs.run_fail(run_id=run.pk, actor=worker.name, code=code, kind=kind, message=message)
    except TransitionRefused as refused:
        logger.warning("run %s: %s", run.pk, refused)
