"""The bootstrap of a whole board, against the bare matrix product and a bootstrap task by task and model by model.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bootstrap.py [--write]

107 tasks with MedHEB's number of queries, 50 models, 10,000 resamples. Each way runs in a process of its own, on one
thread so that the ratios do not depend on how many cores are free. The bare product multiplies the values of all
models with a ready matrix of counts in each task's size: no way that resamples queries for all models can undercut it.
`scipy.stats.bootstrap` shares nothing between models; it is timed for one model and counted 50 times. With `--write`
the figures go to benchmarks/RESULTS.md.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.sections import write_section
from evaluation.statistics.bootstrap import RESAMPLES, bootstrap_means
from evaluation.suites.medheb.board_statistics import board_statistics
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.types import RankOutcomes

TASKS, MODELS, QUERIES = 107, 50, 75_233
LARGEST_TASK = 1_000
SHARE_OF_TIES = 0.1
REPEATS = 3
STEPS = (1, 2, 4, 8)

Hits = dict[str, NDArray[np.float64]]


def make_hits(sizes: list[int], models: int = MODELS) -> Hits:
    """Hit@1 of every model and query by task; ties make some of them a half, a third or a quarter."""
    generator = np.random.default_rng(0)
    hits = {}
    for spec, size in zip(medheb_suite().tasks, sizes, strict=False):
        values = (generator.random((models, size)) < generator.random((models, 1))).astype(np.float64)
        tied = generator.random((models, size)) < SHARE_OF_TIES
        hits[spec.name] = np.where(tied, 1 / generator.integers(2, 5, (models, size)), values)
    return hits


def all_sizes() -> list[int]:
    """Half of the tasks have as many queries as the release allows; the others share the rest evenly."""
    full = TASKS // 2
    rest, more = divmod(QUERIES - full * LARGEST_TASK, TASKS - full)
    return [LARGEST_TASK] * full + [rest + (number < more) for number in range(TASKS - full)]


def bare_product(kind: type[np.floating[Any]]) -> Callable[[Hits], None]:
    """Matrix products in one number type, and nothing else; counts are prepared and converted before."""
    counts = bootstrap_means(np.eye(LARGEST_TASK), stratum="counts") * LARGEST_TASK
    ready = np.ascontiguousarray(counts.astype(kind))

    def run(hits: Hits) -> None:
        for values in hits.values():
            values.astype(kind) @ ready[: values.shape[1]]

    return run


def ours(hits: Hits) -> None:
    """All models of a task at once."""
    for name, values in hits.items():
        bootstrap_means(values, stratum=name)


def scipy_one_model(hits: Hits) -> None:
    """Every task of one model."""
    for values in hits.values():
        stats.bootstrap((values[0],), np.mean, n_resamples=RESAMPLES, method="percentile", batch=1_000)


def whole_board(hits: Hits) -> None:
    """Means, intervals, ranks and tie groups of every group and task, and the analyses."""
    outcomes: dict[str, dict[str, RankOutcomes]] = {f"model {number}": {} for number in range(MODELS)}
    for name, values in hits.items():
        for number, row in enumerate(values):
            above = (row == 0).astype(np.int32)
            tied = np.where(above == 0, np.round(1 / np.maximum(row, SHARE_OF_TIES)) - 1, 0).astype(np.int32)
            ones = np.ones_like(above)
            outcomes[f"model {number}"][name] = RankOutcomes(above=above, tied=tied, relevant=ones, pool=ones * 5)
    board_statistics(medheb_suite(), outcomes, baselines=[f"model {number}" for number in range(8)])


WAYS: dict[str, Callable[[], Callable[[Hits], None]]] = {
    "bare product, float64": lambda: bare_product(np.float64),
    "bare product, float32": lambda: bare_product(np.float32),
    "ours: resampled means of all tasks and models": lambda: ours,
    "scipy.stats.bootstrap, one model": lambda: scipy_one_model,
    "ours: the whole board, ranks and analyses included": lambda: whole_board,
}
ONCE = ("scipy.stats.bootstrap, one model", "ours: the whole board, ranks and analyses included")


def seconds_of(run: Callable[[Hits], None], hits: Hits, repeats: int) -> float:
    """The best of several times."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run(hits)
        times.append(time.perf_counter() - started)
    return min(times)


def measure(way: str) -> dict[str, float]:
    """Time one way in this process; memory is what it adds to the values themselves."""
    hits = make_hits(all_sizes())
    run = WAYS[way]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = seconds_of(run, hits, 1 if way in ONCE else REPEATS)
    return {"seconds": seconds, "mib": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}


def exponents() -> tuple[float, float]:
    """Of time in the number of tasks of 500 queries, and in the number of queries of ten tasks."""
    by_tasks = [seconds_of(ours, make_hits([500] * 10 * step), REPEATS) for step in STEPS]
    by_queries = [seconds_of(ours, make_hits([250 * step] * 10), REPEATS) for step in STEPS]
    fits = [np.polyfit(np.log(STEPS), np.log(seconds), 1)[0] for seconds in (by_tasks, by_queries)]
    return float(fits[0]), float(fits[1])


def float32_error() -> float:
    """Largest error of a resampled mean if values, counts and product were float32."""
    ((name, values),) = make_hits([LARGEST_TASK]).items()
    counts = bootstrap_means(np.eye(LARGEST_TASK), stratum=name) * LARGEST_TASK
    rough = values.astype(np.float32) @ counts.astype(np.float32) / np.float32(LARGEST_TASK)
    return float(np.abs(bootstrap_means(values, stratum=name) - rough).max())


def report(measured: dict[str, dict[str, float]]) -> str:
    """The figures as markdown."""
    bare, _, means, scipy_model, _ = (figures["seconds"] for figures in measured.values())
    by_tasks, by_queries = exponents()
    machine = f"{os.cpu_count()} cores ({platform.machine()}), numpy {np.__version__}, load {os.getloadavg()[0]:.1f}"
    lines = [
        "# Bootstrap",
        "",
        f"`OPENBLAS_NUM_THREADS=1 python benchmarks/bootstrap.py --write`, {datetime.now(UTC):%Y-%m-%d}, {machine}.",
        "",
        (
            f"{TASKS} tasks, {QUERIES:,} queries, {MODELS} models, {RESAMPLES:,} resamples, one thread, best of {REPEATS}"
            " (the last two rows once). Memory is what a way adds to the values."
        ),
        f"The resampled means take {means / bare:.2f} times the bare product. `scipy.stats.bootstrap` for all models, one",
        f"model timed and multiplied by {MODELS}, takes {MODELS * scipy_model / means:.0f} times as long as ours.",
        (
            f"Time grows with the number of tasks to the power {by_tasks:.2f} and with the queries of a task to the power"
            f" {by_queries:.2f}."
        ),
        (
            f"In float32 a resampled mean would be off by up to {float32_error():.0e}; means of different models that close"
            " would be joined or separated by it, so the product stays float64."
        ),
        "",
        "| way | seconds | against the bare product | added MiB |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {way} | {figures['seconds']:.2f} | {figures['seconds'] / bare:.2f} | {figures['mib']:,.0f} |"
        for way, figures in measured.items()
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run every way in a child process and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the figures to RESULTS.md")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measure(options.way)))
        return
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        sys.exit("set OPENBLAS_NUM_THREADS=1, so that every way has one thread")
    text = report({way: json.loads(subprocess.check_output([sys.executable, __file__, "--way", way])) for way in WAYS})
    print(text)
    if options.write:
        write_section(text)


if __name__ == "__main__":
    main()
