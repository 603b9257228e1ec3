"""Training a Qwen3-VL of real size on one GPU: tokens a second, memory, falling loss, resume; random weights, made data.

    python benchmarks/train_gpu.py [--size 2b|small] [--steps N]

Nothing is fetched. The base has random weights of the sizes of Qwen3-VL-Embedding-2B (but for its vocabulary: one token
a byte), in bfloat16; records are texts of log-normal length, a third of them with an image of 448 px. Prints one JSON
object a measurement. `--size small` runs on a CPU in a minute and checks the script itself.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from PIL import Image
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.clinical_inputs import WORDS
from benchmarks.model_of_2b import write_model_of_2b
from evaluation.embedders import qwen_vl
from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.tiny import write_tiny_qwen3_vl
from evaluation.training import preparation
from evaluation.training.adapters import AdapterSettings
from evaluation.training.batching import Packing, pack_sequences
from evaluation.training.loop import Reporting, StepReport, train
from evaluation.training.loss import LossSettings
from evaluation.training.processes import Processes
from evaluation.training.qwen_trainable import QwenTrainable
from evaluation.training.settings import TrainingSettings
from evaluation.training.sources import OrderSettings, TrainingData
from evaluation.training.trainable import trained_parameters
from evaluation.vocabulary import EmbedderFamily

FIXED_ROWS = 16


def image_processor(folder: Path) -> Any:
    """The class by its name: in some versions of transformers the automatic one asks for torchvision."""
    return Qwen2VLImageProcessorPil.from_pretrained(folder, local_files_only=True)


def write_data(folder: Path, *, records: int, median_words: int, pixels: int) -> None:
    """Pairs whose two texts share their words, in two sources."""
    generator = np.random.default_rng(5)
    (folder / "Train_Data").mkdir(parents=True)
    lines: dict[str, list[str]] = {"texts": [], "images": []}
    for number in range(records):
        words = generator.choice(WORDS, int(np.exp(generator.normal(np.log(median_words), 0.8))) + 3)
        shown = number % 3 == 0
        body: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": "Find the report."},
                {"role": "user", "content": "<image>" * shown + f"case {number}: " + " ".join(words)},
            ],
            "positive_messages": [
                [{"role": "user", "content": f"report {number}: " + " ".join(words[: len(words) // 2])}]
            ],
        }
        if shown:
            body["images"] = [f"{number}.png"]
            coarse = generator.integers(0, 256, (14, 14, 3), dtype=np.uint8)
            Image.fromarray(coarse).resize((pixels, pixels), Image.Resampling.BICUBIC).save(folder / f"{number}.png")
        lines["images" if shown else "texts"].append(json.dumps(body) + "\n")
    for name, written in lines.items():
        (folder / "Train_Data" / f"{name}.jsonl").write_text("".join(written), encoding="utf-8")


class Bench:
    """One base and one data set, trained again and again from the same start."""

    def __init__(self, folder: Path, *, size: str, settings: TrainingSettings) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.settings = settings
        self._folder = folder
        if size == "2b":
            write_model_of_2b(folder / "base", seed=1, device=self.device)
            write_data(folder / "data", records=384, median_words=40, pixels=448)
        else:
            write_tiny_qwen3_vl(folder / "base", 1)
            write_data(folder / "data", records=48, median_words=6, pixels=96)
        self.data = TrainingData(folder / "data")
        self.accelerator = Accelerator(cpu=self.device == "cpu")

    def encoder(self) -> QwenTrainable:
        """A fresh one, with layers' states computed again in the backward pass."""
        encoder = QwenTrainable(
            self._folder / "base",
            base_name="random",
            adapter=AdapterSettings(),
            config=encode_config(EmbedderFamily.QWEN3_VL),
            device=self.device,
            seed=1,
            gradient_checkpointing=False,  # the name of the method differs between versions of transformers
        )
        base: Any = encoder.embedder().network  # type: ignore[attr-defined]
        enable = getattr(base, "activation_checkpointing_enable", None) or base.gradient_checkpointing_enable
        enable()
        return encoder

    def run(self, settings: TrainingSettings, **reporting: Any) -> tuple[QwenTrainable, list[StepReport], float]:
        """The trained encoder, its steps, and the peak of memory in GiB."""
        encoder, reports = self.encoder(), []
        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        train(
            encoder,
            self.data,
            settings=settings,
            processes=Processes(self.accelerator),
            reporting=Reporting(on_step=reports.append, **reporting),
            identity="benchmark",
        )
        peak = torch.cuda.max_memory_allocated() / 2**30 if self.device == "cuda" else 0.0
        return encoder, reports, peak


def figures(reports: Sequence[StepReport], peak: float) -> dict[str, float]:
    """Of all steps but the first, which warms up."""
    timed = reports[1:] or reports
    seconds = sum(report.seconds for report in timed)
    return {
        "tokens_a_second": round(sum(report.tokens for report in timed) / seconds),
        "records_a_second": round(sum(report.records for report in timed) / seconds, 2),
        "padding": round(float(np.mean([report.waste for report in timed])), 4),
        "peak_gib": round(peak, 2),
        "seconds_a_step": round(seconds / len(timed), 3),
    }


def fixed_rows(token_counts: Sequence[int], *, budget: int) -> Packing:
    """What a trainer without a budget does: so many rows at a time, in the order in which they come."""
    counts = [max(count, 1) for count in token_counts]
    chunks = [tuple(range(start, min(start + FIXED_ROWS, len(counts)))) for start in range(0, len(counts), FIXED_ROWS)]
    return Packing(
        chunks=tuple(chunks),
        tokens=tuple(sum(counts[place] for place in chunk) for chunk in chunks),
        padded=tuple(len(chunk) * max(counts[place] for place in chunk) for chunk in chunks),
    )


def show(name: str, **values: Any) -> None:
    """One line a measurement."""
    print(json.dumps({"measured": name, **values}), flush=True)


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--size", choices=("2b", "small"), default="2b")
    parser.add_argument("--steps", type=int, default=16)
    arguments = parser.parse_args()
    started = time.perf_counter()
    qwen_vl.load_image_processor = image_processor
    small = arguments.size == "small"
    settings = TrainingSettings(
        steps=arguments.steps,
        order=OrderSettings(pairs=16 if small else 64, sub_batch=8 if small else 32),
        loss=LossSettings(temperature=0.05),
        learning_rate=5e-3 if small else 3e-4,
        warm_up=2,
        chunk_tokens=2_048 if small else 16_384,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        bench = Bench(folder, size=arguments.size, settings=settings)
        show("prepared", seconds=round(time.perf_counter() - started, 1), device=bench.device, torch=torch.__version__)
        measure(bench, folder)
    show("done", seconds=round(time.perf_counter() - started, 1))


def measure(bench: Bench, folder: Path) -> None:
    """Falling loss with checkpoints, resume, and two other ways for comparison."""
    settings, half = bench.settings, bench.settings.steps // 2
    whole, reports, peak = bench.run(settings, checkpoints=folder / "checkpoints", checkpoint_every=half)
    losses = [report.loss for report in reports]
    show("token budget, cached", **figures(reports, peak), losses=[round(loss, 3) for loss in losses])
    show(
        "loss falls",
        first=round(float(np.mean(losses[:3])), 3),
        last=round(float(np.mean(losses[-3:])), 3),
        trained=sum(parameter.numel() for parameter in trained_parameters(whole).values()),
    )
    newest = max((folder / "checkpoints").iterdir())
    for path in newest.iterdir():
        path.unlink()
    newest.rmdir()
    resumed, rest, _ = bench.run(settings, checkpoints=folder / "checkpoints", checkpoint_every=half)
    pairs = zip(trained_parameters(whole).values(), trained_parameters(resumed).values(), strict=True)
    moved = [float((one - other).detach().abs().max()) for one, other in pairs]
    show(
        "resumed",
        from_step=rest[0].step - 1,
        largest_difference_of_weights=max(moved),
        losses_differ_by=max(
            abs(one.loss - other.loss) for one, other in zip(reports[-len(rest) :], rest, strict=True)
        ),
    )
    del whole, resumed
    few = replace(settings, steps=4)
    _, kept, kept_peak = bench.run(replace(few, kept_tokens=10**9))
    show("token budget, all states kept", **figures(kept, kept_peak))
    preparation.pack_sequences = fixed_rows
    _, fixed, fixed_peak = bench.run(few)
    preparation.pack_sequences = pack_sequences
    show(f"fixed batches of {FIXED_ROWS} rows, cached", **figures(fixed, fixed_peak))


if __name__ == "__main__":
    main()
