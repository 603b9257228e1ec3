"""How commands turn inputs into vectors: by a loaded model, or from a file of embeddings made elsewhere."""

import hashlib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from evaluation.commands.models_to_run import ModelToRun
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.threads import fix_threads
from evaluation.embedding.disk_store import DiskStore
from evaluation.embedding.encode import InputEncoder, normalise_rows
from evaluation.embedding.space import embedding_space
from evaluation.embedding.store import EmbeddingStore, GivenVectors
from evaluation.environment import device_kind
from evaluation.errors import DataMissing, ResultInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.types import EmbeddingStatistics, ModelDescription

_MATRIX = 2


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """Where vectors are kept for later runs: a folder and the most bytes that it may hold."""

    folder: Path
    max_bytes: int


class ModelEncoding:
    """A loaded model with the store of its vectors; a context manager that closes the store.

    Without a location the store is a temporary file, so that memory does not grow with the number of tasks.

    Raises:
        StoreUnavailable: the location's folder cannot be used.
        ModelInvalid: the model's files cannot be read.
    """

    def __init__(self, model: ModelToRun, embedder: Embedder, *, device: str, location: StoreLocation | None) -> None:
        self._encoder = InputEncoder(embedder)
        config = embedder.description.encode_config
        identity = "" if location is None else model.content_sha256()
        self._shelf = DiskStore(
            location.folder if location else None,
            space=embedding_space(
                model=identity, encode_config=config, device=device_kind(device), threads=fix_threads()
            ),
            dimension=embedder.description.dimension,
            max_bytes=location.max_bytes if location else None,
        )
        self.store = EmbeddingStore(self._encoder, self._shelf)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._shelf.close()

    def statistics(self) -> EmbeddingStatistics:
        """What it took to get all vectors so far."""
        calls = self._encoder.model_calls()
        return EmbeddingStatistics(
            inputs=self.store.inputs,
            unique_inputs=self.store.unique_inputs,
            embedded=self.store.embedded,
            embedder_calls=calls.batches,
            padding_waste=calls.padding_waste,
            out_of_memory=calls.out_of_memory,
            damaged_entries=self.store.damaged_entries,
            texts_cut=calls.texts_cut,
            deterministic=calls.deterministic,
        )


def statistics_line(statistics: EmbeddingStatistics) -> str:
    """The statistics of a run as one line for people."""
    parts = [
        f"{statistics.inputs} inputs, {statistics.unique_inputs} different, {statistics.embedded} embedded",
        f"{statistics.embedder_calls} model calls with {100 * statistics.padding_waste:.1f}% padding",
    ]
    if statistics.out_of_memory:
        parts.append(f"{statistics.out_of_memory} batches halved for lack of memory")
    if statistics.texts_cut:
        parts.append(f"warning: the model read only the beginning of {statistics.texts_cut} texts")
    if not statistics.deterministic:
        parts.append("warning: the model uses operations whose rounding differs from run to run")
    if statistics.damaged_entries:
        parts.append(f"{statistics.damaged_entries} damaged entries of the embedding store computed anew")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class EmbeddingsFile:
    """Embeddings made elsewhere: unit rows by content key, and what is known of their origin."""

    store: GivenVectors
    description: ModelDescription


def read_embeddings(path: Path) -> EmbeddingsFile:
    """Read a `.npz` file of `ids` (content keys) and `vectors`.

    Raises:
        ResultInvalid: the file cannot be read, an array is missing or has the wrong type or shape, an id stands twice.
        EmbeddingInvalid: a vector is zero or not finite; the message has its id.
    """
    arrays = _read_arrays(path)
    ids, vectors = _array(arrays, "ids", path), _array(arrays, "vectors", path)
    if ids.ndim != 1 or ids.dtype.kind != "U":
        raise ResultInvalid(f"{path}: ids must be one row of texts, not {ids.dtype} of shape {ids.shape}.")
    if vectors.ndim != _MATRIX or vectors.dtype.kind != "f" or vectors.shape[1] == 0:
        raise ResultInvalid(
            f"{path}: vectors must be a matrix of floats, not {vectors.dtype} of shape {vectors.shape}."
        )
    if len(ids) != len(vectors):
        raise ResultInvalid(f"{path}: {len(ids)} ids do not fit {len(vectors)} vectors.")
    if len(np.unique(ids)) != len(ids):
        raise ResultInvalid(f"{path}: an id stands twice.")
    keys = ids.tolist()
    rows = normalise_rows(vectors, [EmbeddingInput(text=key) for key in keys])
    return EmbeddingsFile(
        store=GivenVectors(dict(zip(keys, rows, strict=True)), _refuse),
        description=ModelDescription(
            family="external",
            architecture="embeddings computed elsewhere",
            dimension=vectors.shape[1],
            parameters=0,
            kinds=(),
            encode_config={"embeddings_sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
        ),
    )


def _read_arrays(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise ResultInvalid(f"{path} cannot be read as an .npz file of plain arrays: {error}.") from error


def _array(arrays: dict[str, Any], name: str, path: Path) -> Any:
    if name not in arrays:
        raise ResultInvalid(f"{path} has no array called {name!r}; it has {', '.join(sorted(arrays)) or 'none'}.")
    return arrays[name]


def _refuse(inputs: Sequence[EmbeddingInput], keys: Sequence[str]) -> None:
    raise DataMissing(
        f"{len(keys)} inputs have no embedding in the file, the first is {keys[0]} ({inputs[0].label}). "
        "List all inputs with 'tasks --inputs' and embed these too."
    )
