"""What a GPU computes in bfloat16, computed so on the CPU: close to float32, and of unit length in float32."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluation.embedders import blip2, clip, qwen_vl, siglip
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.layouts import write_blip2, write_qwen2_vl
from tests.evaluation.embedders.siglip_layouts import write_siglip2_of_native_resolution

FAMILIES: dict[str, Callable[[Path], None]] = {
    "blip2": lambda folder: write_blip2(folder, 1, image_token=True),
    "siglip2": lambda folder: write_siglip2_of_native_resolution(folder, 1),
    "vlm2vec": lambda folder: write_qwen2_vl(folder, 1),
    "rzen_embed": lambda folder: write_qwen2_vl(folder, 1, name="qihoo360/RzenEmbed"),
}


def compared(folder: Path, inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = embed_inputs(load_embedder(folder), inputs, batch_size=len(inputs))
    for module in (blip2, clip, qwen_vl, siglip):
        monkeypatch.setattr(module, "compute_dtype", lambda _device, _config: torch.bfloat16)
    embedder = load_embedder(folder)
    assert embedder.description.encode_config["dtype"] == "bfloat16"
    half = embed_inputs(embedder, inputs, batch_size=len(inputs))
    assert half.dtype == np.float32
    assert np.allclose(np.linalg.norm(half, axis=1), 1, atol=1e-6)
    # eight bits a number: about 1/256 a step, over two layers
    assert ((half * whole).sum(axis=1) > 0.98).all()
    assert np.abs(half - whole).max() > 1e-4


@pytest.mark.parametrize("family", FAMILIES)
def test_published_layouts(
    tmp_path: Path, mixed_inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    FAMILIES[family](tmp_path / family)
    compared(tmp_path / family, mixed_inputs, monkeypatch)


@pytest.mark.parametrize("fixture", ["clip_folder", "siglip_folder", "qwen_folder"])
def test_demo_layouts(
    request: pytest.FixtureRequest, mixed_inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch, fixture: str
) -> None:
    compared(request.getfixturevalue(fixture), mixed_inputs, monkeypatch)
