"""The model that the interactive worker keeps loaded, and what it embeds."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evaluation.commands.models_to_run import find_model
from evaluation.decoding.declared_size import declared_size
from evaluation.decoding.dicom import is_dicom
from evaluation.embedders.dual_encoder import PartsEncoder
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.threads import fix_threads
from evaluation.embedding.encode import InputEncoder
from evaluation.errors import EvaluationError, InputTooLarge
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix
from workers.demo.limits import MAX_PIXELS
from workers.demo.messages import IMAGES, TEXT, WHOLE, Answer, Query


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory; `key` is the hash of its files."""

    key: str
    name: str
    embedder: Embedder

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self.embedder.description.dimension

    def rows(self, inputs: Sequence[EmbeddingInput]) -> FloatMatrix:
        """Unit vectors, shape (len(inputs), dimension). Nothing of the inputs is remembered.

        Raises:
            EvaluationError: an input cannot be read or embedded.
        """
        found = np.empty((len(inputs), self.dimension), dtype=np.float32)
        try:
            for positions, rows in InputEncoder(self.embedder).pieces(inputs):
                found[positions] = rows
        finally:
            if isinstance(self.embedder, PartsEncoder):
                self.embedder.forget()
        return found

    def answer(self, query: Query) -> Answer:
        """The vectors of a query: of the whole, and of its parts where it has text and images.

        Files lie in a folder of their own for as long as they are read.
        """
        with tempfile.TemporaryDirectory(prefix="panel-") as folder:
            paths = _written(query.files, Path(folder))
            try:
                inputs = _inputs(query, paths, frames=_checked_frames(paths))
                rows = self.rows(list(inputs.values()))
            except EvaluationError as error:
                return Answer(model_key=self.key, vectors={}, refused=_for_visitors(error.message, paths))
        return Answer(model_key=self.key, vectors={name: row.tolist() for name, row in zip(inputs, rows, strict=True)})


def load_model(name: str, *, device: str) -> LoadedModel:
    """Load the model in a folder, or one of those that come with the packages.

    Raises:
        EvaluationError: it cannot be loaded.
    """
    found = find_model(name)
    embedder = found.load(device)
    fix_threads()
    loaded = LoadedModel(key=found.content_sha256(), name=Path(name).name, embedder=embedder)
    loaded.rows([EmbeddingInput(text="warm")])
    return loaded


def _written(files: Sequence[bytes], folder: Path) -> tuple[Path, ...]:
    paths = []
    for number, content in enumerate(files):
        path = folder / f"{number:02d}"
        path.write_bytes(content)
        paths.append(path)
    return tuple(paths)


def _checked_frames(paths: Sequence[Path]) -> int:
    """How many frames the files hold together, once all their pixels are known to be few enough to be decoded."""
    frames = pixels = 0
    for path in paths:
        declared = declared_size(path)
        frames += declared.frames
        pixels += declared.pixels
        if pixels > MAX_PIXELS:
            raise InputTooLarge(f"The files hold more than {MAX_PIXELS:,} pixels together. Reduce them or send fewer.")
    return frames


def _inputs(query: Query, paths: tuple[Path, ...], *, frames: int) -> Mapping[str, EmbeddingInput]:
    """The whole and its parts. Several frames are one volume: slices in their order, or a DICOM series by position."""
    series = len(paths) > 1 and all(map(is_dicom, paths))
    images = (paths[0].parent,) if series else paths
    whole = EmbeddingInput(text=query.text, instruction=query.instruction, images=images, is_volume=frames > 1)
    if not (whole.text and whole.images):
        return {WHOLE: whole}
    return {WHOLE: whole, TEXT: replace(whole, images=(), is_volume=False), IMAGES: replace(whole, text="")}


def _for_visitors(message: str, paths: Sequence[Path]) -> str:
    """A message without names of folders of ours."""
    for number, path in enumerate(paths, start=1):
        message = message.replace(str(path), f"File {number}")
    return message.replace(str(paths[0].parent), "The series") if paths else message
