"""The repositories of the demo hub: small models of every family, so that a machine without a network shows it all."""

import argparse
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import metadata_load, metadata_save

from evaluation.embedders.packaged import minilm_folder
from workers.local_hub.repository import SETTINGS_NAME

MARKER_NAME = ".demo-hub.json"
FORMAT_VERSION = 1
OWNER = "demo"
RANDOM_LICENCE = "cc0-1.0"
TRAINED_LICENCE = "apache-2.0"
SEED = 20_260
TEXT_LENGTH = 160
"""Of the small models' texts, in bytes: every probe of the demo fits, as it fits a model that reads words."""


class DemoHubError(Exception):
    """The folder for the demo hub holds something else."""


@dataclass(frozen=True, slots=True)
class _RandomModel:
    """A repository of random weights. `kind` says for people what it has the shape of."""

    name: str
    kind: str
    write: Callable[[Path], None]
    tags: tuple[str, ...] = ()
    base: str = ""
    gated: bool = False

    def card(self) -> str:
        """README.md: metadata first, then a warning that nothing was learned."""
        lines = [f"license: {RANDOM_LICENCE}", "library_name: transformers", "tags:"]
        lines += [f"- {tag}" for tag in (*self.tags, "random-weights", "not-for-clinical-use")]
        lines += [f"base_model: {self.base}"] if self.base else []
        front_matter = "\n".join(lines)
        return (
            f"---\n{front_matter}\n---\n\n# {OWNER}/{self.name}\n\n{self.kind} with random weights. It has learned "
            "nothing: its scores are those of guessing, and it exists to show and test how a model is evaluated.\n"
        )


def build_demo_hub(root: Path, demo_suite: Path) -> None:
    """Write the demo repositories below `root`, for `python -m workers.local_hub --root`.

    They are built beside `root` and moved there when whole. A root that was built from the same suite is kept as it
    is; one of another suite or version is built anew.

    Args:
        root: the folder to make, e.g. `.data/hub`.
        demo_suite: the demo suite's folder; its train split trains `demo/lite-dual`.

    Raises:
        DemoHubError: `root` holds something that this function did not make.
    """
    identity = {"format_version": FORMAT_VERSION, "suite_sha256": _suite_sha256(demo_suite)}
    if root.exists() and any(root.iterdir()):
        found = _read_marker(root)
        if found == identity:
            return
        if found is None:
            raise DemoHubError(f"{root} holds files that are not a demo hub's; name another folder or empty this one.")
    partial = root.with_name(f"{root.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    _write_repositories(partial / OWNER, demo_suite)
    (partial / MARKER_NAME).write_text(json.dumps(identity), encoding="utf-8")
    if root.exists():
        shutil.rmtree(root)
    partial.rename(root)


def _write_repositories(folder: Path, demo_suite: Path) -> None:
    # Here, because these load torch and transformers, which a hub that is whole already does not need.
    from evaluation.training.lite_dual import train_lite_dual  # noqa: PLC0415

    folder.mkdir(parents=True)
    for model in _random_models(folder):
        target = folder / model.name
        model.write(target)
        (target / "README.md").write_text(model.card(), encoding="utf-8")
        if model.gated:
            (target / SETTINGS_NAME).write_text(json.dumps({"gated": "manual"}), encoding="utf-8")
    shutil.copytree(minilm_folder(), folder / "minilm", ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    train_lite_dual(demo_suite, folder / "lite-dual", seed=SEED)
    _state_licence(folder / "lite-dual", TRAINED_LICENCE)


def _random_models(folder: Path) -> tuple[_RandomModel, ...]:
    from evaluation.embedders import tiny  # noqa: PLC0415 - loads torch and transformers

    base = "qwen3-vl-tiny"
    return (
        _RandomModel(
            "clip-tiny",
            "A tiny CLIP",
            lambda target: tiny.write_tiny_clip(target, SEED, text_length=TEXT_LENGTH),
            ("clip",),
        ),
        _RandomModel(
            "siglip-tiny",
            "A tiny SigLIP",
            lambda target: tiny.write_tiny_siglip(target, SEED, text_length=TEXT_LENGTH),
            ("siglip",),
        ),
        _RandomModel(
            base,
            "A tiny Qwen3-VL embedding model",
            lambda target: tiny.write_tiny_qwen3_vl(target, SEED),
            ("qwen3_vl",),
        ),
        _RandomModel(
            f"{base}-lora",
            f"A LoRA adapter for {OWNER}/{base}",
            lambda target: tiny.write_tiny_qwen3_vl_adapter(target, folder / base, SEED, base_name=f"{OWNER}/{base}"),
            ("peft", "lora"),
            base=f"{OWNER}/{base}",
        ),
        _RandomModel("chance", "An embedder", lambda target: tiny.write_chance(target, seed=SEED), ("baseline",)),
        _RandomModel(
            "gated-tiny",
            "A tiny CLIP behind a gate",
            lambda target: tiny.write_tiny_clip(target, SEED + 1),
            ("clip",),
            gated=True,
        ),
    )


def _state_licence(folder: Path, licence: str) -> None:
    """Add the licence to the card's metadata: both towers' licences allow it (Apache-2.0 and MIT)."""
    card = folder / "README.md"
    metadata_save(card, {"license": licence, **(metadata_load(card) or {})})


def _suite_sha256(demo_suite: Path) -> str:
    """What the models depend on: the suite's manifest and its training records."""
    digest = hashlib.sha256()
    for path in (demo_suite / "suite.json", *sorted(demo_suite.glob("Train_Data/*.jsonl"))):
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _read_marker(root: Path) -> object:
    """What a whole root was built from; None where there is no marker."""
    path = root / MARKER_NAME
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def main() -> None:
    """Build the demo hub's repositories, unless they are there."""
    parser = argparse.ArgumentParser(prog="python -m workers.demo_hub", description=main.__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder to make")
    parser.add_argument("--suite", type=Path, required=True, help="folder of the demo suite")
    arguments = parser.parse_args()
    build_demo_hub(arguments.root, arguments.suite)


if __name__ == "__main__":
    main()
