"""A suite of text tasks with all-MiniLM-L6-v2: our run, the bare forward pass over its unique inputs, and mteb.

    python benchmarks/suite_vs_mteb.py [--mini FOLDER] [--write]

Each way runs in a process of its own with one thread; loading the model is not counted. Processor seconds stand beside
wall seconds, because a busy machine stretches the latter only. A generated
suite is measured, and 40 queries of each text task of the mini suite where its folder is given. Tasks are taken without their
instructions, which mteb would put into the text; both sides must then agree on every Hit@1. mteb is installed into an
environment below .data/benchmarks from requirements-mteb.txt. With `--write` the figures go to benchmarks/RESULTS.md.
"""

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.generated import write_generated_suite
from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from evaluation.commands.encoding import ModelEncoding
from evaluation.commands.models_to_run import MINILM, find_model
from evaluation.embedders.packaged import minilm_folder
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.evaluators.session import evaluate_tasks
from evaluation.hashing import FileHashes
from evaluation.manifest import write_manifest
from evaluation.suites.medheb.reader import load_task, read_suite
from evaluation.types import RetrievalTask, SuiteSpec, TaskResult
from evaluation.vocabulary import EvidenceForm

THREADS = 1
REPEATS = 1
MINI_QUERIES = 40
TITLE = "Suites of text tasks: against the bare forward pass and mteb"
ROOT = Path(__file__).parents[1]
PEER = ROOT / ".data" / "benchmarks" / "mteb-venv"
REQUIREMENTS = Path(__file__).parent / "requirements-mteb.txt"
NOTE = (
    "Memory is more than half of mteb's because about 500 MiB are torch, transformers and the loaded model, which both "
    "sides need; the rest of ours is the activations of one batch, which the worker's allocator settings keep "
    "(without them the peak was 5% lower and the time 3% longer)."
)
# Blocks of memory are kept, as the worker lets its child keep them.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)}


class _Clock:
    """Wall and processor seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def wall(self) -> float:
        return time.perf_counter() - self._wall

    def processor(self) -> float:
        return time.process_time() - self._processor


def measure_bare(folder: Path) -> dict[str, Any]:
    """sentence-transformers over every text of the suite once, sorted and batched its own way."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - only this way needs it

    texts = sorted({source.text for task in _tasks(folder) for source in task.inputs})
    model = SentenceTransformer(str(minilm_folder()), device="cpu")
    model.encode(["warm"])
    clock = _Clock()
    model.encode(texts, show_progress_bar=False)
    return {"seconds": {"all": clock.wall()}, "processor": {"all": clock.processor()}, "inputs": len(texts)}


def measure_ours(folder: Path, *, alone: bool = False) -> dict[str, Any]:
    """Reading, embedding, ranking and all intervals of every task; `alone` gives every task a store of its own."""
    embedder = find_model(MINILM).load("cpu")
    suite, hashes = read_suite(folder), FileHashes()
    seconds, processor, hits, calls = {}, {}, {}, 0
    encoding = ModelEncoding(find_model(MINILM), embedder, device="cpu", location=None)
    encoding.store.vectors(*_warm(), lambda *_: None)
    warm_calls = encoding.statistics().embedder_calls
    for spec in suite.tasks:
        if alone:
            encoding = ModelEncoding(find_model(MINILM), embedder, device="cpu", location=None)
            warm_calls = 0
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
        if alone:
            calls += encoding.statistics().embedder_calls
    statistics = encoding.statistics()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "seconds": seconds,
        "processor": processor,
        "hits": hits,
        "calls": calls if alone else statistics.embedder_calls - warm_calls,
        "waste": statistics.padding_waste,
        "peak_bytes": peak,
    }


def _warm() -> tuple[list[Any], list[str]]:
    from evaluation.inputs import EmbeddingInput  # noqa: PLC0415 - only to warm up

    return [EmbeddingInput(text="warm")], ["00" * 32]


def measure_mteb(folder: Path, work: Path) -> dict[str, Any]:
    """The same tasks in mteb, one after the other."""
    path = work / "tasks.json"
    path.write_text(json.dumps([_for_mteb(task) for task in _tasks(folder)]), encoding="utf-8")
    return _child([str(PEER / "bin" / "python"), str(Path(__file__).parent / "mteb_side.py"), str(path)])


def _tasks(folder: Path) -> list[RetrievalTask]:
    hashes = FileHashes()
    return [load_task(folder, spec, hashes=hashes) for spec in read_suite(folder).tasks]


def _for_mteb(task: RetrievalTask) -> dict[str, Any]:
    candidates = sorted({number for query in task.queries for number in query.pool})
    shared = len({id(query.pool) for query in task.queries}) == 1
    return {
        "name": task.spec.name,
        "queries": {f"q{n}": task.inputs[query.query].text for n, query in enumerate(task.queries)},
        "corpus": {f"d{number}": task.inputs[number].text for number in candidates},
        "relevant": {f"q{n}": f"d{min(query.relevant)}" for n, query in enumerate(task.queries)},
        "pools": None
        if shared
        else {f"q{n}": [f"d{number}" for number in query.pool] for n, query in enumerate(task.queries)},
    }


def _without_instructions(source: Path, target: Path) -> None:
    """The first records of the text tasks of a suite, without instructions."""
    suite = read_suite(source)
    specs = tuple(spec for spec in suite.tasks if spec.evidence_form == EvidenceForm.TEXT)
    for spec in specs:
        records = json.loads((source / spec.data_path).read_text(encoding="utf-8"))
        path = target / spec.data_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([{**record, "qry_inst": ""} for record in records[:MINI_QUERIES]]), encoding="utf-8")
    write_manifest(target, SuiteSpec(suite.slug, suite.version, suite.title, suite.synthetic, specs))


def _child(command: Sequence[str]) -> dict[str, Any]:
    environment = {**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": str(THREADS), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[1]} failed:\n{done.stderr[-4000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _here(way: str, folder: Path) -> dict[str, Any]:
    return _child([sys.executable, __file__, "--way", way, "--folder", str(folder)])


def _install_peer() -> None:
    if not (PEER / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER)], check=True)
    pip = [str(PEER / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True, stderr=subprocess.DEVNULL)


def compare(folder: Path, work: Path, repeats: int) -> str:
    """Measure all ways on a suite, in turn, and describe the best of each in markdown."""
    runs: dict[str, list[dict[str, Any]]] = {"bare": [], "ours": [], "alone": [], "mteb": []}
    for _ in range(repeats):
        for way in ("bare", "ours", "alone"):
            runs[way].append(_here(way, folder))
        runs["mteb"].append(measure_mteb(folder, work))
    ours, alone, peer = runs["ours"][0], runs["alone"][0], runs["mteb"][0]
    _require_agreement(ours["hits"], peer["hits"])
    tasks = _tasks(folder)
    inputs, unique = sum(len(task.inputs) for task in tasks), len({key for task in tasks for key in task.keys})
    wall, processor = (_totals(runs, kind) for kind in ("seconds", "processor"))
    ratios = _single_ratios(runs)
    peak = {way: max(run["peak_bytes"] for run in runs[way]) / 2**20 for way in ("ours", "mteb")}
    facts = {
        "bare": ("bare forward pass over the unique inputs", "", ""),
        "ours": ("ours, whole run", str(ours["calls"]), f"{peak['ours']:,.0f}"),
        "alone": ("ours, task by task without sharing", str(alone["calls"]), ""),
        "mteb": ("mteb", str(peer["calls"]), f"{peak['mteb']:,.0f}"),
    }
    rows = [
        [title, *_ratio(wall[way], wall["bare"]), *_ratio(processor[way], processor["bare"]), calls, memory]
        for way, (title, calls, memory) in facts.items()
    ]
    headings = ["way", "wall s", "against bare", "processor s", "against bare", "model calls", "peak MiB"]
    size = (
        f"{len(tasks)} tasks, {inputs:,} inputs, {unique:,} unique: sharing factor {inputs / unique:.2f}. "
        f"Padding waste {100 * ours['waste']:.1f}%. All Hit@1 agree."
    )
    summary = (
        f"Suite: mteb takes {wall['mteb'] / wall['ours']:.2f} times our wall and "
        f"{processor['mteb'] / processor['ours']:.2f} times our processor seconds. Single tasks: ours takes "
        f"{min(ratios):.2f} to {max(ratios):.2f} of mteb's processor seconds. "
        f"Calls: {alone['calls'] / ours['calls']:.2f} times fewer than task by task. "
        f"Memory: {peak['ours'] / peak['mteb']:.2f} of mteb's peak."
    )
    return "\n\n".join([size, markdown_table(headings, rows), summary])


def _ratio(value: float, floor: float) -> tuple[str, str]:
    return f"{value:.2f}", f"{value / floor:.2f}"


def _totals(runs: dict[str, list[dict[str, Any]]], kind: str) -> dict[str, float]:
    return {way: min(sum(run[kind].values()) for run in repeats) for way, repeats in runs.items()}


def _single_ratios(runs: dict[str, list[dict[str, Any]]]) -> list[float]:
    """Ours, without anything shared, against mteb, task by task."""
    return [
        min(run["processor"][name] for run in runs["alone"]) / min(run["processor"][name] for run in runs["mteb"])
        for name in runs["ours"][0]["hits"]
    ]


def _require_agreement(ours: dict[str, float], theirs: dict[str, float]) -> None:
    wrong = {name: (ours[name], theirs[name]) for name in ours if abs(ours[name] - theirs[name]) > 1e-4}  # noqa: PLR2004 - mteb rounds
    if wrong:
        raise RuntimeError(f"Hit@1 differs: {wrong}")


def main() -> None:
    """Measure, print, and with --write keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mini", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--way", choices=["bare", "ours", "alone"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    if arguments.way:
        ways = {"bare": measure_bare, "ours": measure_ours, "alone": lambda folder: measure_ours(folder, alone=True)}
        print(json.dumps(ways[arguments.way](arguments.folder)))
        return
    _install_peer()
    command = "python benchmarks/suite_vs_mteb.py" + (" --mini FOLDER" if arguments.mini else "") + " --write"
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        write_generated_suite(work / "generated", datasets=2, tasks_a_dataset=4, passages=120, queries=100)
        parts = ["## Generated suite", compare(work / "generated", work, arguments.repeats)]
        if arguments.mini:
            _without_instructions(arguments.mini, work / "mini")
            parts += ["## Text tasks of the mini suite", compare(work / "mini", work, arguments.repeats)]
    head = f"`{command}`, {machine()}, one thread, best of {arguments.repeats}, models loaded before."
    body = "\n\n".join([head, *parts, NOTE])
    print(body)
    if arguments.write:
        write_section(f"# {TITLE}\n\n{body}")


if __name__ == "__main__":
    main()
