"""The hub as the site and the workers see it."""

from collections.abc import Sequence
from pathlib import Path

from evaluation.repositories.client import HubClient
from evaluation.repositories.download import (
    MAX_DOWNLOAD_BYTES,
    UNWATCHED,
    DownloadWatch,
    download_adapter,
    download_model,
)
from leaderboard.ports import FoundLine, PreflightProblem, PreflightReport
from workers.hub.lines import find_line
from workers.hub.preflight import preflight

PREFLIGHT_TIMEOUT = 2.0
DOWNLOAD_TIMEOUT = 10.0


class HuggingFaceHub:
    """The Hugging Face hub, or a server that speaks its protocol. Implements `leaderboard.ports.ModelHub`.

    Args:
        endpoint: e.g. `https://huggingface.co`.
        token: a read-only token; empty asks anonymously.
        max_bytes: repositories with more to download are refused.
    """

    def __init__(self, *, endpoint: str, token: str = "", max_bytes: int = MAX_DOWNLOAD_BYTES) -> None:
        self.endpoint = endpoint
        self.max_bytes = max_bytes
        self._token = token

    def preflight(
        self, *, repo_id: str, revision: str = "", adapter_repo_id: str = "", adapter_revision: str = ""
    ) -> PreflightReport:
        """Check a repository in under five seconds without downloading weights; problems are in the report."""
        return preflight(
            self._client(PREFLIGHT_TIMEOUT),
            repo_id=repo_id,
            revision=revision,
            adapter_repo_id=adapter_repo_id,
            adapter_revision=adapter_revision,
            max_bytes=self.max_bytes,
        )

    def find_line(self, *, repo_id: str, line: str, files: Sequence[str]) -> FoundLine | PreflightProblem | None:
        """Look for a line in small files at the top of a repository's main branch."""
        return find_line(self._client(PREFLIGHT_TIMEOUT), repo_id=repo_id, line=line, files=files)

    def download(self, *, repo_id: str, commit: str, cache_folder: Path, watch: DownloadWatch = UNWATCHED) -> Path:
        """Download a model at one commit into the cache and return its folder; see `download_model`."""
        client = self._client(DOWNLOAD_TIMEOUT)
        return download_model(
            client, repo_id=repo_id, commit=commit, cache_folder=cache_folder, max_bytes=self.max_bytes, watch=watch
        )

    def download_adapter(
        self, *, repo_id: str, commit: str, cache_folder: Path, watch: DownloadWatch = UNWATCHED
    ) -> Path:
        """Download an adapter at one commit into the cache and return its folder; see `download_model`."""
        client = self._client(DOWNLOAD_TIMEOUT)
        return download_adapter(
            client, repo_id=repo_id, commit=commit, cache_folder=cache_folder, max_bytes=self.max_bytes, watch=watch
        )

    def _client(self, timeout: float) -> HubClient:
        return HubClient(endpoint=self.endpoint, token=self._token, timeout=timeout)
