"""The model that the interactive worker keeps loaded, and what it embeds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evaluation.commands.models_to_run import find_model
from evaluation.decoding import DecodedInput
from evaluation.decoding.volumes import Volume
from evaluation.embedders.dual_encoder import PartsEncoder
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.threads import fix_threads
from evaluation.embedders.volume_encoder import VolumeEncoder
from evaluation.embedding.encode import InputEncoder, Piece
from evaluation.errors import EvaluationError, InputUnsupported
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix
from workers.demo.decoders import Decoders
from workers.demo.messages import IMAGES, TEXT, WHOLE, Answer, Query
from workers.demo.pictures import Pictures
from workers.demo.refusals import PanelRefusal


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
        """Unit vectors of texts and of files of ours, shape (len(inputs), dimension).

        Raises:
            EvaluationError: an input cannot be read or embedded.
        """
        return self._filled(len(inputs), InputEncoder(self.embedder).pieces(inputs))

    def answer(self, query: Query, decoders: Decoders) -> Answer:
        """The vectors of a query: of the whole, and of its parts where it has text and images. Nothing is remembered."""
        try:
            inputs = _inputs(query, self._pictures(query.files, decoders))
            rows = self._filled(len(inputs), InputEncoder(self.embedder).decoded_pieces(list(inputs.values())))
        except (EvaluationError, PanelRefusal) as error:
            return Answer(model_key=self.key, vectors={}, refused=error.message)
        return Answer(model_key=self.key, vectors={name: row.tolist() for name, row in zip(inputs, rows, strict=True)})

    def _pictures(self, files: Sequence[bytes], decoders: Decoders) -> Pictures | None:
        """What the files show; of a volume also what was measured, where the model needs it."""
        return decoders.read(files, measured=isinstance(self.embedder, VolumeEncoder)) if files else None

    def _filled(self, count: int, pieces: Iterator[Piece]) -> FloatMatrix:
        """The rows of all pieces in their places; the encoder forgets what it has seen."""
        found = np.empty((count, self.dimension), dtype=np.float32)
        try:
            for positions, rows in pieces:
                found[positions] = rows
        finally:
            if isinstance(self.embedder, PartsEncoder):
                self.embedder.forget()
        return found


@dataclass(frozen=True, slots=True)
class _SentInput(DecodedInput):
    """A visitor's input; its files are gone once they were read."""

    measured: Volume | None = None

    def volume(self) -> Volume:
        """What was measured, as it was read along with the pictures.

        Raises:
            InputUnsupported: the files are pictures of slices.
        """
        if self.measured is None:
            raise InputUnsupported("This model sees volumes as they were measured. Send the DICOM files of a series.")
        return self.measured


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


def _inputs(query: Query, pictures: Pictures | None) -> Mapping[str, DecodedInput]:
    """The whole and its parts."""
    text = EmbeddingInput(text=query.text, instruction=query.instruction)
    if pictures is None:
        return {WHOLE: DecodedInput(text)}
    names = tuple(Path(f"File {number}") for number in range(1, len(query.files) + 1))  # only ever shown
    whole = replace(text, images=names, is_volume=pictures.is_volume)
    parts = {WHOLE: whole, IMAGES: replace(whole, text="")} if query.text else {WHOLE: whole}
    shown = {name: _SentInput(source, pictures.images, pictures.volume) for name, source in parts.items()}
    return {**shown, TEXT: DecodedInput(text)} if query.text else shown
