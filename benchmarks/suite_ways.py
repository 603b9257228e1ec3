"""Our half of suite_vs_mteb.py: one way of evaluating a suite a process; prints one JSON object.

    python benchmarks/suite_ways.py WAY SUITE MODEL

MODEL is "minilm" or the folder of a CLIP model.
"""

import argparse
import json
import logging
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))

from evaluation.commands.encoding import ModelEncoding
from evaluation.commands.models_to_run import MINILM, ModelToRun, find_model
from evaluation.decoding import DecodedInput
from evaluation.embedders.dual_encoder import PartsEncoder
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.protocol import Embedder
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.evaluators.session import evaluate_tasks
from evaluation.hashing import FileHashes
from evaluation.inputs import EmbeddingInput
from evaluation.suites.medheb.reader import load_task, read_suite
from evaluation.types import FloatMatrix, RetrievalTask, TaskResult
from evaluation.vocabulary import InputKind

BATCH = 32

_Item = TypeVar("_Item")


class _Clock:
    """Wall and processor seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def wall(self) -> float:
        return time.perf_counter() - self._wall

    def processor(self) -> float:
        return time.process_time() - self._processor


class _Timed:
    """A model that counts the seconds spent in it; everything else of it is as it was."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.wall = self.processor = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        """As the model's own; the clock of the calling thread leaves decoding in other ones out."""
        wall, processor = time.perf_counter(), time.thread_time()
        rows = self._embedder.embed(batch)
        self.wall += time.perf_counter() - wall
        self.processor += time.thread_time() - processor
        return rows


def load_tasks(folder: Path) -> list[RetrievalTask]:
    """All tasks of a suite."""
    hashes = FileHashes()
    return [load_task(folder, spec, hashes=hashes) for spec in read_suite(folder).tasks]


def measure_bare(folder: Path, model: str) -> dict[str, Any]:
    """Every text and every image of the suite once through the model, the framework's own way."""
    inputs = [source for task in load_tasks(folder) for source in task.inputs]
    texts = sorted({source.text for source in inputs if source.text})
    images = sorted({path for source in inputs for path in source.images})
    clock = _bare_minilm(texts) if model == MINILM else _bare_clip(Path(model), texts, images)
    return {"seconds": {"all": clock[0]}, "processor": {"all": clock[1]}}


def _bare_minilm(texts: Sequence[str]) -> tuple[float, float]:
    """sentence-transformers over the texts, sorted and batched its own way."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - only this way needs it

    model = SentenceTransformer(str(minilm_folder()), device="cpu")
    model.encode(["warm"])
    clock = _Clock()
    model.encode(list(texts), show_progress_bar=False)
    return clock.wall(), clock.processor()


def _bare_clip(folder: Path, texts: Sequence[str], images: Sequence[Path]) -> tuple[float, float]:
    """The framework's model over texts sorted by length, and over images as they come."""
    import torch  # noqa: PLC0415 - only this way needs it
    from transformers import AutoImageProcessor, AutoTokenizer, CLIPModel  # noqa: PLC0415

    model = CLIPModel.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    processor = AutoImageProcessor.from_pretrained(folder, backend="pil")
    clock = _Clock()
    with torch.inference_mode():
        for part in _batches(sorted(texts, key=len)):
            tokens = tokenizer(part, padding="longest", truncation=True, max_length=77, return_tensors="pt")
            model.get_text_features(**tokens)
        for paths in _batches(images):
            opened = [Image.open(path).convert("RGB") for path in paths]
            model.get_image_features(pixel_values=processor(images=opened, return_tensors="pt")["pixel_values"])
    return clock.wall(), clock.processor()


def _batches(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    for start in range(0, len(items), BATCH):
        yield list(items[start : start + BATCH])


def measure_loaded(_: Path, model: str) -> dict[str, Any]:
    """Only what any way needs: the frameworks, the model, and one text through it."""
    chosen = find_model(model)
    _warmed(chosen, chosen.load("cpu"))
    return {"peak_bytes": _peak()}


def measure_ours(folder: Path, model: str, *, alone: bool = False) -> dict[str, Any]:
    """Reading, embedding, ranking and all intervals of every task; `alone` forgets every vector after each task."""
    chosen = find_model(model)
    embedder = chosen.load("cpu")
    timed = _Timed(embedder)
    encoding, warm_calls = _warmed(chosen, timed)
    timed.wall = timed.processor = 0.0
    hashes = FileHashes()
    seconds, processor, hits, calls = {}, {}, {}, 0
    for spec in read_suite(folder).tasks:
        if alone:
            if isinstance(embedder, PartsEncoder):
                embedder.forget()
            encoding, warm_calls = _warmed(chosen, timed)
        clock = _Clock()
        (result,) = evaluate_tasks(
            [spec],
            load=lambda spec: load_task(folder, spec, hashes=hashes),
            evaluate=evaluate_task,
            store=encoding.store,
            on_progress=lambda *_: None,
        )
        if not isinstance(result, TaskResult):
            raise TypeError(result.message)
        seconds[spec.name], processor[spec.name] = clock.wall(), clock.processor()
        hits[spec.name] = result.metrics[0].value
        calls += encoding.statistics().embedder_calls - warm_calls if alone else 0
    statistics = encoding.statistics()
    return {
        "seconds": seconds,
        "processor": processor,
        "hits": hits,
        "calls": calls if alone else statistics.embedder_calls - warm_calls,
        "waste": statistics.padding_waste,
        "inside": {"seconds": {"all": timed.wall}, "processor": {"all": timed.processor}},
        "peak_bytes": _peak(),
    }


def _warmed(chosen: ModelToRun, embedder: Embedder) -> tuple[ModelEncoding, int]:
    encoding = ModelEncoding(chosen, embedder, device="cpu", location=None)
    encoding.store.vectors([EmbeddingInput(text="warm")], ["00" * 32], lambda *_: None)
    if InputKind.IMAGE in embedder.description.kinds:  # sizes of passes are tried once a model, as it is loaded once
        with tempfile.TemporaryDirectory() as folder:
            image = Path(folder) / "warm.png"
            Image.new("RGB", (32, 32)).save(image)
            encoding.store.vectors([EmbeddingInput(images=(image,))], ["01" * 32], lambda *_: None)
    return encoding, encoding.statistics().embedder_calls


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Measure one way."""
    ways = {
        "bare": measure_bare,
        "loaded": measure_loaded,
        "ours": measure_ours,
        "alone": lambda folder, model: measure_ours(folder, model, alone=True),
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=ways)
    parser.add_argument("suite", type=Path)
    parser.add_argument("model")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    sys.stdout.write(json.dumps(ways[arguments.way](arguments.suite, arguments.model)) + "\n")


if __name__ == "__main__":
    main()
