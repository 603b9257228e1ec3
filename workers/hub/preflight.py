"""Everything that keeps a repository from being evaluated, found in seconds and without its weights."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id

from evaluation.embedders.encode_config import FLOAT32, default_encode_config, number_type
from evaluation.errors import ErrorKind, EvaluationError
from evaluation.hub.errors import HubUnavailable, RevisionMissing
from evaluation.repositories.client import HubClient
from evaluation.repositories.inspection import Inspection, base_problems, inspect_adapter, inspect_model
from leaderboard.ports import PreflightProblem, PreflightReport
from workers.hub.encode_choices import encode_choices
from workers.hub.errors import CheckFailed

logger = logging.getLogger(__name__)

SECONDS = 4.5

_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")


@dataclass(frozen=True, slots=True)
class _Request:
    """One repository to look at, and the form fields that its problems belong to."""

    repo_id: str
    revision: str
    repo_field: str
    revision_field: str

    def syntax_problems(self) -> list[PreflightProblem]:
        problems = []
        if not _is_repo_id(self.repo_id):
            message = "A repository is written OWNER/NAME, as at the top of its page on the hub."
            problems.append(PreflightProblem(code="repo_id_invalid", field=self.repo_field, message=message))
        if self.revision and (not _REVISION.fullmatch(self.revision) or ".." in self.revision):
            message = "A revision is the name of a branch or tag, or a commit; leave it empty for the newest."
            problems.append(PreflightProblem(code="revision_invalid", field=self.revision_field, message=message))
        return problems

    def problem(self, error: EvaluationError) -> PreflightProblem:
        field = self.revision_field if isinstance(error, RevisionMissing) else self.repo_field
        passing = error.kind is ErrorKind.INFRASTRUCTURE
        return PreflightProblem(code=error.code, field=field, message=error.message, passing=passing)


def preflight(
    client: HubClient, *, repo_id: str, revision: str, adapter_repo_id: str, adapter_revision: str, max_bytes: int
) -> PreflightReport:
    """Look at a model, and at an adapter where one is named, at once; all problems are collected.

    It ends within `SECONDS` whatever the hub does: a repository that was not answered for by then counts as
    unanswered, and its requests run out by their own time limits.
    """
    model = _Request(repo_id, revision, "repo_id", "revision")
    adapter = _Request(adapter_repo_id, adapter_revision, "adapter_repo_id", "adapter_revision")
    requests: dict[_Request, Callable[..., Inspection]] = {model: inspect_model}
    problems: list[PreflightProblem] = []
    if adapter_repo_id:
        requests[adapter] = inspect_adapter
    elif adapter_revision:
        message = "An adapter's revision is given without an adapter; name the adapter or leave both empty."
        problems.append(PreflightProblem(code="repo_id_invalid", field="adapter_repo_id", message=message))

    for request in requests:
        problems += request.syntax_problems()
    outcomes = _inspect_all(client, requests, max_bytes=max_bytes)
    for request, outcome in outcomes.items():
        errors = outcome.problems if isinstance(outcome, Inspection) else [outcome]
        problems += [request.problem(error) for error in errors]
    inspections = {request: outcome for request, outcome in outcomes.items() if isinstance(outcome, Inspection)}
    base, adaptation = inspections.get(model), inspections.get(adapter)
    if base is not None and adaptation is not None:
        problems += [adapter.problem(error) for error in base_problems(adaptation, base=base)]
    return _report(model, adapter, base, adaptation, problems=_distinct(problems))


def _inspect_all(
    client: HubClient, requests: Mapping[_Request, Callable[..., Inspection]], *, max_bytes: int
) -> dict[_Request, Inspection | EvaluationError]:
    """Inspect at once every repository whose name and revision can be asked for."""
    pool = ThreadPoolExecutor(len(requests), thread_name_prefix="preflight")
    futures = {
        request: pool.submit(_inspect, client, request, inspect, max_bytes)
        for request, inspect in requests.items()
        if not request.syntax_problems()
    }
    wait(futures.values(), timeout=SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    return {request: _outcome(future) for request, future in futures.items()}


def _inspect(client: HubClient, request: _Request, inspect: Callable[..., Inspection], max_bytes: int) -> Inspection:
    listing = client.listing(request.repo_id, request.revision)
    return inspect(client, listing, max_bytes=max_bytes)


def _outcome(future: Future[Inspection]) -> Inspection | EvaluationError:
    if not future.done():
        return HubUnavailable("The hub takes too long to answer; try again in a few minutes.")
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, EvaluationError):
        return error
    logger.error("the check of a repository broke", exc_info=error)
    return CheckFailed("This repository could not be checked; tell the administrators of this site.")


def _report(
    model: _Request,
    adapter: _Request,
    base: Inspection | None,
    adaptation: Inspection | None,
    *,
    problems: tuple[PreflightProblem, ...],
) -> PreflightReport:
    found = [inspection for inspection in (base, adaptation) if inspection is not None]
    return PreflightReport(
        repo_id=base.listing.repo_id if base else model.repo_id,
        commit=base.listing.commit if base else "",
        adapter_repo_id=adaptation.listing.repo_id if adaptation else adapter.repo_id,
        adapter_commit=adaptation.listing.commit if adaptation else "",
        family=base.family or "" if base else "",
        architecture=base.architecture if base else "",
        parameters=base.parameters if base else None,
        size_bytes=sum(inspection.size_bytes for inspection in found) if base else None,
        licence=base.listing.licence if base else "",
        gpu_dtype=_gpu_dtype(base),
        encode_configs=encode_choices(base.family, base.config) if base and base.family else (),
        gated=any(inspection.listing.gated for inspection in found),
        problems=problems,
    )


def _gpu_dtype(base: Inspection | None) -> str:
    """The number type of the weights on a GPU, from the model's default encode config."""
    if base is None or base.family is None:
        return FLOAT32
    return number_type(default_encode_config(base.family, base.config))


def _distinct(problems: Iterable[PreflightProblem]) -> tuple[PreflightProblem, ...]:
    """The problems without repetition; of a hub that does not answer, one is enough."""
    by_key: dict[object, PreflightProblem] = {}
    for problem in problems:
        by_key.setdefault(problem.code if problem.passing else (problem.field, problem.message), problem)
    return tuple(by_key.values())


def _is_repo_id(repo_id: str) -> bool:
    try:
        validate_repo_id(repo_id)
    except HFValidationError:
        return False
    return repo_id.count("/") == 1
