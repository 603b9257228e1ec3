"""Our towers against open_clip's and timm's own, on repositories that open_clip saved. See requirements-openclip.txt."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.official_networks import write_byte_pairs, write_word_pieces
from tests.evaluation.embedders.open_clip_reference import TEXTS

FOLDER = os.environ.get("MEDBOARD_OPEN_CLIP", "")
pytestmark = pytest.mark.skipif(
    not FOLDER and importlib.util.find_spec("open_clip") is None,
    reason="open_clip is not installed: see requirements-openclip.txt",
)


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory, image_files: list[Path]) -> Path:
    folder = tmp_path_factory.mktemp("open_clip")
    write_word_pieces(folder / "biomedclip", ("effusion", "pleural", "no"))
    write_byte_pairs(folder / "clip", ("<|startoftext|>", "<|endoftext|>"), end_of_word="</w>")
    program = Path(__file__).with_name("open_clip_reference.py")
    environment = {**os.environ, "PYTHONPATH": FOLDER, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, str(program), str(folder), *map(str, image_files)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("name", ["biomedclip", "clip"])
def test_vectors_are_open_clips_own(repositories: Path, image_files: list[Path], name: str) -> None:
    embedder = load_embedder(repositories / name)
    expected = np.load(repositories / name / "expected.npz")
    images = embed_inputs(embedder, [EmbeddingInput(images=(path,)) for path in image_files], batch_size=3)
    texts = embed_inputs(embedder, [EmbeddingInput(text=text) for text in TEXTS], batch_size=3)
    for found, wanted in ((images, expected["images"]), (texts, expected["texts"])):
        assert np.einsum("ij,ij->i", found, wanted).min() > 1 - 1e-5
        assert (found @ found.T)[0, 1] < 0.999  # distinct inputs have distinct vectors
