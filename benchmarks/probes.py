"""Probing: the bootstrap of all cells of an anchor set, and what scoring costs beside embedding.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/probes.py [--suite FOLDER] [--write]

1. Intervals of 1,000 cells (models x levels x styles x subtypes) over 1,000 anchors, 10,000 resamples, against
   `scipy.stats.bootstrap` cell by cell (percentile; some cells are timed and multiplied), and against the bare product of
   the cells with a ready matrix of counts, which no way that resamples anchors for all cells can undercut. Scipy's
   vectorised form is not used: it resamples every cell apart too, and the scores of 1,000 cells at once do not fit.
2. A model of random projections over the towers of lite-dual on every task of a probing suite (the drawn demo by
   default), against embedding the suite's distinct images and texts once, in processor seconds of one process. The
   overhead is everything else: manifests, hashes, the store, scores, intervals.

With `--write` the figures go to benchmarks/RESULTS.md.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from evaluation.commands.encoding import ModelEncoding
from evaluation.commands.models_to_run import CHANCE, find_model
from evaluation.commands.opening import open_suite
from evaluation.commands.suites_to_run import VectorSource
from evaluation.embedders.dual_encoder import DualEncoder
from evaluation.embedders.lite_dual import LinearProjection, LiteDualTowers
from evaluation.embedders.lite_towers import IMAGE_FEATURES, TEXT_FEATURES, load_pretrained_towers
from evaluation.embedding.text_limit import TextLimit
from evaluation.inputs import EmbeddingInput
from evaluation.statistics.bootstrap import RESAMPLES, bootstrap_means
from evaluation.statistics.clusters import cluster_replicates
from evaluation.suites.medtec.demo import build_medtec_demo
from evaluation.types import TaskFailure

CELLS, ANCHORS = 1_000, 1_000
SCIPY_CELLS = 5
REPEATS = 3
DIMENSION = 256
TITLE = "Probing: intervals and overhead"

Cells = NDArray[np.float64]


def fastest(run: Callable[[], object]) -> float:
    """The best of several wall times."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def bootstrap_seconds() -> dict[str, float]:
    """Seconds of each way for all cells; ours draws anew every time, as if the set came first."""
    cells = np.random.default_rng(0).normal(0.01, 0.05, (CELLS, ANCHORS))
    counts = np.ascontiguousarray(bootstrap_means(np.eye(ANCHORS), stratum="counts") * ANCHORS)
    patients = [str(number) for number in range(ANCHORS)]
    names = iter(f"set {number}" for number in range(REPEATS))
    started = time.perf_counter()
    for row in cells[:SCIPY_CELLS]:
        stats.bootstrap((row,), np.mean, n_resamples=RESAMPLES, method="percentile", batch=1_000)
    scipy_seconds = (time.perf_counter() - started) * CELLS / SCIPY_CELLS
    return {
        "bare product": fastest(lambda: cells @ counts),
        "ours, drawing included": fastest(lambda: cluster_replicates(cells, clusters=patients, stratum=next(names))),
        "ours, set drawn before": fastest(lambda: cluster_replicates(cells, clusters=patients, stratum="set 2")),
        f"scipy.stats.bootstrap, {SCIPY_CELLS} cells x {CELLS // SCIPY_CELLS}": scipy_seconds,
    }


def random_model() -> DualEncoder:
    """The towers of lite-dual under random projections: the cost of a small real model."""
    generator = np.random.default_rng(0)
    image, text = (
        LinearProjection(
            generator.standard_normal((DIMENSION, width)).astype(np.float32), np.zeros(DIMENSION, np.float32)
        )
        for width in (IMAGE_FEATURES, TEXT_FEATURES)
    )
    return DualEncoder(LiteDualTowers(load_pretrained_towers(), image_projection=image, text_projection=text))


def distinct_inputs(folder: Path) -> dict[str, EmbeddingInput]:
    """Everything that the suite embeds, by content key."""
    found: dict[str, EmbeddingInput] = {}
    for _, task in open_suite(folder).loaded([]):
        if task is not None:
            found.update(zip(task.keys, task.inputs, strict=True))
    return found


def embedding_seconds(folder: Path) -> tuple[float, int]:
    """Processor seconds of embedding every distinct input once, and how many there are."""
    inputs = distinct_inputs(folder)
    model = random_model()
    with ModelEncoding(find_model(CHANCE), model, device="cpu", location=None) as encoding:
        started = time.process_time()
        encoding.store.vectors(list(inputs.values()), list(inputs), lambda *_: None)
        return time.process_time() - started, len(inputs)


def evaluation_seconds(folder: Path) -> tuple[float, int]:
    """Processor seconds of evaluating every task, reading files included, and how many tasks there are."""
    model = random_model()
    with ModelEncoding(find_model(CHANCE), model, device="cpu", location=None) as encoding:
        started = time.process_time()
        source = VectorSource(encoding.store, model.description, TextLimit(model))
        outcomes = list(open_suite(folder).outcomes([], source=source, on_progress=lambda *_: None, completed={}))
        seconds = time.process_time() - started
    failed = [outcome.message for outcome in outcomes if isinstance(outcome, TaskFailure)]
    if failed:
        raise RuntimeError(failed[0])
    return seconds, len(outcomes)


def report(suite: Path, name: str) -> str:
    """The figures as markdown."""
    ways = bootstrap_seconds()
    bare, ours, _, scipy_seconds = ways.values()
    evaluating, n_tasks = evaluation_seconds(suite)
    embedding, n_inputs = embedding_seconds(suite)
    rows = [[way, f"{seconds:.2f}", f"{seconds / bare:.2f}"] for way, seconds in ways.items()]
    return "\n".join(
        [
            f"# {TITLE}",
            "",
            f"`OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/probes.py --write`, {machine()}.",
            "",
            f"{CELLS:,} cells, {ANCHORS:,} anchors, {RESAMPLES:,} resamples, one thread, best of {REPEATS} (scipy once).",
            f"Ours takes {ours / bare:.2f} times the bare product; scipy takes {scipy_seconds / ours:.0f} times as long as ours.",
            "",
            markdown_table(["way", "seconds", "against the bare product"], rows),
            "",
            f"All {n_tasks} tasks of {name} take {evaluating:.1f} processor seconds; embedding their {n_inputs:,} distinct images",
            f"and texts once takes {embedding:.1f}. The overhead is {100 * (evaluating / embedding - 1):.1f}%.",
            "",
        ]
    )


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", type=Path, help="folder of a probing suite; the drawn demo by default")
    parser.add_argument("--write", action="store_true", help="write the figures to RESULTS.md")
    options = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1" or os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        sys.exit("set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, so that every way has one thread")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.suite or Path(temporary) / "demo"
        if options.suite is None:
            build_medtec_demo(folder)
        text = report(folder, "the drawn demo suite" if options.suite is None else f"the suite {folder.name}")
    print(text)
    if options.write:
        write_section(text)


if __name__ == "__main__":
    main()
