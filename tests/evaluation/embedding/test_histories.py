"""A real network's vectors have the same bits whatever was embedded before, and wherever."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.embedders.registry import load_embedder
from evaluation.embedders.tiny import write_tiny_clip
from evaluation.embedding.disk_store import DiskStore
from evaluation.embedding.encode import InputEncoder
from evaluation.embedding.store import EmbeddingStore
from evaluation.hashing import FileHashes, content_key
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix
from tests.evaluation.suite_folders import write_image

TASKS = (range(24), range(12, 40), range(0, 40, 3), range(39, 0, -2))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[EmbeddingInput]:
    """Texts of many lengths, and images."""
    folder = tmp_path_factory.mktemp("images")
    for number in range(0, 40, 4):
        write_image(folder / f"{number}.png", seed=number)
    return [
        EmbeddingInput(images=(folder / f"{number}.png",))
        if number % 4 == 0
        else EmbeddingInput(text=f"finding {number} " + "and more " * (number % 7))
        for number in range(40)
    ]


def embed(folder: Path, tasks: Sequence[Sequence[int]], inputs: list[EmbeddingInput], store: Path) -> list[FloatMatrix]:
    """The vectors of tasks one after the other, in a process and store that saw nothing else but what is in `store`."""
    embedder = load_embedder(folder)
    shelf = DiskStore(store, space="00", dimension=embedder.description.dimension)
    vectors = EmbeddingStore(InputEncoder(embedder), shelf)
    hashes = FileHashes()
    rows = []
    for task in tasks:
        chosen = [inputs[number] for number in task]
        keys = [content_key(source, hashes) for source in chosen]
        rows.append(vectors.vectors(chosen, keys, lambda *_: None))
    shelf.close()
    return rows


def test_histories_leave_no_trace_in_a_vector(tmp_path: Path, inputs: list[EmbeddingInput]) -> None:
    write_tiny_clip(tmp_path / "clip", seed=1)
    alone = [embed(tmp_path / "clip", [task], inputs, tmp_path / f"store-{n}")[0] for n, task in enumerate(TASKS)]
    one_after_the_other = embed(tmp_path / "clip", TASKS, inputs, tmp_path / "together")
    backwards = embed(tmp_path / "clip", TASKS[::-1], inputs, tmp_path / "backwards")[::-1]
    resumed = embed(tmp_path / "clip", TASKS, inputs, tmp_path / "store-1")
    for row in zip(alone, one_after_the_other, backwards, resumed, strict=True):
        assert len({matrix.tobytes() for matrix in row}) == 1
