"""Which model a command is to run: a folder, or one of two that come with this program."""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from evaluation.embedders.chance import ChanceEmbedder
from evaluation.embedders.determinism import prepare_determinism, require_determinism
from evaluation.embedders.encode_config import encode_config as find_encode_config
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.space import model_sha256
from evaluation.errors import ModelInvalid
from evaluation.vocabulary import EmbedderFamily

CHANCE = "chance"
MINILM = "minilm"
MINILM_ID = "sentence-transformers/all-MiniLM-L6-v2"

_CHANCE_DIMENSION = 256
_CHANCE_SEED = 42
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


class Fetched(Protocol):
    """A repository that was downloaded."""

    @property
    def folder(self) -> Path:
        """Where it lies."""
        ...

    @property
    def commit(self) -> str:
        """Its commit, 40 hexadecimal digits."""
        ...


class Fetch(Protocol):
    """Downloads a repository from a hub."""

    def __call__(self, repo_id: str, revision: str, *, is_adapter: bool) -> Fetched:
        """Download it at a branch, tag or commit; "" is the main branch."""
        ...


@dataclass(frozen=True, slots=True)
class ModelToRun:
    """A model as named by a person: its id for the record, and the folders it is loaded from (None for chance).

    `encode_config` is the name of one of its family's; "" is its default.
    """

    id: str
    revision: str
    folder: Path | None
    adapter_id: str = ""
    adapter_revision: str = ""
    adapter_folder: Path | None = None
    encode_config: str = ""

    def load(self, device: str) -> Embedder:
        """Load it, to compute deterministically from here on.

        Raises:
            EvaluationError: the model cannot be loaded; see `load_embedder`.
        """
        if self.folder is None:
            find_encode_config(EmbedderFamily.CHANCE, self.encode_config)
            return ChanceEmbedder(dimension=_CHANCE_DIMENSION, seed=_CHANCE_SEED)
        prepare_determinism()
        embedder = load_embedder(
            self.folder, adapter_folder=self.adapter_folder, device=device, encode_config=self.encode_config
        )
        require_determinism()
        return embedder

    def content_sha256(self) -> str:
        """The sha256 over the content of all files, wherever they lie; chance is named by its id.

        Raises:
            ModelInvalid: a file cannot be read.
        """
        folders = [folder for folder in (self.folder, self.adapter_folder) if folder is not None]
        return model_sha256(*folders) if folders else self.id

    def fingerprint(self) -> str:
        """Changes when a file of the model changes; made of names, sizes and times, so it reads no weights."""
        files = [
            (path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
            for folder in (self.folder, self.adapter_folder)
            if folder is not None
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        ]
        return hashlib.sha256(json.dumps([self.id, self.revision, self.adapter_id, files]).encode()).hexdigest()


def find_model(name: str, *, revision: str = "", adapter: str = "", fetch: Fetch | None = None) -> ModelToRun:
    """The model that `--model` and `--adapter` name; `fetch` downloads what is named by a hub id.

    Raises:
        ModelInvalid: the name is no folder, and no hub id that may be fetched.
    """
    if name in (CHANCE, MINILM):
        if adapter:
            raise ModelInvalid(f"{name} takes no adapter.")
        if name == CHANCE:
            return ModelToRun(id=CHANCE, revision=revision, folder=None)
        return ModelToRun(id=MINILM_ID, revision=revision, folder=minilm_folder())
    folder, commit = _folder_of(name, revision, fetch, is_adapter=False)
    found = ModelToRun(id=name, revision=commit, folder=folder)
    if not adapter:
        return found
    adapter_folder, adapter_commit = _folder_of(adapter, "", fetch, is_adapter=True)
    return replace(found, adapter_id=adapter, adapter_revision=adapter_commit, adapter_folder=adapter_folder)


def _folder_of(name: str, revision: str, fetch: Fetch | None, *, is_adapter: bool) -> tuple[Path, str]:
    """The folder of a model and its revision for the record."""
    folder = Path(name)
    if folder.is_dir():
        return folder, revision
    if fetch is None or not _HUB_ID.fullmatch(name):
        raise ModelInvalid(
            f"{name} is not a folder. Give a model's folder, its id on the hub, '{CHANCE}' or '{MINILM}'."
        )
    fetched = fetch(name, revision, is_adapter=is_adapter)
    return fetched.folder, fetched.commit
