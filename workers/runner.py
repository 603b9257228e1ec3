"""What a worker does when it hears the bell: takes runs, feeds the evaluating child, carries results to services."""

import contextlib
import logging
import threading
from typing import Any

from django.conf import settings
from django.db import DataError, IntegrityError

from evaluation.errors import EvaluationError, ResultInvalid
from leaderboard import queue
from leaderboard.config.logs import about_run
from leaderboard.exceptions import LeaseLost
from leaderboard.models import Run, TaskRun
from leaderboard.models.vocabulary import RunState
from leaderboard.services import failures, leases, results
from leaderboard.services.administration import worker_takes
from leaderboard.services.leases import TaskClaim
from workers.child import EvaluatingChild
from workers.child_errors import ChildError, ChildLost, ChildMisbehaved
from workers.child_log import redacted
from workers.child_messages import MAX_MESSAGE, misbehaved
from workers.comparisons import build_comparisons
from workers.fetching import fetched
from workers.heartbeat import Heartbeat
from workers.identity import WorkerIdentity
from workers.ingest import aggregates_of_run, outcome_from_message
from workers.log_keeping import keep_child_log
from workers.orders import child_log_path, order_of, store_of
from workers.shutdown import SHUTDOWN
from workers.snapshots import build_snapshots

logger = logging.getLogger(__name__)


class TaskSpoiled(Exception):
    """A task has failed for what the child did, and that child is given up."""


def work_until_idle(worker: WorkerIdentity) -> None:
    """Close runs that are done and evaluate runs that need a hand, the most urgent first, until there is none.

    Before it stops it takes back what vanished workers held: while all workers are busy, no reaper is heard.
    What a run changed on the boards is computed before the next one is taken, as the bell for it waits behind this.
    """
    while not SHUTDOWN.requested:
        if run := results.run_scoring_claim(worker=worker.name):
            with about_run(run.pk):
                _close(run, worker)
            if not SHUTDOWN.requested:
                build_snapshots()
                build_comparisons()
        elif run := leases.run_next_claim(worker=worker.name, worker_class=worker.worker_class):
            with about_run(run.pk):
                _evaluate(run, worker)
        elif not leases.leases_reap():
            return


def _evaluate(run: Run, worker: WorkerIdentity) -> None:
    """Work on a run until none of its tasks is left, and turn whatever goes wrong into a state that says so."""
    logger.info("run %s: %s works on it", run.pk, worker.name)
    worker_takes(name=worker.name, run_id=run.pk)
    try:
        _evaluate_tasks(run, worker)
    except LeaseLost as lost:
        logger.warning("run %s: %s", run.pk, lost)
        if SHUTDOWN.requested:
            _give_back(run, worker, reason=str(lost))
    except TaskSpoiled as spoiled:
        # The task that the child was in has failed for it; the run goes on with another child.
        logger.warning("run %s: %s", run.pk, spoiled)
    except (EvaluationError, ChildError) as error:
        _report_failure(run, worker, error)
    except ChildLost as lost:
        # Its unfinished tasks were given back; the run stays in the queue and is taken up again.
        logger.warning("run %s: %s", run.pk, lost)
    finally:
        SHUTDOWN.call_when_requested(None)
        keep_child_log(run_id=run.pk, worker=worker.name, path=child_log_path(run))
        worker_takes(name=worker.name, run_id=None)
        if SHUTDOWN.requested:
            queue.ring(run.pk, run.worker_class)  # another worker may be idle


def _evaluate_tasks(run: Run, worker: WorkerIdentity) -> None:
    with contextlib.ExitStack() as stack:
        held = stack.enter_context(_HeldRun(run, worker))
        model, adapter = stack.enter_context(fetched(run, is_wanted=held.is_wanted))
        store = stack.enter_context(store_of(run))
        with EvaluatingChild(order_of(run, model, adapter, store)) as child:
            held.end_when_lost(child)
            SHUTDOWN.call_when_requested(child.kill)
            ready = _wait_until_ready(child, run, worker)
            results.run_model_describe(
                run_id=run.pk,
                claim=run.claims,
                description=ready["model"],
                environment=ready["environment"],
                code_version=ready["environment"]["code_version"],
            )
            leases.run_start(run_id=run.pk, worker=worker.name)
            logger.info("run %s: its model is loaded", run.pk)
            SHUTDOWN.call_when_requested(child.kill, grace=settings.WORKER_GRACE_SECONDS)
            while not SHUTDOWN.requested and (
                claims := leases.task_group_claim(run_id=run.pk, worker=worker.name, worker_class=worker.worker_class)
            ):
                _evaluate_group(child, claims, worker, kind=run.suite.kind)


def _wait_until_ready(child: EvaluatingChild, run: Run, worker: WorkerIdentity) -> dict[str, Any]:
    try:
        return child.wait_until_ready()
    except ChildLost as lost:
        _give_back(run, worker, reason=str(lost))
        raise


def _give_back(run: Run, worker: WorkerIdentity, *, reason: str) -> None:
    stops = SHUTDOWN.requested
    leases.run_give_back(
        run_id=run.pk,
        claim=run.claims,
        worker=worker.name,
        reason="the worker was told to stop" if stops else reason,
        blameless=stops,
    )


class _HeldRun(Heartbeat):
    """A heartbeat that ends the child, also one that is started later, when the run is lost."""

    def __init__(self, run: Run, worker: WorkerIdentity) -> None:
        super().__init__(run_id=run.pk, claim=run.claims, worker=worker.name, on_lost=self._lose)
        self._lock = threading.Lock()
        self._child: EvaluatingChild | None = None
        self._is_lost = False

    def is_wanted(self) -> bool:
        """Whether work on the run should go on."""
        return not (self._is_lost or SHUTDOWN.requested)

    def end_when_lost(self, child: EvaluatingChild) -> None:
        """Set the child that is ended when the run is lost; at once if it is lost already."""
        with self._lock:
            self._child = child
            if self._is_lost:
                child.kill()

    def _lose(self) -> None:
        with self._lock:
            self._is_lost = True
            if self._child is not None:
                self._child.kill()


def _evaluate_group(child: EvaluatingChild, claims: list[TaskClaim], worker: WorkerIdentity, *, kind: str) -> None:
    """Evaluate claimed tasks of a kind of suite; what the child did not get to is given back.

    A worker that was told to stop ends with the task that is in work.
    """
    open_claims = {claim.task_name: claim for claim in claims}
    try:
        for message in child.evaluate(list(open_claims)):
            _handle(message, open_claims, worker, kind=kind)
            if SHUTDOWN.requested and message["type"] != "progress":
                return
    except ChildMisbehaved as error:
        _spoil(error, open_claims, worker)
    finally:
        leases.claims_return(
            claims=list(open_claims.values()),
            worker=worker.name,
            blameless=SHUTDOWN.requested,
            worker_class=worker.worker_class,
        )


def _spoil(error: ChildMisbehaved, open_claims: dict[str, TaskClaim], worker: WorkerIdentity) -> None:
    """Fail the task that a child was in when it broke a rule, and give it up.

    Raises:
        TaskSpoiled: always.
    """
    if open_claims:
        task = next(iter(open_claims))
        _fail_task(open_claims.pop(task), worker, code=error.code, kind=error.kind, message=error.message)
        raise TaskSpoiled(f"task {task}: {error.code}: {error.message}") from error
    raise TaskSpoiled(f"after its tasks: {error.code}: {error.message}") from error


def _handle(message: dict[str, Any], open_claims: dict[str, TaskClaim], worker: WorkerIdentity, *, kind: str) -> None:
    """Store what a checked message says.

    Raises:
        ChildMisbehaved: its result is none that can be stored.
    """
    match message["type"]:
        case "progress":
            claim = open_claims[message["task"]]
            results.task_run_progress(claim=claim, worker=worker.name, done=message["done"], total=message["total"])
        case "task_result":
            claim = open_claims[message["result"]["task"]]
            _store_result(message, claim, worker, kind=kind)
            del open_claims[claim.task_name]
            logger.info("task %s: stored", claim.task_name)
        case "task_failed":
            claim = open_claims.pop(message["task"])
            _fail_task(claim, worker, code=message["code"], kind=message["kind"], message=message["message"])


def _store_result(message: dict[str, Any], claim: TaskClaim, worker: WorkerIdentity, *, kind: str) -> None:
    declared = TaskRun.objects.values_list("task__spec_sha256", flat=True).get(pk=claim.task_run_id)
    if message["result"].get("spec_sha256") != declared:
        raise misbehaved("its result is of a task that is declared otherwise")
    try:
        _, outcome = outcome_from_message(message, kind=kind)
        results.task_run_succeed(claim=claim, worker=worker.name, outcome=outcome)
    except (ResultInvalid, IntegrityError, DataError) as error:
        # What the schema lets pass and the database refuses is no less a lie.
        reason = error.message if isinstance(error, ResultInvalid) else "the database cannot hold it"
        raise misbehaved(f"its result is wrong: {reason}") from error


def _fail_task(claim: TaskClaim, worker: WorkerIdentity, *, code: str, kind: str, message: str) -> None:
    failures.task_failure_report(
        claim=claim,
        worker=worker.name,
        worker_class=worker.worker_class,
        code=code,
        kind=kind,
        message=_without_folders(message),
    )


def _without_folders(message: str) -> str:
    """A message for people, without the folders and secrets of this worker."""
    return redacted(message, secrets=(settings.HUB_TOKEN,))[:MAX_MESSAGE]


def _close(run: Run, worker: WorkerIdentity) -> None:
    if run.state != RunState.SCORING:
        return
    try:
        with _HeldRun(run, worker):
            results.run_succeed(run_id=run.pk, worker=worker.name, aggregates=aggregates_of_run(run))
        logger.info("run %s: succeeded", run.pk)
    except LeaseLost as lost:
        logger.warning("run %s: %s", run.pk, lost)
    except EvaluationError as error:
        _report_failure(run, worker, error)


def _report_failure(run: Run, worker: WorkerIdentity, error: EvaluationError | ChildError) -> None:
    logger.warning("run %s: failed, %s: %s", run.pk, error.code, error.message)
    try:
        failures.run_failure_report(
            run_id=run.pk,
            claim=run.claims,
            worker=worker.name,
            worker_class=worker.worker_class,
            code=error.code,
            kind=error.kind,
            message=_without_folders(error.message),
        )
    except LeaseLost as lost:
        logger.warning("run %s: %s", run.pk, lost)
