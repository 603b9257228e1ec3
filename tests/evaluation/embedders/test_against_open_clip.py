"""Our towers against open_clip's and timm's own, on repositories that open_clip saved. See requirements-openclip.txt."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.medimageinsight import MedImageInsightTowers
from evaluation.embedders.networks.from_tensors import unit_rows
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.official_medimageinsight import WORDS, convert_medimageinsight, official_state
from tests.evaluation.embedders.official_networks import write_byte_pairs, write_word_pieces
from tests.evaluation.embedders.open_clip_reference import TEXTS

FOLDER = os.environ.get("MEDBOARD_OPEN_CLIP", "")
pytestmark = pytest.mark.skipif(
    not FOLDER and importlib.util.find_spec("open_clip") is None,
    reason="open_clip is not installed: see requirements-openclip.txt",
)


# Of texts, as numbers: the start mark, letters, the end mark.
TOKENS = [[WORDS - 2, 5, WORDS - 1], [WORDS - 2, *range(3, 300, 4), WORDS - 1]]


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory, image_files: list[Path]) -> Path:
    folder = tmp_path_factory.mktemp("open_clip")
    write_word_pieces(folder / "biomedclip", ("effusion", "pleural", "no"))
    write_byte_pairs(folder / "clip", ("<|startoftext|>", "<|endoftext|>"), end_of_word="</w>")
    save_file(official_state(), folder / "medimageinsight.safetensors")
    (folder / "tokens.json").write_text(json.dumps(TOKENS))
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


def test_medimageinsight_is_timms_davit_and_open_clips_text_transformer(
    repositories: Path, image_files: list[Path], tmp_path: Path
) -> None:
    towers = MedImageInsightTowers(
        convert_medimageinsight(tmp_path), device="cpu", config=encode_config(EmbedderFamily.MEDIMAGEINSIGHT)
    )
    expected = np.load(repositories / "medimageinsight.npz")
    images = towers.image_features([Image.open(path).convert("RGB") for path in image_files])
    longest = max(map(len, TOKENS))
    tokens = torch.tensor([row + [WORDS - 1] * (longest - len(row)) for row in TOKENS])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in TOKENS])
    with torch.inference_mode():
        texts = unit_rows(towers._text(tokens, mask))
    for found, wanted in ((images, expected["images"]), (texts, expected["texts"])):
        assert np.einsum("ij,ij->i", found, wanted).min() > 1 - 1e-5
        assert (found @ found.T)[0, 1] < 0.999
