"""A connection to a hub through `huggingface_hub`, with a time limit and with errors of our own.

The only module of this package that uses the network. Evaluation never does: only installing a suite imports it here,
and the workers build their checks and downloads of models on it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import httpx2
from huggingface_hub import HfApi, constants, hf_hub_url
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

from evaluation.errors import EvaluationError, ModelInvalid, SuiteInvalid
from evaluation.hub.errors import (
    HubUnavailable,
    RepositoryForbidden,
    RepositoryGated,
    RepositoryMissing,
    RevisionMissing,
)

COMMIT = re.compile(r"[0-9a-f]{40}")
MODEL = "model"
DATASET = "dataset"


class HubConnection:
    """One hub. An empty token asks anonymously: a token that lies on this machine for other uses is never sent."""

    def __init__(self, *, endpoint: str, token: str = "", timeout: float = 10.0) -> None:
        self.endpoint = endpoint.rstrip("/")
        self.token: str | bool = token or False
        self.timeout = timeout
        self.api = HfApi(endpoint=self.endpoint, token=self.token)
        # The library's telemetry asks the public hub, whatever the endpoint, and would do so within our time limit.
        constants.HF_HUB_DISABLE_TELEMETRY = True

    @contextmanager
    def content(
        self, repo_id: str, name: str, commit: str, *, repo_type: str = MODEL, start: int = 0, end: int | None = None
    ) -> Iterator[httpx2.Response]:
        """The response that streams a file, from byte `start` on, up to but without `end`, where the hub heeds ranges (status 206).

        Raises:
            EvaluationError: as `translate` says; also for a connection that breaks while the block reads.
        """
        url = hf_hub_url(repo_id, name, repo_type=repo_type, revision=commit, endpoint=self.endpoint)
        headers = build_hf_headers(token=self.token)
        if start or end is not None:
            # Bytes that were compressed on the way could not be told from the file's own.
            last = "" if end is None else end - 1
            headers |= {"Range": f"bytes={start}-{last}", "Accept-Encoding": "identity"}
        with (
            translated_errors(repo_id, commit, repo_type=repo_type),
            get_session().stream("GET", url, headers=headers, timeout=self.timeout) as response,
        ):
            hf_raise_for_status(response)
            yield response


@contextmanager
def translated_errors(repo_id: str, revision: str, *, repo_type: str = MODEL) -> Iterator[None]:
    """Turn the errors of the library and of its connection into errors that say who has to act."""
    try:
        yield
    except EvaluationError:
        raise
    except (httpx2.HTTPError, OSError, ValueError, KeyError, TypeError) as error:
        # The last three: an answer that is not what a hub says, e.g. the sign-in page of a network.
        raise translate(error, repo_id, revision, repo_type=repo_type) from error


def translate(error: Exception, repo_id: str, revision: str, *, repo_type: str = MODEL) -> EvaluationError:
    """The error of ours that an error of `huggingface_hub` or of its connection stands for."""
    kind: type[EvaluationError] = HubUnavailable
    status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
    if isinstance(error, GatedRepoError):
        kind = RepositoryGated
        message = _gated_message(repo_id, repo_type)
    elif isinstance(error, RepositoryNotFoundError | HFValidationError):
        kind = RepositoryMissing
        message = f"The hub has no public {repo_type} {repo_id}; check the spelling, or make the repository public."
    elif isinstance(error, RevisionNotFoundError):
        kind = RevisionMissing
        message = f"{repo_id} has no revision {revision or 'main'}; give a branch, tag or full commit that it has."
    elif isinstance(error, RemoteEntryNotFoundError):
        kind = ModelInvalid if repo_type == MODEL else SuiteInvalid
        message = f"{repo_id} lists a file that it does not hold; upload its files again."
    elif status == HTTPStatus.FORBIDDEN:
        kind = RepositoryForbidden
        message = f"The hub refuses access to {repo_id}; ask its owner to open it."
    elif status == HTTPStatus.UNAUTHORIZED:
        message = "The hub refused this site's token; tell the administrators of this site."
    elif status == HTTPStatus.TOO_MANY_REQUESTS:
        message = "The hub is busy and asks to wait; try again in a few minutes."
    else:
        message = f"The hub does not answer as it should ({type(error).__name__}); try again later."
    return kind(message)


def _gated_message(repo_id: str, repo_type: str) -> str:
    if repo_type == MODEL:
        return f"{repo_id} is gated and its owner has not let this site in; ask the owner, or submit an open copy."
    return f"{repo_id} is gated; ask its owner for access and give the token of an account that has it."
