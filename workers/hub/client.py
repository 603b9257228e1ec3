"""Questions to a hub through `huggingface_hub`, each one request with a time limit, with errors of our own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from huggingface_hub import ModelInfo
from huggingface_hub.errors import HfHubHTTPError, SafetensorsParsingError

from evaluation.errors import ModelInvalid
from evaluation.hub.connection import COMMIT, HubConnection, translated_errors
from evaluation.hub.errors import HubUnavailable

MAX_DOCUMENT_BYTES = 10_000_000
HEADER_LENGTH_BYTES = 8  # a safetensors file begins with the length of its header


@dataclass(frozen=True, slots=True)
class Listing:
    """A repository at one commit. `sizes` maps every file's path to its bytes; `licence` is empty where unstated."""

    repo_id: str
    commit: str
    gated: bool
    licence: str
    sizes: Mapping[str, int]


class HubClient(HubConnection):
    """Questions about the models of one hub."""

    def listing(self, repo_id: str, revision: str) -> Listing:
        """Resolve a branch, tag or commit ("" is the main branch) and list the files there.

        Raises:
            HubUnavailable, RepositoryMissing, RepositoryGated, RepositoryForbidden, RevisionMissing.
        """
        with translated_errors(repo_id, revision):
            info = self.api.model_info(repo_id, revision=revision or None, files_metadata=True, timeout=self.timeout)
        if not COMMIT.fullmatch(info.sha or ""):
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
        with translated_errors(listing.repo_id, listing.commit):
            try:
                metadata = self.api.parse_safetensors_file_metadata(
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
        content = bytearray()
        with self.content(listing.repo_id, name, listing.commit) as response:
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > MAX_DOCUMENT_BYTES:
                    limit = f"{MAX_DOCUMENT_BYTES // 1_000_000} MB"
                    raise ModelInvalid(f"{name} of {listing.repo_id} is larger than {limit}; make it smaller.")
        return bytes(content)


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
