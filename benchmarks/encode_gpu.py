"""Inputs a second of a model of real size on a GPU, against a plain loop of transformers on the same weights.

    python benchmarks/encode_gpu.py [--write]

The model has the shape of Qwen3-VL-Embedding-2B (28 layers of 2,048 numbers, an image tower of 24 layers) and random
weights in bfloat16: what it says means nothing, what it costs is real. Texts have log-normal lengths. The peer asks the
same network for the same prompts 32 at a time in the order given, as loops usually do. The floor is 2 FLOPs a weight and
token at the rate of one large matrix product, measured in the same run. Needs a GPU.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.clinical_inputs import make_images, make_texts
from benchmarks.model_of_2b import write_model_of_2b
from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from evaluation.decoding import decode
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.batching import BatchLimits
from evaluation.embedding.encode import InputEncoder
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix

DEVICE = "cuda:0"
TEXTS, IMAGES = 1024, 256
MEDIAN_WORDS = 40
LOOP_BATCH = 32
BUDGETS = (4_096, 32_768)
PRODUCT = 8192


def ours(embedder: Embedder, sources: list[EmbeddingInput], budget: int) -> tuple[FloatMatrix, float]:
    """Rows, and the share of padding, with at most `budget` tokens a batch."""
    encoder = InputEncoder(embedder, BatchLimits(tokens=budget))
    rows = np.empty((len(sources), encoder.dimension), dtype=np.float32)
    for positions, piece in encoder.pieces(sources):
        rows[positions] = piece
    return rows, encoder.model_calls().padding_waste


def loop(embedder: Embedder, sources: list[EmbeddingInput]) -> tuple[FloatMatrix, float]:
    """The same network, a fixed number of inputs at a time in the order given."""
    batches = [sources[start : start + LOOP_BATCH] for start in range(0, len(sources), LOOP_BATCH)]
    rows, used, padded = [], 0, 0
    for batch in batches:
        decoded = [decode(source) for source in batch]
        counts = embedder.token_counts(decoded)
        used, padded = used + sum(counts), padded + max(counts) * len(counts)
        rows.append(embedder.embed(decoded))
    return np.concatenate(rows), 1 - used / padded


def timed(way: Callable[[], tuple[FloatMatrix, float]]) -> tuple[float, float, FloatMatrix, float]:
    """Seconds, peak MiB of the GPU, rows and padding of the second of two rounds."""
    way()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    rows, waste = way()
    torch.cuda.synchronize()
    return time.perf_counter() - started, torch.cuda.max_memory_allocated() / 2**20, rows, waste


def product_rate() -> float:
    """FLOPs a second of one large matrix product in bfloat16."""
    left, right = (torch.randn(PRODUCT, PRODUCT, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    left @ right
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(10):
        left @ right
    torch.cuda.synchronize()
    return 10 * 2 * PRODUCT**3 / (time.perf_counter() - started)


def report() -> str:
    """The section for benchmarks/RESULTS.md."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_model_of_2b(folder / "model", seed=0, device=DEVICE)
        started = time.perf_counter()
        embedder = load_embedder(folder / "model", device=DEVICE)
        loading = time.perf_counter() - started
        texts = [EmbeddingInput(text=text) for text in make_texts(TEXTS, median_words=MEDIAN_WORDS)]
        images = [EmbeddingInput(images=(path,)) for path in make_images(folder, IMAGES)]
        cases = {"texts of mixed length": texts, "images": images}
        rows, seconds = [], {}
        for title, sources in cases.items():
            ways = {f"ours, {budget:,} tokens a batch": partial(ours, embedder, sources, budget) for budget in BUDGETS}
            ways[f"loop, {LOOP_BATCH} inputs a batch"] = partial(loop, embedder, sources)
            measured = {way: timed(run) for way, run in ways.items()}
            *_, (_, _, theirs, _) = measured.values()
            for way, (took, peak, vectors, lost) in measured.items():
                agreement = float((vectors * theirs).sum(axis=1).min())
                rows.append(
                    [title, way, f"{len(sources) / took:,.0f}", f"{peak:,.0f}", f"{lost:.1%}", f"{agreement:.4f}"]
                )
            seconds[title] = measured[f"ours, {BUDGETS[0]:,} tokens a batch"][0]
        tokens = sum(embedder.token_counts([decode(source) for source in cases["texts of mixed length"]]))
        floor = 2 * embedder.description.parameters * tokens / product_rate()
    table = markdown_table(["inputs", "way", "a second", "peak MiB", "padding", "least cosine to the loop's"], rows)
    return (
        f"# Encoding on a GPU\n\n`python benchmarks/encode_gpu.py --write`, {torch.cuda.get_device_name(0)}, torch "
        f"{torch.__version__}, {machine()}. Random weights in the shape of Qwen3-VL-Embedding-2B "
        f"({embedder.description.parameters / 1e9:.2f} billion), bfloat16, loaded in {loading:.1f} s.\n\n{table}\n\n"
        f"Texts: {tokens:,} tokens take {seconds['texts of mixed length'] / floor:.1f} times the floor of {floor:.2f} s (2 FLOPs a weight and "
        f"token at the rate of one matrix product).\n"
    )


def main() -> None:
    """Print the figures, and store them with `--write`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = report()
    print(text)
    if arguments.write:
        write_section(text)


if __name__ == "__main__":
    main()
