"""Ranks of the relevant candidates in a large global pool, against the bare matrix product, argsort and faiss.

    python benchmarks/ranking.py [--write]

Each way runs in a process of its own on the same vectors, three times; the best time counts. Peak memory is that of the
process less that of the vectors themselves. All ways must agree on how many relevant candidates are among the first
ten. With `--write` the figures go to benchmarks/RESULTS.md.
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

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.sections import write_section
from evaluation.evaluators.similarity import rank_outcomes
from evaluation.types import FloatMatrix, RetrievalQuery

QUERIES, CANDIDATES, DIMENSION = 1_000, 100_000, 1_024
FIRST = 10
REPEATS = 3
BLOCK = 2_048


def make_vectors() -> FloatMatrix:
    """Queries, then candidates; query i is a noisy copy of candidate i, which is its relevant one."""
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((QUERIES + CANDIDATES, DIMENSION), dtype=np.float32)
    vectors[:QUERIES] += 0.12 * vectors[QUERIES : 2 * QUERIES]
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        block /= np.linalg.norm(block, axis=1, keepdims=True)
    return vectors


def ours(vectors: FloatMatrix) -> int:
    """The evaluator's ranks."""
    pool = tuple(range(QUERIES, QUERIES + CANDIDATES))
    queries = [
        RetrievalQuery(record=number, query=number, pool=pool, relevant=frozenset({QUERIES + number}))
        for number in range(QUERIES)
    ]
    return int((rank_outcomes(vectors, queries).above < FIRST).sum())


def product_whole(vectors: FloatMatrix) -> None:
    """One matrix product and nothing else."""
    vectors[:QUERIES] @ vectors[QUERIES:].T


def product_in_blocks(vectors: FloatMatrix) -> None:
    """The same product block by block into one buffer."""
    buffer = np.empty((QUERIES, BLOCK), dtype=np.float32)
    for start in range(QUERIES, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        np.matmul(vectors[:QUERIES], block.T, out=buffer if len(block) == BLOCK else None)


def argsort(vectors: FloatMatrix) -> int:
    """Sort everything, then look for the relevant candidate."""
    order = np.argsort(-(vectors[:QUERIES] @ vectors[QUERIES:].T), axis=1)
    ranks = (order == np.arange(QUERIES)[:, np.newaxis]).argmax(axis=1)
    return int((ranks < FIRST).sum())


def faiss_flat(vectors: FloatMatrix) -> int:
    """Exact search for the first ten only: a rank further down stays unknown."""
    import faiss  # noqa: PLC0415 - only this way needs it

    index = faiss.IndexFlatIP(DIMENSION)
    index.add(vectors[QUERIES:])
    _, found = index.search(vectors[:QUERIES], FIRST)
    return int((found == np.arange(QUERIES)[:, np.newaxis]).any(axis=1).sum())


WAYS: dict[str, Callable[[FloatMatrix], int | None]] = {
    "bare product, whole": product_whole,
    "bare product, in blocks": product_in_blocks,
    "ours: all ranks, ties exact": ours,
    "argsort: all ranks": argsort,
    "faiss IndexFlatIP: first 10 only": faiss_flat,
}


def measure(way: str) -> dict[str, Any]:
    """Time one way in this process."""
    vectors = make_vectors()
    seconds = []
    answer = None
    for _ in range(REPEATS):
        started = time.perf_counter()
        answer = WAYS[way](vectors)
        seconds.append(time.perf_counter() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - vectors.nbytes
    return {"seconds": min(seconds), "peak_mib": peak / 2**20, "answer": answer}


def main() -> None:
    """Run every way in a child process and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the figures to RESULTS.md")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measure(options.way)))
        return
    measured = {way: json.loads(subprocess.check_output([sys.executable, __file__, "--way", way])) for way in WAYS}
    answers = {figures["answer"] for figures in measured.values()} - {None}
    if len(answers) != 1:
        sys.exit(f"the ways disagree on the first {FIRST}: {measured}")
    text = report(measured)
    print(text)
    if options.write:
        write_section(text)


def report(measured: dict[str, dict[str, Any]]) -> str:
    """The figures as markdown."""
    whole, blocks = (measured[way]["seconds"] for way in list(WAYS)[:2])
    ours_seconds = measured["ours: all ranks, ties exact"]["seconds"]
    argsort_seconds = measured["argsort: all ranks"]["seconds"]
    machine = f"{os.cpu_count()} cores ({platform.machine()}), numpy {np.__version__}, load {os.getloadavg()[0]:.1f}"
    size = f"{QUERIES:,} queries x {CANDIDATES:,} candidates x {DIMENSION:,} dimensions"
    lines = [
        f"`python benchmarks/ranking.py --write`, {datetime.now(UTC):%Y-%m-%d}, {machine}.",
        "",
        f"{size}, float32, best of {REPEATS}. Memory is the process's peak without the vectors.",
        f"Argsort takes {argsort_seconds / ours_seconds:.1f} times as long as our ranks; even the bare product, which no",
        f"exact way can undercut, is only {argsort_seconds / min(whole, blocks):.1f} times faster than argsort here.",
        "",
        "| way | seconds | against the whole product | against the product in blocks | peak MiB |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {way} | {figures['seconds']:.2f} | {figures['seconds'] / whole:.2f} | {figures['seconds'] / blocks:.2f}"
        f" | {figures['peak_mib']:,.0f} |"
        for way, figures in measured.items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
