"""Which model a command is to run: a folder, or one of two that come with this program."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from evaluation.embedders.chance import ChanceEmbedder
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.space import model_sha256
from evaluation.errors import ModelInvalid

CHANCE = "chance"
MINILM = "minilm"
MINILM_ID = "sentence-transformers/all-MiniLM-L6-v2"

_CHANCE_DIMENSION = 256
_CHANCE_SEED = 42
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True, slots=True)
class ModelToRun:
    """A model as named by a person: its id for the record, and the folders it is loaded from (None for chance)."""

    id: str
    revision: str
    folder: Path | None
    adapter_id: str = ""
    adapter_folder: Path | None = None

    def load(self, device: str) -> Embedder:
        """Load it.

        Raises:
            EvaluationError: the model cannot be loaded; see `load_embedder`.
        """
        if self.folder is None:
            return ChanceEmbedder(dimension=_CHANCE_DIMENSION, seed=_CHANCE_SEED)
        return load_embedder(self.folder, adapter_folder=self.adapter_folder, device=device)

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


def find_model(name: str, *, revision: str = "", adapter: str = "") -> ModelToRun:
    """The model that `--model` and `--adapter` name.

    Raises:
        ModelInvalid: the name is no folder; for a hub id the message says how to download it.
    """
    if name == CHANCE:
        found = ModelToRun(id=CHANCE, revision=revision, folder=None)
    elif name == MINILM:
        found = ModelToRun(id=MINILM_ID, revision=revision, folder=minilm_folder())
    else:
        found = ModelToRun(id=name, revision=revision, folder=_existing_folder(name, revision))
    if not adapter:
        return found
    if name in (CHANCE, MINILM):
        raise ModelInvalid(f"{name} takes no adapter.")
    return ModelToRun(
        id=found.id,
        revision=found.revision,
        folder=found.folder,
        adapter_id=adapter,
        adapter_folder=_existing_folder(adapter, ""),
    )


def _existing_folder(name: str, revision: str) -> Path:
    folder = Path(name)
    if folder.is_dir():
        return folder
    if _HUB_ID.fullmatch(name):
        at_revision = f" --revision {revision}" if revision else ""
        raise ModelInvalid(
            f"{name} is not a folder here, and this command does not use the network. Download it with "
            f"'hf download {name}{at_revision} --local-dir FOLDER' and give FOLDER, or submit it on the website."
        )
    raise ModelInvalid(f"{name} is not a folder. Give a model's folder, '{CHANCE}' or '{MINILM}'.")
