"""Images and texts a second of our path, against sentence-transformers and plain loops of transformers, on a CPU.

    python benchmarks/encode.py [--write]

Every way runs the same network on the same inputs in a process of its own, the ways in turn, three rounds; the best
round of each counts. What counts are seconds of the processor in one thread, so that other work on the machine does not. Files are read and decoded by every way, and models are loaded before the clock starts. Peak memory
is what a process gained over its state after loading. All ways must give the same vectors. Lengths of texts are
log-normal ("mixed") or all equal. With `--write` the figures go to benchmarks/RESULTS.md.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.clinical_inputs import make_images, make_texts
from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section
from evaluation.types import FloatMatrix

ROUNDS = 3
TEXTS, IMAGES = 600, 96
EQUAL_WORDS = 24
LOOP_BATCH = 32  # the default of sentence-transformers
AGREEMENT = 1 - 1e-4
WAYS = ("ours", "sentence-transformers", "transformers loop")
CASES = {
    "minilm-mixed": "MiniLM, texts of mixed length",
    "minilm-equal": "MiniLM, texts of equal length",
    "clip-mixed": "random CLIP, texts of mixed length",
    "clip-images": "random CLIP, images",
    "lite-images": "EfficientNet-Lite0, images",
}
ABSENT = {  # the peer has no way to run it
    ("lite-images", "sentence-transformers"),
    ("clip-mixed", "sentence-transformers"),
    ("clip-images", "sentence-transformers"),
}


def texts_of(case: str) -> list[str]:
    """The texts of a case."""
    return make_texts(TEXTS, equal_words=EQUAL_WORDS if case.endswith("equal") else 0)


def ours(case: str, folder: Path) -> Callable[[], FloatMatrix]:
    """The path of a run: decoding ahead, packing under a budget, unit rows."""
    from evaluation.embedders.dual_encoder import DualEncoder  # noqa: PLC0415 - one way a process
    from evaluation.embedders.packaged import minilm_folder  # noqa: PLC0415
    from evaluation.embedders.registry import load_embedder  # noqa: PLC0415
    from evaluation.embedding.encode import InputEncoder  # noqa: PLC0415
    from evaluation.inputs import EmbeddingInput  # noqa: PLC0415

    if case.startswith("lite"):
        embedder = DualEncoder(_LiteImages())
    else:
        embedder = load_embedder(minilm_folder() if case.startswith("minilm") else folder / "clip")
    encoder = InputEncoder(embedder)
    if case.endswith("images"):
        sources = [EmbeddingInput(images=(path,)) for path in sorted(folder.glob("*.png"))]
    else:
        sources = [EmbeddingInput(text=text) for text in texts_of(case)]

    def run() -> FloatMatrix:
        rows = np.empty((len(sources), encoder.dimension), dtype=np.float32)
        for positions, piece in encoder.pieces(sources):
            rows[positions] = piece
        run.waste = encoder.model_calls().padding_waste  # type: ignore[attr-defined]
        return rows

    return run


class _LiteImages:
    """EfficientNet-Lite0 alone as the image tower of our path."""

    def __init__(self) -> None:
        from evaluation.embedders.lite_towers import IMAGE_FEATURES, load_pretrained_towers  # noqa: PLC0415
        from evaluation.types import ModelDescription  # noqa: PLC0415

        self._towers = load_pretrained_towers()
        self.description = ModelDescription("lite_dual", "EfficientNet-Lite0", IMAGE_FEATURES, 0, ("image",))
        self.image_features = self._towers.image_features
        self.text_features = self._towers.text_features
        self.token_counts = self._towers.token_counts
        self.cuts = self._towers.cuts


def sentence_transformers_way(case: str, folder: Path) -> Callable[[], FloatMatrix]:
    """`SentenceTransformer.encode` with its defaults."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - one way a process

    from evaluation.embedders.packaged import minilm_folder  # noqa: PLC0415

    model = SentenceTransformer(str(minilm_folder()), device="cpu")
    texts = texts_of(case)
    return lambda: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


def transformers_loop(case: str, folder: Path) -> Callable[[], FloatMatrix]:
    """What one writes with transformers: batches of 32 in the given order, padded to the longest."""
    import torch  # noqa: PLC0415 - one way a process

    encode = _clip_batch(folder) if case.startswith("clip") else _minilm_batch()
    if case.startswith("lite"):
        encode = _lite_batch()
    items: Sequence[object] = sorted(folder.glob("*.png")) if case.endswith("images") else texts_of(case)

    @torch.inference_mode()
    def run() -> FloatMatrix:
        rows = [encode(items[start : start + LOOP_BATCH]) for start in range(0, len(items), LOOP_BATCH)]
        return torch.nn.functional.normalize(torch.cat(rows), dim=-1).numpy()

    return run


def _minilm_batch() -> Callable:
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    from evaluation.embedders.packaged import minilm_folder  # noqa: PLC0415

    model, tokenizer = AutoModel.from_pretrained(minilm_folder()).eval(), AutoTokenizer.from_pretrained(minilm_folder())

    def encode(texts: list[str]):  # noqa: ANN202 - a tensor, whose module is loaded here only
        tokens = tokenizer(texts, padding=True, truncation=True, max_length=256, return_tensors="pt")
        mask = tokens["attention_mask"].unsqueeze(-1)
        return (model(**tokens).last_hidden_state * mask).sum(dim=1) / mask.sum(dim=1)

    return encode


def _clip_batch(folder: Path) -> Callable:
    from PIL import Image  # noqa: PLC0415
    from transformers import AutoImageProcessor, AutoTokenizer, CLIPModel  # noqa: PLC0415

    model, tokenizer = CLIPModel.from_pretrained(folder / "clip").eval(), AutoTokenizer.from_pretrained(folder / "clip")
    processor = AutoImageProcessor.from_pretrained(folder / "clip", backend="pil")

    def encode(items: list):  # noqa: ANN202 - a tensor, whose module is loaded here only
        if isinstance(items[0], str):
            tokens = tokenizer(items, padding=True, truncation=True, max_length=77, return_tensors="pt")
            return model.get_text_features(**tokens).pooler_output
        images = [Image.open(path).convert("RGB") for path in items]
        return model.get_image_features(**processor(images, return_tensors="pt")).pooler_output

    return encode


def _lite_batch() -> Callable:
    import torch  # noqa: PLC0415
    from PIL import Image  # noqa: PLC0415

    from evaluation.embedders.lite_towers import load_pretrained_towers  # noqa: PLC0415

    network = load_pretrained_towers().image_network.to(memory_format=torch.contiguous_format)

    def encode(paths: list[Path]):  # noqa: ANN202 - a tensor, whose module is loaded here only
        images = [Image.open(path).convert("RGB").resize((224, 224), Image.Resampling.BICUBIC) for path in paths]
        pixels = torch.stack([torch.from_numpy(np.array(image)).permute(2, 0, 1) for image in images])
        return network.extract_features((pixels.float() - 127) / 128).mean(dim=(2, 3))

    return encode


MAKERS = {"ours": ours, "sentence-transformers": sentence_transformers_way, "transformers loop": transformers_loop}


def measure(case: str, way: str, folder: Path) -> None:
    """Print seconds, bytes gained, padding waste and the place of the vectors, as JSON."""
    run = MAKERS[way](case, folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    rows = run()
    seconds = time.process_time() - start
    gained = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    vectors = folder / f"{case}.{way}.npy"
    np.save(vectors, rows)
    waste = getattr(run, "waste", None)
    sys.stdout.write(json.dumps({"seconds": seconds, "bytes": gained, "waste": waste, "vectors": str(vectors)}))


def run_case(case: str, folder: Path) -> list[str]:
    """A row of the table."""
    ways = [way for way in WAYS if (case, way) not in ABSENT]
    best: dict[str, dict] = {}
    for _ in range(ROUNDS):
        for way in ways:
            command = [sys.executable, __file__, "--case", case, "--way", way, "--folder", str(folder)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
            )
            found = json.loads(done.stdout.splitlines()[-1])
            if way not in best or found["seconds"] < best[way]["seconds"]:
                best[way] = found
    vectors = {way: np.load(found["vectors"]) for way, found in best.items()}
    worst = min(float((vectors["ours"] * rows).sum(axis=1).min()) for rows in vectors.values())
    if worst < AGREEMENT:
        raise SystemExit(f"{case}: the ways do not agree: cosine {worst}")
    count = IMAGES if case.endswith("images") else TEXTS
    row = [CASES[case], f"{count / best['ours']['seconds']:.0f}"]
    row += [f"{best[way]['seconds'] / best['ours']['seconds']:.2f} x" if way in best else "–" for way in WAYS[1:]]
    row += [f"{best[way]['bytes'] / 1e6:.0f}" if way in best else "–" for way in WAYS]
    return [*row, f"{100 * best['ours']['waste']:.1f}%"]


def main() -> None:
    """Measure every case, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--case")
    parser.add_argument("--way")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.case:
        measure(arguments.case, arguments.way, arguments.folder)
        return
    from benchmarks.random_clip import write_random_clip  # noqa: PLC0415 - loads torch, which the ways load themselves

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_random_clip(folder / "clip")
        make_images(folder, IMAGES)
        rows = [run_case(case, folder) for case in CASES]
    headings = ["", "ours, a CPU second", "faster than sentence-transformers", "faster than a transformers loop"]
    headings += [f"memory of {way}, MB" for way in WAYS] + ["padding"]
    section = (
        f"# Encoding\n\n`python benchmarks/encode.py`, {machine()}. {TEXTS} texts or {IMAGES} images; the best of {ROUNDS} "
        f"rounds, each way in a process of its own; all vectors agree to a cosine of {AGREEMENT}.\n\n"
        f"{markdown_table(headings, rows)}\n"
    )
    print(section)
    if arguments.write:
        write_section(section)


if __name__ == "__main__":
    main()
