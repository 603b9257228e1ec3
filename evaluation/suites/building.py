"""Writes a suite in the release's layout: task files, images, training files and the manifest.

The files appear under a temporary name beside the destination and are renamed at the end, so that an interrupted
build is never taken for a whole one. The same input gives the same bytes.
"""

import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.errors import SuiteInvalid
from evaluation.manifest import write_manifest
from evaluation.suites.leakage import refuse_shared_images, refuse_shared_patients
from evaluation.suites.records import TaskDraft, TrainingPair, pair_to_json, record_to_json
from evaluation.types import SuiteSpec

TRAINING_FOLDER = "Train_Data"


@dataclass(slots=True)
class ImageWriter:
    """Puts images below one suite folder and remembers the hash of each one's bytes.

    Paths that it returns are relative to `root`, the image root of the tasks that use them.
    """

    folder: Path
    digests: dict[str, str] = field(default_factory=dict)

    def save(self, root: str, name: str, pixels: NDArray[np.uint8]) -> str:
        """Save `pixels` (height, width) or (height, width, 3) as a PNG file."""
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, format="PNG", compress_level=6)
        return self._write(root, name, buffer.getvalue())

    def copy(self, root: str, name: str, source: Path) -> str:
        """Copy the bytes of `source` as they are."""
        return self._write(root, name, source.read_bytes())

    def _write(self, root: str, name: str, content: bytes) -> str:
        path = f"{root}/{name}"
        digest = hashlib.sha256(content).hexdigest()
        if self.digests.setdefault(path, digest) != digest:
            raise SuiteInvalid(f"{path}: two different images were given this name; make the names of a source unique")
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        return name


@dataclass(frozen=True, slots=True)
class SuiteDraft:
    """All that a builder made except the images, which are already below the folder.

    `training` maps a file name without its ending to its pairs. `readme` is the text of the suite's README.md;
    `notes` are sentences on what the suite covers thinly or not at all, which the README lists at its end.
    """

    slug: str
    version: str
    title: str
    synthetic: bool
    tasks: tuple[TaskDraft, ...]
    training: Mapping[str, Sequence[TrainingPair]]
    readme: str
    notes: tuple[str, ...] = ()


def build_suite(out: Path, draw: Callable[[ImageWriter], SuiteDraft]) -> SuiteDraft:
    """Let `draw` make the suite and write it to `out`, which must not exist or be empty.

    Raises:
        SuiteInvalid: `out` holds files, or a patient or an image is in both test and training.
    """
    with staged(out) as staging:
        writer = ImageWriter(staging)
        draft = draw(writer)
        pairs = [pair for pairs in draft.training.values() for pair in pairs]
        refuse_shared_patients(draft.tasks, pairs)
        refuse_shared_images(draft.tasks, pairs, writer.digests)
        _write_draft(staging, draft)
    return draft


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """A folder beside `out` that takes its name when the block ends, and vanishes if it fails.

    Raises:
        SuiteInvalid: `out` holds files.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SuiteInvalid(f"{out} already holds files; name a new folder or remove it first")
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        yield staging
        staging.chmod(0o755)
        if out.exists():
            out.rmdir()
        staging.rename(out)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _write_draft(folder: Path, draft: SuiteDraft) -> None:
    for task in draft.tasks:
        _write_json(
            folder / task.spec.data_path,
            [record_to_json(record, task.spec.parser) for record in task.records],
        )
    for name, pairs in draft.training.items():
        _write_lines(folder / TRAINING_FOLDER / f"{name}.jsonl", (pair_to_json(pair) for pair in pairs))
    notes = "".join(f"\n- {note}" for note in draft.notes)
    (folder / "README.md").write_text(f"{draft.readme}{notes}\n" if notes else draft.readme, encoding="utf-8")
    specs = tuple(task.spec for task in draft.tasks)
    write_manifest(folder, SuiteSpec(draft.slug, draft.version, draft.title, draft.synthetic, specs))


def _write_json(path: Path, body: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _write_lines(path: Path, bodies: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies), encoding="utf-8")
