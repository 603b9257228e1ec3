"""How time and memory of a run grow with the number of tasks and of queries.

    python benchmarks/growth.py [--write]

Every size runs in a process of its own with an embedder that costs next to nothing, so that the figures are those of
reading, storing, ranking and intervals. Tasks share no texts, the hardest case for memory. The exponent is the slope of
processor seconds against size on logarithmic scales: 1 is linear. With `--write` the figures go to
benchmarks/RESULTS.md.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.generated import write_generated_suite
from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from evaluation.commands.encoding import ModelEncoding
from evaluation.commands.models_to_run import CHANCE, find_model
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.evaluators.session import evaluate_tasks
from evaluation.hashing import FileHashes
from evaluation.suites.medheb.reader import load_task, read_suite
from evaluation.types import TaskResult

TASKS, QUERIES_A_TASK = (4, 8, 16, 32, 64), 300
QUERIES = (1_000, 2_000, 4_000, 8_000)
PASSAGES = 300
TITLE = "Growth with tasks and queries"


def measure(folder: Path) -> dict[str, float]:
    """Evaluate every task of a suite and keep no result."""
    embedder = find_model(CHANCE).load("cpu")
    hashes = FileHashes()
    started = time.process_time()
    with ModelEncoding(find_model(CHANCE), embedder, device="cpu", location=None) as encoding:
        for result in evaluate_tasks(
            read_suite(folder).tasks,
            load=lambda spec: load_task(folder, spec, hashes=hashes),
            evaluate=evaluate_task,
            store=encoding.store,
            on_progress=lambda *_: None,
        ):
            if not isinstance(result, TaskResult):
                raise TypeError(result.message)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.process_time() - started, "peak_mib": peak}


def series(shapes: list[tuple[int, dict[str, Any]]]) -> tuple[list[list[str]], float]:
    """One row a size, and the exponent of time."""
    measured = []
    for _, shape in shapes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "suite"
            write_generated_suite(folder, passages=PASSAGES, **shape)
            done = subprocess.check_output([sys.executable, __file__, "--folder", str(folder)])
            measured.append(json.loads(done))
    sizes = [size for size, _ in shapes]
    exponent = np.polyfit(np.log(sizes), np.log([figures["seconds"] for figures in measured]), 1)[0]
    rows = [
        [f"{size:,}", f"{figures['seconds']:.2f}", f"{figures['peak_mib']:.0f}"]
        for size, figures in zip(sizes, measured, strict=True)
    ]
    return rows, float(exponent)


def main() -> None:
    """Measure, print, and with --write keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.folder:
        print(json.dumps(measure(arguments.folder)))
        return
    by_tasks, tasks_exponent = series(
        [(n, {"datasets": n // 2, "tasks_a_dataset": 2, "queries": QUERIES_A_TASK}) for n in TASKS]
    )
    by_queries, queries_exponent = series([(n, {"datasets": 1, "tasks_a_dataset": 2, "queries": n}) for n in QUERIES])
    body = "\n\n".join(
        [
            f"`python benchmarks/growth.py --write`, {machine()}.",
            f"Tasks of {QUERIES_A_TASK} queries, {PASSAGES} passages for every two tasks: exponent {tasks_exponent:.2f}.",
            markdown_table(["tasks", "processor s", "peak MiB"], by_tasks),
            f"Queries of each of two tasks over {PASSAGES} passages: exponent {queries_exponent:.2f}.",
            markdown_table(["queries", "processor s", "peak MiB"], by_queries),
        ]
    )
    print(body)
    if arguments.write:
        write_section(f"# {TITLE}\n\n{body}")


if __name__ == "__main__":
    main()
