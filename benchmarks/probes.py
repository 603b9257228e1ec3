"""Probing: the bootstrap of all cells of an anchor set, and what scoring costs beside embedding.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/probes.py [--suite FOLDER] [--write]

1. Intervals of 1,000 cells (models x levels x styles x subtypes) over 1,000 anchors, 10,000 resamples, against
   `scipy.stats.bootstrap` cell by cell (percentile; some cells are timed and multiplied), and against the bare product of
   the cells with a ready matrix of counts, which no way that resamples anchors for all cells can undercut. Scipy's
   vectorised form is not used: it resamples every cell apart too, and the scores of 1,000 cells at once do not fit.
2. A model of random projections over the towers of lite-dual on every task of a probing suite (the drawn demo by
   default), in processor seconds. Each distinct image and text goes through the model once; the overhead is everything
   else in the same process: manifests, hashes, the store, scores, intervals.

With `--write` the figures go to benchmarks/RESULTS.md.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from evaluation.commands.opening import open_suite
from evaluation.commands.suites_to_run import VectorSource
from evaluation.embedders.dual_encoder import DualEncoder
from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.lite_dual import LinearProjection, LiteDualTowers
from evaluation.embedders.lite_towers import IMAGE_FEATURES, TEXT_FEATURES, load_pretrained_towers
from evaluation.embedding.disk_store import DiskStore
from evaluation.embedding.encode import InputEncoder, Piece
from evaluation.embedding.store import EmbeddingStore
from evaluation.embedding.text_limit import TextLimit
from evaluation.inputs import EmbeddingInput
from evaluation.statistics.bootstrap import RESAMPLES, bootstrap_means
from evaluation.statistics.clusters import cluster_replicates
from evaluation.suites.medtec.demo import build_medtec_demo
from evaluation.types import TaskFailure
from evaluation.vocabulary import EmbedderFamily

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
    config = encode_config(EmbedderFamily.LITE_DUAL)
    towers = LiteDualTowers(load_pretrained_towers(), image_projection=image, text_projection=text, config=config)
    return DualEncoder(towers)


class TimedEncoder:
    """Adds up the processor seconds in which inputs are read and go through the model."""

    def __init__(self, model: DualEncoder) -> None:
        self._encoder = InputEncoder(model)
        self.seconds = 0.0

    @property
    def packing(self) -> str:
        """As the encoder's."""
        return self._encoder.packing

    def pieces(self, inputs: Sequence[EmbeddingInput], *, wanted: AbstractSet[int] | None = None) -> Iterator[Piece]:
        """Embed, batch by batch; the consumer's time between batches does not count."""
        pieces = self._encoder.pieces(inputs, wanted=wanted)
        while True:
            started = time.process_time()
            piece = next(pieces, None)
            self.seconds += time.process_time() - started
            if piece is None:
                return
            yield piece


def evaluation_seconds(folder: Path) -> tuple[float, float, EmbeddingStore, int]:
    """Processor seconds of evaluating every task, those of embedding among them, the store, and how many tasks."""
    model = random_model()
    encoder = TimedEncoder(model)
    store = EmbeddingStore(encoder, DiskStore(None, space="00", dimension=DIMENSION))
    started = time.process_time()
    source = VectorSource(store, model.description, TextLimit(model))
    outcomes = list(open_suite(folder).outcomes([], source=source, on_progress=lambda *_: None, completed={}))
    seconds = time.process_time() - started
    failed = [outcome.message for outcome in outcomes if isinstance(outcome, TaskFailure)]
    if failed:
        raise RuntimeError(failed[0])
    return seconds, encoder.seconds, store, len(outcomes)


def report(suite: Path, name: str) -> str:
    """The figures as markdown."""
    ways = bootstrap_seconds()
    bare, ours, drawn, scipy_seconds = ways.values()
    evaluating, embedding, store, n_tasks = evaluation_seconds(suite)
    rows = [[way, f"{seconds:.2f}", f"{seconds / bare:.2f}"] for way, seconds in ways.items()]
    return "\n".join(
        [
            f"# {TITLE}",
            "",
            f"`OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/probes.py --write`, {machine()}.",
            "",
            f"{CELLS:,} cells, {ANCHORS:,} anchors, {RESAMPLES:,} resamples, one thread, best of {REPEATS} (scipy once).",
            f"Ours takes {ours / bare:.2f} times the bare product, {drawn / bare:.2f} where the set's matrix is there already; scipy takes {scipy_seconds / ours:.0f} times as long as ours.",
            "",
            markdown_table(["way", "seconds", "against the bare product"], rows),
            "",
            f"All {n_tasks} tasks of {name} take {evaluating:.1f} processor seconds, {embedding:.1f} of them to embed",
            f"{store.embedded:,} distinct images and texts once, though tasks ask for {store.inputs:,}. Everything else adds",
            f"{100 * (evaluating / embedding - 1):.1f}%.",
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
