"""Questions to a hub through `huggingface_hub`, each one request with a time limit, with errors of our own."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2
from huggingface_hub import HfApi, ModelInfo, constants, hf_hub_url
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    SafetensorsParsingError,
)
from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

from evaluation.errors import EvaluationError, ModelInvalid
from workers.hub.errors import (
    HubUnavailable,
    RepositoryForbidden,
    RepositoryGated,
    RepositoryMissing,
    RevisionMissing,
)

MAX_DOCUMENT_BYTES = 10_000_000
HEADER_LENGTH_BYTES = 8  # a safetensors file begins with the length of its header

_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Listing:
    """A repository at one commit. `sizes` maps every file's path to its bytes; `licence` is empty where unstated."""

    repo_id: str
    commit: str
    gated: bool
    licence: str
    sizes: Mapping[str, int]


class HubClient:
    """One hub. An empty token asks anonymously: a token that lies on this machine for other uses is never sent."""

    def __init__(self, *, endpoint: str, token: str = "", timeout: float = 10.0) -> None:
        self.endpoint = endpoint.rstrip("/")
        self.token: str | bool = token or False
        self.timeout = timeout
        self._api = HfApi(endpoint=self.endpoint, token=self.token)
        # The library's telemetry asks the public hub, whatever the endpoint, and would do so within our time limit.
        constants.HF_HUB_DISABLE_TELEMETRY = True

    def listing(self, repo_id: str, revision: str) -> Listing:
        """Resolve a branch, tag or commit ("" is the main branch) and list the files there.

        Raises:
            HubUnavailable, RepositoryMissing, RepositoryGated, RepositoryForbidden, RevisionMissing.
        """
        with _translated_errors(repo_id, revision):
            info = self._api.model_info(repo_id, revision=revision or None, files_metadata=True, timeout=self.timeout)
        if not _COMMIT.fullmatch(info.sha or ""):
            raise HubUnavailable(f"The hub names no commit for {repo_id}; try again later.")
        sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or []}
        return Listing(
            repo_id=info.id, commit=info.sha or "", gated=bool(info.gated), licence=_licence(info), sizes=sizes
        )

    def document(self, listing: Listing, name: str) -> Any:
        """Read one JSON file of at most 10 MB.

        Raises:
            HubUnavailable, RepositoryGated and the like as for `listing`; ModelInvalid: too large or not JSON.
        """
        content = self._read(listing, name)
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ModelInvalid(f"{name} of {listing.repo_id} is not JSON ({error}); correct it.") from error

    def parameters(self, listing: Listing, name: str) -> int:
        """Count the parameters of one safetensors file from its header.

        Raises:
            HubUnavailable, RepositoryGated and the like as for `listing`; ModelInvalid: the header is damaged.
        """
        if listing.sizes[name] < HEADER_LENGTH_BYTES:
            raise _damaged(listing, name)
        with _translated_errors(listing.repo_id, listing.commit):
            try:
                metadata = self._api.parse_safetensors_file_metadata(
                    listing.repo_id, name, revision=listing.commit, timeout=self.timeout
                )
                count = sum(metadata.parameter_count.values())
            except HfHubHTTPError:
                raise
            except (SafetensorsParsingError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise _damaged(listing, name) from error
        if not 0 <= count <= 8 * listing.sizes[name]:  # a parameter takes a bit at least
            raise _damaged(listing, name)
        return count

    def _read(self, listing: Listing, name: str) -> bytes:
        url = hf_hub_url(listing.repo_id, name, revision=listing.commit, endpoint=self.endpoint)
        headers = build_hf_headers(token=self.token)
        content = bytearray()
        with (
            _translated_errors(listing.repo_id, listing.commit),
            get_session().stream("GET", url, headers=headers, timeout=self.timeout) as response,
        ):
            hf_raise_for_status(response)
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > MAX_DOCUMENT_BYTES:
                    limit = f"{MAX_DOCUMENT_BYTES // 1_000_000} MB"
                    raise ModelInvalid(f"{name} of {listing.repo_id} is larger than {limit}; make it smaller.")
        return bytes(content)


@contextmanager
def _translated_errors(repo_id: str, revision: str) -> Iterator[None]:
    """Turn the errors of the library and of its connection into errors that say who has to act."""
    try:
        yield
    except EvaluationError:
        raise
    except (httpx2.HTTPError, OSError, ValueError, KeyError, TypeError) as error:
        # The last three: an answer that is not what a hub says, e.g. the sign-in page of a network.
        raise translate(error, repo_id, revision) from error


def translate(error: Exception, repo_id: str, revision: str) -> EvaluationError:
    """The error of ours that an error of `huggingface_hub` or of its connection stands for."""
    kind: type[EvaluationError] = HubUnavailable
    status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
    if isinstance(error, GatedRepoError):
        kind = RepositoryGated
        message = f"{repo_id} is gated and its owner has not let this site in; ask the owner, or submit an open copy."
    elif isinstance(error, RepositoryNotFoundError | HFValidationError):
        kind = RepositoryMissing
        message = f"The hub has no public model {repo_id}; check the spelling, or make the repository public."
    elif isinstance(error, RevisionNotFoundError):
        kind = RevisionMissing
        message = f"{repo_id} has no revision {revision or 'main'}; give a branch, tag or full commit that it has."
    elif isinstance(error, RemoteEntryNotFoundError):
        kind = ModelInvalid
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


def _damaged(listing: Listing, name: str) -> ModelInvalid:
    return ModelInvalid(f"{name} of {listing.repo_id} is not a whole safetensors file; upload it again.")


def _licence(info: ModelInfo) -> str:
    """The licence in the card; where that is "other", its name."""
    card = info.card_data
    if card is None:
        return ""
    licence = card.get("license")
    if licence == "other":
        licence = card.get("license_name") or licence
    return ", ".join(map(str, licence)) if isinstance(licence, list) else str(licence or "")
