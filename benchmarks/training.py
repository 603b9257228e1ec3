"""Examples a second of our trainer against sentence-transformers', on a CPU: the same model, data, batches and loss.

    python benchmarks/training.py [--write]

Both train all of all-MiniLM-L6-v2 with a cached contrastive loss on the same pairs in the same batches, at the same
learning rates, without dropout, so that their loss curves must be alike. The peer is `SentenceTransformerTrainer` with
`CachedMultipleNegativesRankingLoss`: with its default mini-batches of 32, with `mini_batch_num_tokens`, and for texts of
mixed and of equal length. Ours has chunks of as many padded tokens as 32 texts of the greatest length have. Each way runs
in a process of its own, the ways in turn; seconds of the processor in one thread, models loaded and one step taken before
the clock starts; the best of the rounds counts. Packages that only the peer needs are put below .data/benchmarks. With
`--write` the figures go to benchmarks/RESULTS.md.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.clinical_inputs import MEDIAN_WORDS, SPREAD, WORDS
from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section

PAIRS, BATCH, STEPS, ROUNDS = 256, 64, 4, 2
RATE, TEMPERATURE, MOST_TOKENS = 2e-5, 0.05, 256
MINI_BATCH = 32
EQUAL_WORDS = 24
ALIKE = 0.02  # of the loss: sums in another order, and nothing else
PEER_PACKAGES = Path(__file__).parents[1] / ".data" / "benchmarks" / "datasets"
CASES = {"mixed": "texts of mixed length", "equal": "texts of equal length"}
WAYS = {
    "ours": "ours, all chunks cached",
    "ours-kept": "ours, states kept",
    "peer": "sentence-transformers, 32 texts",
    "peer-tokens": "sentence-transformers, by tokens",
}


def make_pairs(case: str) -> list[tuple[str, str]]:
    """Pairs whose second text has half of the first one's words."""
    generator = np.random.default_rng(1)
    lengths = np.exp(generator.normal(np.log(MEDIAN_WORDS), SPREAD, PAIRS)).astype(int) + 4
    if case == "equal":
        lengths[:] = EQUAL_WORDS
    pairs = []
    for number, length in enumerate(lengths):
        words = list(generator.choice(WORDS, length))
        pairs.append(
            (f"case {number} " + " ".join(words), f"report {number} " + " ".join(words[:: 1 + (case != "equal")]))
        )
    return pairs


def write_records(pairs: Sequence[tuple[str, str]], folder: Path) -> None:
    """The pairs as a training file."""
    (folder / "Train_Data").mkdir(exist_ok=True)
    lines = [
        json.dumps(
            {"messages": [{"role": "user", "content": a}], "positive_messages": [[{"role": "user", "content": b}]]}
        )
        for a, b in pairs
    ]
    (folder / "Train_Data" / "pairs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def ours(pairs: Sequence[tuple[str, str]], folder: Path, *, kept: bool) -> dict:
    """Losses, seconds and padding of our trainer."""
    from accelerate import Accelerator  # noqa: PLC0415 - one way a process

    from benchmarks.minilm_trainable import MiniLmTrainable  # noqa: PLC0415
    from evaluation.training.loop import Reporting, StepReport, train  # noqa: PLC0415
    from evaluation.training.loss import LossSettings  # noqa: PLC0415
    from evaluation.training.processes import Processes  # noqa: PLC0415
    from evaluation.training.settings import TrainingSettings  # noqa: PLC0415
    from evaluation.training.sources import TrainingData  # noqa: PLC0415

    write_records(pairs, folder)
    encoder, data, reports = MiniLmTrainable(most_tokens=MOST_TOKENS), TrainingData(folder), list[StepReport]()
    settings = TrainingSettings(
        steps=STEPS,
        order=batch_order(),
        loss=LossSettings(temperature=TEMPERATURE, mask_equivalent=False),
        learning_rate=RATE,
        chunk_tokens=MINI_BATCH * MOST_TOKENS,
        kept_tokens=10**9 if kept else 0,
    )
    clock = Clock()

    def told(report: StepReport) -> None:
        clock.tick()
        reports.append(report)

    train(
        encoder, data, settings=settings, processes=Processes(Accelerator(cpu=True)), reporting=Reporting(on_step=told)
    )
    waste = float(np.mean([report.waste for report in reports]))
    return {"losses": [report.loss for report in reports], "waste": waste, **clock.figures()}


def batch_order():  # noqa: ANN201 - a type of the library, which is loaded in its own process only
    """The order of both sides."""
    from evaluation.training.sources import OrderSettings  # noqa: PLC0415

    return OrderSettings(pairs=BATCH, sub_batch=0, seed=4)


class Clock:
    """Processor seconds and memory from the end of the first step to that of the last."""

    def __init__(self) -> None:
        self._ticks: list[float] = []
        self._wall: list[float] = []

    def tick(self) -> None:
        """A step has ended."""
        self._ticks.append(time.process_time())
        self._wall.append(time.perf_counter())

    def figures(self) -> dict[str, float]:
        """Of all steps but the first."""
        examples = BATCH * (len(self._ticks) - 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {
            "rate": examples / (self._ticks[-1] - self._ticks[0]),
            "wall_rate": examples / (self._wall[-1] - self._wall[0]),
            "peak_mib": peak,
        }


def peer(pairs: Sequence[tuple[str, str]], folder: Path, *, by_tokens: bool) -> dict:
    """The same of sentence-transformers' trainer, which is given our order of pairs."""
    import datasets  # noqa: PLC0415 - one way a process
    from sentence_transformers import (  # noqa: PLC0415
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import (  # noqa: PLC0415
        CachedMultipleNegativesRankingLoss,
    )
    from torch.utils.data import BatchSampler, SequentialSampler  # noqa: PLC0415
    from transformers import TrainerCallback  # noqa: PLC0415

    from evaluation.embedders.packaged import minilm_folder  # noqa: PLC0415
    from evaluation.training.sources import TrainingData, epoch_batches  # noqa: PLC0415

    write_records(pairs, folder)
    order = np.concatenate(epoch_batches(TrainingData(folder), batch_order(), 0))
    rows = {"query": [pairs[place][0] for place in order], "report": [pairs[place][1] for place in order]}
    clock = Clock()

    class Ticking(TrainerCallback):
        def on_step_end(self, *_arguments: object, **_named: object) -> None:
            clock.tick()

    config = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
    model = SentenceTransformer(str(minilm_folder()), device="cpu", config_kwargs=config)
    model.max_seq_length = MOST_TOKENS
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(folder / "peer"),
            per_device_train_batch_size=BATCH,
            max_steps=STEPS,
            learning_rate=RATE,
            lr_scheduler_type="cosine",
            weight_decay=0.0,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            batch_sampler=lambda dataset, batch_size, drop_last, **_: BatchSampler(
                SequentialSampler(dataset), batch_size, drop_last
            ),
        ),
        train_dataset=datasets.Dataset(datasets.table.InMemoryTable.from_pydict(rows), fingerprint="pairs"),
        loss=CachedMultipleNegativesRankingLoss(
            model,
            scale=1 / TEMPERATURE,
            mini_batch_size=MINI_BATCH,
            mini_batch_num_tokens=MINI_BATCH * MOST_TOKENS if by_tokens else None,
        ),
        callbacks=[Ticking()],
    )
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return {"losses": losses, "waste": None, **clock.figures()}


def measure(case: str, way: str, folder: Path) -> None:
    """Print the figures of one way as JSON."""
    pairs = make_pairs(case)
    if way.startswith("ours"):
        found = ours(pairs, folder, kept=way == "ours-kept")
    else:
        found = peer(pairs, folder, by_tokens=way == "peer-tokens")
    print(json.dumps(found))


def install_peer() -> None:
    """Put what the peer alone needs below .data/benchmarks, once."""
    if not (PEER_PACKAGES / "datasets").is_dir():
        requirements = Path(__file__).parent / "requirements-datasets.txt"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(PEER_PACKAGES)]
        subprocess.run([*command, "-r", str(requirements)], check=True)


def run_case(case: str) -> tuple[list[list[str]], float, list[list[float]]]:
    """Rows of the table, our rate over the peer's default, and the curves of ours and the peer."""
    best: dict[str, dict] = {}
    for _ in range(ROUNDS):
        for way in WAYS:
            with tempfile.TemporaryDirectory() as place:
                command = [sys.executable, __file__, "--case", case, "--way", way, "--folder", place]
                environment = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
                if way.startswith("peer"):
                    environment["PYTHONPATH"] = str(PEER_PACKAGES)
                done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
            if done.returncode:
                raise SystemExit(f"{case}, {way}: {done.stderr[-3000:]}")
            found = json.loads(done.stdout.splitlines()[-1])
            if way not in best or found["rate"] > best[way]["rate"]:
                best[way] = found
    for found in best.values():
        apart = max(abs(one - other) for one, other in zip(found["losses"], best["ours"]["losses"], strict=True))
        if apart > ALIKE:
            raise SystemExit(
                f"{case}: the loss curves differ by {apart}: {found['losses']} and {best['ours']['losses']}"
            )
        found["apart"] = apart
    rows = [
        [
            f"{CASES[case]}: {words}",
            f"{best[way]['rate']:.1f}",
            f"{best[way]['wall_rate']:.1f}",
            f"{best[way]['rate'] / best['peer']['rate']:.2f}",
            f"{best[way]['peak_mib']:.0f}",
            "–" if best[way]["waste"] is None else f"{100 * best[way]['waste']:.1f}%",
            f"{best[way]['apart']:.4f}",
        ]
        for way, words in WAYS.items()
    ]
    return rows, best["ours"]["rate"] / best["peer"]["rate"], [best["ours"]["losses"], best["peer"]["losses"]]


def main() -> None:
    """Measure both cases, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--case")
    parser.add_argument("--way")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.case:
        measure(arguments.case, arguments.way, arguments.folder)
        return
    install_peer()
    (mixed, ratio, curves), (equal, _, _) = run_case("mixed"), run_case("equal")
    headings = ["", "pairs a CPU second", "pairs a second", "against sentence-transformers", "peak MiB", "padding"]
    ours_curve, peer_curve = (", ".join(f"{loss:.3f}" for loss in curve) for curve in curves)
    section = (
        f"# Training\n\n`python benchmarks/training.py`, {machine()}. all-MiniLM-L6-v2, {PAIRS} pairs in batches of "
        f"{BATCH}, one epoch of {STEPS} steps; best of {ROUNDS} rounds, one thread, each way in a process of its own. On "
        f"mixed lengths our trainer does {ratio:.2f} times the pairs of sentence-transformers with its defaults.\n\n"
        f"{markdown_table([*headings, 'losses differ from ours by'], [*mixed, *equal])}\n\n"
        f"Losses on mixed lengths, step by step: ours {ours_curve}; sentence-transformers {peer_curve}.\n"
    )
    print(section)
    if arguments.write:
        write_section(section)


if __name__ == "__main__":
    main()
