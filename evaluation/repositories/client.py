"""Questions to a hub through `huggingface_hub`, each one request with a time limit, with errors of our own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from huggingface_hub import ModelInfo

from evaluation.embedders.safety.weight_headers import LENGTH_BYTES, StoredWeights, header_length, parse_header
from evaluation.errors import ModelInvalid
from evaluation.hub.connection import COMMIT, HubConnection, translated_errors
from evaluation.hub.errors import HubUnavailable

MAX_DOCUMENT_BYTES = 10_000_000
FIRST_BYTES = 100_000  # with nearly every header in it


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

    def text(self, listing: Listing, name: str) -> str:
        """Read one text file of at most 10 MB.

        Raises:
            HubUnavailable, RepositoryGated and the like as for `listing`; ModelInvalid: too large or not UTF-8.
        """
        try:
            return self._read(listing, name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelInvalid(f"{name} of {listing.repo_id} is not a text in UTF-8; correct it.") from error

    def weights(self, listing: Listing, name: str) -> StoredWeights:
        """What one safetensors file holds, from its header.

        Raises:
            HubUnavailable, RepositoryGated and the like as for `listing`; WeightsDamaged, HeaderTooLarge: the header.
        """
        size = listing.sizes[name]
        start = self._read_range(listing, name, 0, min(size, FIRST_BYTES))
        length = header_length(start, name=name, file_bytes=size)
        end = LENGTH_BYTES + length
        header = start[LENGTH_BYTES:end] if end <= len(start) else self._read_range(listing, name, LENGTH_BYTES, end)
        return parse_header(header, name=name, data_bytes=size - end)

    def _read_range(self, listing: Listing, name: str, start: int, end: int) -> bytes:
        """Bytes of a file from `start` up to `end`; a hub that does not heed ranges sends what comes before, too."""
        if start == end:
            return b""
        content = bytearray()
        with self.content(listing.repo_id, name, listing.commit, start=start, end=end) as response:
            skipped = start if response.status_code == HTTPStatus.OK else 0
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) >= skipped + end - start:
                    break
        return bytes(content[skipped : skipped + end - start])

    def _read(self, listing: Listing, name: str) -> bytes:
        content = bytearray()
        with self.content(listing.repo_id, name, listing.commit) as response:
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > MAX_DOCUMENT_BYTES:
                    limit = f"{MAX_DOCUMENT_BYTES // 1_000_000} MB"
                    raise ModelInvalid(f"{name} of {listing.repo_id} is larger than {limit}; make it smaller.")
        return bytes(content)


def _licence(info: ModelInfo) -> str:
    """The licence in the card; where that is "other", its name."""
    card = info.card_data
    if card is None:
        return ""
    licence = card.get("license")
    if licence == "other":
        licence = card.get("license_name") or licence
    return ", ".join(map(str, licence)) if isinstance(licence, list) else str(licence or "")
