"""How commands turn inputs into vectors: by a loaded model, or from a file of embeddings made elsewhere."""

import hashlib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.embedders.protocol import Embedder
from evaluation.embedding.encode import embed_inputs, normalise_rows
from evaluation.embedding.store import EmbeddingStore, Progress
from evaluation.errors import DataMissing, ResultInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix, ModelDescription

BATCH_SIZE = 32

_MATRIX = 2


def store_for_embedder(embedder: Embedder) -> EmbeddingStore:
    """A store that embeds what it does not know yet."""

    def encode(inputs: Sequence[EmbeddingInput], keys: Sequence[str], on_progress: Progress) -> FloatMatrix:
        return embed_inputs(embedder, inputs, batch_size=BATCH_SIZE, on_progress=on_progress)

    return EmbeddingStore(encode)


@dataclass(frozen=True, slots=True)
class EmbeddingsFile:
    """Embeddings made elsewhere: unit rows by content key, and what is known of their origin."""

    store: EmbeddingStore
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
        store=EmbeddingStore(_refuse, known=dict(zip(keys, rows, strict=True))),
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


def _refuse(inputs: Sequence[EmbeddingInput], keys: Sequence[str], on_progress: Progress) -> FloatMatrix:
    raise DataMissing(
        f"{len(keys)} inputs have no embedding in the file, the first is {keys[0]} ({inputs[0].label}). "
        "List all inputs with 'tasks --inputs' and embed these too."
    )
