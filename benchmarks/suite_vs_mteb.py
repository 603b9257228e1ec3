"""Whole suites: our run, the bare forward pass over their unique inputs, and mteb; the same model on every side.

    python benchmarks/suite_vs_mteb.py --mini FOLDER [--write]

Each way runs in a process of its own with one thread for the model; loading the model, with a first input, is not
counted. The ways take turns, ROUNDS times, and the quickest time of each task counts. Processor seconds stand beside
wall seconds, because a busy machine stretches the latter most and because ours decodes images in a second thread.
Measured are: text suites with all-MiniLM-L6-v2 (a generated one, and the text tasks of the mini suite), and the whole
mini suite and a release in miniature with a CLIP of random weights. Tasks are taken without their instructions, which
mteb would put into the text; mteb has no volumes and no inputs of several images, so tasks of such are left out and
counted. Both sides must agree on Hit@1. mteb is installed into an environment below .data/benchmarks from requirements-
mteb.txt. With `--write` the figures go to benchmarks/RESULTS.md.
"""

import argparse
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.generated import write_generated_suite
from benchmarks.random_clip import write_random_clip
from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from benchmarks.suite_ways import load_tasks
from evaluation.commands.models_to_run import MINILM
from evaluation.inputs import EmbeddingInput
from evaluation.manifest import write_manifest
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.reader import read_suite
from evaluation.types import RetrievalTask, SuiteSpec, TaskSpec
from evaluation.vocabulary import EvidenceForm
from tests.evaluation.miniature_release import write_release

THREADS = 1
ROUNDS = 2
TEXT_QUERIES, MIXED_QUERIES = 40, 20
TITLE = "Suites: against the bare forward pass and mteb"
ROOT = Path(__file__).parents[1]
PEER = ROOT / ".data" / "benchmarks" / "mteb-venv"
REQUIREMENTS = Path(__file__).parent / "requirements-mteb.txt"
# Blocks of memory are kept, as the worker lets its child keep them.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)}
_TOLERANCE = 1e-4  # mteb rounds
NOTE = (
    "What a whole run takes beyond the model's own seconds is reading the files of a task before its first batch, lengths "
    "of texts, and intervals; the bare pass reads its files too, within its seconds. A mixed input's text is embedded with "
    "its batch, so texts are a few percent more than the different ones, and the last pass of a batch's images is filled "
    "up.\n\nMemory stays above half of mteb's peak because the frameworks and the loaded model, which both sides need, are "
    "half of it or more by themselves; what ours adds is the activations of one batch and, with images, those decoded "
    "ahead. The release in miniature has three records a task and texts of their own in every task, so little is shared "
    "in it; how much the real release shares is not known here."
)


def measure_mteb(tasks: Sequence[RetrievalTask], model: str, work: Path) -> dict[str, Any]:
    """The same tasks in mteb, one after the other."""
    path = work / "tasks.json"
    path.write_text(json.dumps([_for_mteb(task) for task in tasks]), encoding="utf-8")
    side = str(Path(__file__).parent / "mteb_side.py")
    return _child([str(PEER / "bin" / "python"), side, str(path), model])


def _for_mteb(task: RetrievalTask) -> dict[str, Any]:
    candidates = sorted({number for query in task.queries for number in query.pool})
    shared = len({id(query.pool) for query in task.queries}) == 1
    pools = None
    if not shared or any(query.excluded is not None for query in task.queries):
        pools = {
            f"q{n}": [f"d{number}" for number in query.pool if number != query.excluded]
            for n, query in enumerate(task.queries)
        }
    return {
        "name": task.spec.name,
        "queries": {f"q{n}": _input(task.inputs[query.query]) for n, query in enumerate(task.queries)},
        "corpus": {f"d{number}": _input(task.inputs[number]) for number in candidates},
        "relevant": {
            f"q{n}": [f"d{number}" for number in sorted(query.relevant)] for n, query in enumerate(task.queries)
        },
        "pools": pools,
    }


def _input(source: EmbeddingInput) -> dict[str, str]:
    return {"text": source.text.strip(), "image": str(source.images[0]) if source.images else ""}


def _reduced(source: Path, target: Path, *, queries: int, takes: Callable[[TaskSpec], bool]) -> int:
    """The first records of tasks without their instructions, images left where they are; how many tasks it leaves out.

    A task is left out where mteb cannot hold its inputs.
    """
    suite = read_suite(source)
    wanted = [spec for spec in suite.tasks if takes(spec)]
    for spec in wanted:
        records = json.loads((source / spec.data_path).read_text(encoding="utf-8"))
        path = target / spec.data_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([{**record, "qry_inst": ""} for record in records[:queries]]), encoding="utf-8")
        _show_images(source, target, spec.image_root)
    write_manifest(target, SuiteSpec(suite.slug, suite.version, suite.title, suite.synthetic, tuple(wanted)))
    kept = tuple(task.spec for task in load_tasks(target) if _is_plain(task))
    write_manifest(target, SuiteSpec(suite.slug, suite.version, suite.title, suite.synthetic, kept))
    return len(wanted) - len(kept)


def _show_images(source: Path, target: Path, root: str) -> None:
    """Copy an image root, which may hold others: links out of a suite's folder are refused."""
    if root:
        shutil.copytree(source / root, target / root, dirs_exist_ok=True)


def _is_plain(task: RetrievalTask) -> bool:
    return all(len(source.images) <= 1 and not source.is_volume for source in task.inputs)


def _child(command: Sequence[str]) -> dict[str, Any]:
    environment = {**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": str(THREADS), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[1]} failed:\n{done.stderr[-4000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _here(way: str, folder: Path, model: str) -> dict[str, Any]:
    return _child([sys.executable, str(Path(__file__).parent / "suite_ways.py"), way, str(folder), model])


def _install_peer() -> None:
    if not (PEER / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER)], check=True)
    pip = [str(PEER / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True, stderr=subprocess.DEVNULL)


def compare(folder: Path, model: str, work: Path) -> str:
    """Measure all ways on a suite and describe them in markdown."""
    tasks = load_tasks(folder)
    rounds = []
    for _ in range(ROUNDS):
        rounds.append({way: _here(way, folder, model) for way in ("bare", "ours", "alone", "loaded")})
        rounds[-1]["inside"] = rounds[-1]["ours"]["inside"]
        rounds[-1]["mteb"] = measure_mteb(tasks, model, work)
    runs = {way: _quickest([each[way] for each in rounds]) for way in rounds[0]}
    ours, alone, peer = runs["ours"], runs["alone"], runs["mteb"]
    inputs, unique = sum(len(task.inputs) for task in tasks), len({key for task in tasks for key in task.keys})
    wall = {way: sum(run["seconds"].values()) for way, run in runs.items() if "seconds" in run}
    processor = {way: sum(run["processor"].values()) for way, run in runs.items() if "seconds" in run}
    peak = {way: run["peak_bytes"] / 2**20 for way, run in runs.items() if "peak_bytes" in run}
    ratios = {name: alone["processor"][name] / peer["processor"][name] for name in ours["hits"]}
    slowest = max(ratios, key=ratios.__getitem__)
    rows = [
        [title, *_ratio(wall[way], wall["bare"]), *_ratio(processor[way], processor["bare"]), calls, memory]
        for way, title, calls, memory in (
            ("bare", "bare forward pass over the unique inputs", "", f"{peak['loaded']:,.0f} (loaded only)"),
            ("ours", "ours, whole run", str(ours["calls"]), f"{peak['ours']:,.0f}"),
            ("inside", "of it within the model, without reading files", "", ""),
            ("alone", "ours, task by task without sharing", str(alone["calls"]), ""),
            ("mteb", "mteb", str(peer["calls"]), f"{peak['mteb']:,.0f}"),
        )
    ]
    headings = ["way", "wall s", "against bare", "processor s", "against bare", "model calls", "peak MiB"]
    size = (
        f"{len(tasks)} tasks, {inputs:,} inputs, {unique:,} unique: sharing factor {inputs / unique:.2f}. "
        f"Padding waste {100 * ours['waste']:.1f}%. {_agreement(tasks, ours['hits'], peer['hits'])}"
    )
    summary = (
        f"Suite: mteb takes {wall['mteb'] / wall['ours']:.2f} times our wall and "
        f"{processor['mteb'] / processor['ours']:.2f} times our processor seconds. Single tasks: ours takes "
        f"{min(ratios.values()):.2f} to {ratios[slowest]:.2f} of mteb's processor seconds (most: {slowest}). "
        f"Calls: {alone['calls'] / ours['calls']:.2f} times fewer than task by task. "
        f"Memory: {peak['ours'] / peak['mteb']:.2f} of mteb's peak; frameworks and the loaded model alone are "
        f"{peak['loaded'] / peak['mteb']:.2f} of it."
    )
    return "\n\n".join([size, markdown_table(headings, rows), summary])


def _quickest(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The first of equal runs with the shortest times of all, task by task."""
    times = {
        clock: {name: min(run[clock][name] for run in runs) for name in runs[0][clock]}
        for clock in ("seconds", "processor")
        if clock in runs[0]
    }
    return runs[0] | times


def _ratio(value: float, floor: float) -> tuple[str, str]:
    return f"{value:.2f}", f"{value / floor:.2f}"


def _agreement(tasks: Sequence[RetrievalTask], ours: dict[str, float], theirs: dict[str, float]) -> str:
    """How far apart Hit@1 is; more than one query of a task apart is a defect of one side."""
    sizes = {task.spec.name: len(task.queries) for task in tasks}
    apart = {name: abs(ours[name] - theirs[name]) for name in ours if abs(ours[name] - theirs[name]) > _TOLERANCE}
    far = {name: (ours[name], theirs[name]) for name, gap in apart.items() if gap > 1 / sizes[name] + _TOLERANCE}
    if far:
        raise RuntimeError(f"Hit@1 differs: {far}")
    if not apart:
        return "All Hit@1 agree."
    return f"Hit@1 agrees on {len(ours) - len(apart)} tasks and differs by one query or a tie on {len(apart)}."


def _call_counts(release: Path, model: str) -> str:
    """Calls of the model for all tasks of the release, volumes included."""
    ours, alone = _here("ours", release, model), _here("alone", release, model)
    tasks = load_tasks(release)
    inputs, unique = sum(len(task.inputs) for task in tasks), len({key for task in tasks for key in task.keys})
    return (
        f"All {len(tasks)} tasks, with volumes and several images: {ours['calls']} calls of the model, "
        f"{alone['calls']} task by task, {alone['calls'] / ours['calls']:.2f} times as many; {inputs:,} inputs, "
        f"{unique:,} unique."
    )


def _text_parts(mini: Path, work: Path) -> list[str]:
    write_generated_suite(work / "generated", datasets=2, tasks_a_dataset=4, passages=120, queries=100)
    _reduced(mini, work / "texts", queries=TEXT_QUERIES, takes=lambda spec: spec.evidence_form == EvidenceForm.TEXT)
    return [
        "## Generated text suite, all-MiniLM-L6-v2",
        compare(work / "generated", MINILM, work),
        "## Text tasks of the mini suite, all-MiniLM-L6-v2",
        compare(work / "texts", MINILM, work),
    ]


def _mixed_parts(mini: Path, work: Path) -> list[str]:
    clip = work / "clip"
    write_random_clip(clip)
    left_out = _reduced(mini, work / "mini", queries=MIXED_QUERIES, takes=lambda _: True)
    write_release(work / "release")
    write_manifest(work / "release", medheb_suite())
    withheld = _reduced(work / "release", work / "plain", queries=MIXED_QUERIES, takes=lambda _: True)
    return [
        f"## Mini suite, {MIXED_QUERIES} queries a task, CLIP of random weights",
        f"{left_out} tasks of volumes or several images are left out on both sides.",
        compare(work / "mini", str(clip), work),
        "## Release in miniature, CLIP of random weights",
        f"{withheld} tasks of volumes or several images are left out on both sides.",
        compare(work / "plain", str(clip), work),
        _call_counts(work / "release", str(clip)),
    ]


def main() -> None:
    """Measure, print, and with --write keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mini", type=Path, required=True, help="Folder of the mini suite.")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    _install_peer()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        parts = [*_mixed_parts(arguments.mini, work), *_text_parts(arguments.mini, work)]
    command = "python benchmarks/suite_vs_mteb.py --mini FOLDER --write"
    body = "\n\n".join(
        [f"`{command}`, {machine()}, one thread, the quickest of {ROUNDS} rounds, models loaded before.", *parts, NOTE]
    )
    sys.stdout.write(body + "\n")
    if arguments.write:
        write_section(f"# {TITLE}\n\n{body}")


if __name__ == "__main__":
    main()
