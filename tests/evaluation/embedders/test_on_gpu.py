"""The same models on a GPU: the CPU's vectors in float32, close to them in bfloat16, and within what memory there is.

Skipped where there is no GPU.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluation.embedders import blip2, clip, qwen_vl, siglip
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.batching import BatchLimits
from evaluation.embedding.encode import InputEncoder, embed_inputs
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.layouts import write_blip2, write_qwen2_vl
from tests.evaluation.embedders.siglip_layouts import write_siglip2_of_native_resolution

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU: what needs one is skipped")

DEVICE = "cuda:0"
LAYOUTS: dict[str, Callable[[Path], None]] = {
    "blip2": lambda folder: write_blip2(folder, 1, image_token=True),
    "siglip2": lambda folder: write_siglip2_of_native_resolution(folder, 1),
    "vlm2vec": lambda folder: write_qwen2_vl(folder, 1),
    "rzen_embed": lambda folder: write_qwen2_vl(folder, 1, name="qihoo360/RzenEmbed"),
}
FAMILIES = ("clip", "siglip", "qwen", *LAYOUTS)


@pytest.fixture(params=FAMILIES)
def model_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name = request.param
    if name in LAYOUTS:
        LAYOUTS[name](tmp_path / name)
        return tmp_path / name
    return request.getfixturevalue(f"{name}_folder")


def test_float32_is_that_of_the_cpu(
    model_folder: Path, mixed_inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = embed_inputs(load_embedder(model_folder), mixed_inputs, batch_size=len(mixed_inputs))
    for module in (blip2, clip, qwen_vl, siglip):
        monkeypatch.setattr(module, "compute_dtype", lambda _device, _config: torch.float32)
    rows = embed_inputs(load_embedder(model_folder, device=DEVICE), mixed_inputs, batch_size=len(mixed_inputs))
    assert ((rows * expected).sum(axis=1) > 1 - 1e-5).all()


def test_bfloat16_is_close_and_of_unit_length(model_folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    expected = embed_inputs(load_embedder(model_folder), mixed_inputs, batch_size=len(mixed_inputs))
    embedder = load_embedder(model_folder, device=DEVICE)
    assert embedder.description.encode_config["dtype"] == "bfloat16"
    rows = embed_inputs(embedder, mixed_inputs, batch_size=len(mixed_inputs))
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert ((rows * expected).sum(axis=1) > 0.98).all()


def test_a_batch_of_one_and_of_many(model_folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(model_folder, device=DEVICE)
    together = embed_inputs(embedder, mixed_inputs, batch_size=len(mixed_inputs))
    alone = embed_inputs(embedder, mixed_inputs, batch_size=1)
    # bfloat16 keeps 8 bits of a number, and padding moves the order of sums
    assert ((together * alone).sum(axis=1) > 0.995).all()


def test_the_same_batches_give_the_same_bits(model_folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    first, second = (
        embed_inputs(load_embedder(model_folder, device=DEVICE), mixed_inputs, batch_size=len(mixed_inputs))
        for _ in range(2)
    )
    assert (first == second).all()


@pytest.fixture
def little_memory() -> Iterator[None]:
    """At most 512 MiB of the GPU for this process."""
    torch.cuda.empty_cache()
    _, total = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction(512 * 2**20 / total)
    yield
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.cuda.empty_cache()


@pytest.mark.usefixtures("little_memory")
def test_batches_are_halved_where_memory_does_not_suffice(qwen_folder: Path) -> None:
    texts = [EmbeddingInput(text=f"finding {number} " + "no effusion is seen. " * 200) for number in range(256)]
    embedder = load_embedder(qwen_folder, device=DEVICE)
    encoder = InputEncoder(embedder, BatchLimits(inputs=256, tokens=256 * 8192))
    rows = np.empty((len(texts), encoder.dimension), dtype=np.float32)
    for positions, piece in encoder.pieces(texts):
        rows[positions] = piece
    assert encoder.model_calls().out_of_memory > 0
    expected = embed_inputs(load_embedder(qwen_folder), texts[:4], batch_size=4)
    assert ((rows[:4] * expected).sum(axis=1) > 0.98).all()
