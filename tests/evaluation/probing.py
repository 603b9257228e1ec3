"""Small anchor sets, probe sets and embedders made by hand."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from evaluation.embedding.encode import embed_inputs
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.probe import evaluate_probe_task
from evaluation.hashing import FileHashes
from evaluation.probe_types import Anchor, AnchorSet, Probe, ProbeSet, ProbeTaskResult, ProbeTaskSpec
from evaluation.suites.medtec.anchor_inputs import BLIND_IMAGES
from evaluation.suites.medtec.cell_tasks import cell_task
from evaluation.suites.medtec.input_numbers import InputNumbers
from evaluation.types import ModelDescription
from evaluation.vocabulary import (
    AnchorSelection,
    InputKind,
    Level,
    Modality,
    NegationSubtype,
    PhrasingStyle,
    ProbeTaskKind,
)

MODALITY = Modality.CHEST_RADIOGRAPH


def write_images(folder: Path, count: int) -> list[str]:
    """Distinct PNGs, 8 px, by number; their paths relative to the folder."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    paths = [f"images/{number}.png" for number in range(count)]
    for number, path in enumerate(paths):
        pixels = np.full((8, 8, 3), (number % 256, number // 256, 77), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / path)
    return paths


def anchor(folder: Path, number: int, path: str, label: str, **changes) -> Anchor:
    fields = {
        "anchor_id": f"hand/{number}",
        "modality": MODALITY,
        "dataset": "hand",
        "dataset_version": "1",
        "source_split": "",
        "path": path,
        "sha256": FileHashes().of(folder / path),
        "cluster": f"patient {number}",
        "label": label,
        "label_source": "made up",
        "region": "",
        "view": "",
        "slice_index": None,
        "window": "",
        "sex": "",
        "age": None,
        "skin_tone": "",
        "licence": "CC0 1.0",
        "seed": 42,
        "code_version": "1",
    }
    return Anchor(**(fields | changes))


def anchor_set(folder: Path, labels: Sequence[str]) -> AnchorSet:
    paths = write_images(folder, len(labels))
    anchors = [anchor(folder, number, paths[number], label) for number, label in enumerate(labels)]
    return AnchorSet("hand", MODALITY, tuple(anchors), {}, "a" * 64)


def probe(concept: str, template: str, positives: Sequence[str], negatives: Sequence[str]) -> Probe:
    return Probe(concept, template, tuple(positives), tuple(negatives), "made up")


def probe_set(
    level: Level,
    probes: Sequence[Probe],
    *,
    style: PhrasingStyle = PhrasingStyle.TEMPLATE,
    selection: AnchorSelection = AnchorSelection.ALL,
    subtype: NegationSubtype | None = None,
) -> ProbeSet:
    return ProbeSet(MODALITY, level, style, subtype, selection, "1", tuple(probes), "b" * 64)


def cell_spec(probes: ProbeSet) -> ProbeTaskSpec:
    return spec(
        f"{MODALITY}.{probes.level}",
        ProbeTaskKind.CELL,
        level=probes.level,
        style=probes.style,
        subtype=probes.subtype,
        selection=probes.selection,
    )


def spec(name: str, kind: ProbeTaskKind, **changes) -> ProbeTaskSpec:
    fields = {
        "name": name,
        "title": name,
        "kind": kind,
        "modality": MODALITY,
        "level": None,
        "style": None,
        "subtype": None,
        "selection": AnchorSelection.ALL,
        "dataset": "hand",
        "data_path": "anchors/hand.csv",
        "probes_sha256": "",
        "licence": "CC0 1.0",
        "images_may_be_shown": True,
    }
    return ProbeTaskSpec(**(fields | changes))


class HandEmbedder:
    """Embeds a text and an image by given functions; counts what it was asked for."""

    def __init__(self, text: Callable[[str], np.ndarray], image: Callable[[Path], np.ndarray], dimension: int) -> None:
        self._text, self._image = text, image
        self.embedded = 0
        kinds = (InputKind.TEXT, InputKind.IMAGE)
        self.description = ModelDescription("hand", "HandEmbedder", dimension, 0, kinds, {})

    def embed(self, batch):
        self.embedded += len(batch)
        rows = [
            self._text(decoded.source.text) if decoded.source.text else self._image(decoded.source.images[0])
            for decoded in batch
        ]
        return np.array(rows, dtype=np.float32)

    def token_counts(self, batch):
        return [0] * len(batch)

    def cuts(self, texts):
        return [False] * len(texts)


def with_cosines(table: Mapping[str, Sequence[float]]) -> HandEmbedder:
    """Images are the first unit vectors by their number; each text has the given cosines with them.

    The rest of a text's length lies in a direction of its own. Blank and noise image are the last two directions.
    """
    (n_images,) = {len(row) for row in table.values()}
    order = {text: number for number, text in enumerate(table)}
    dimension = n_images + len(table) + len(BLIND_IMAGES)

    def text_vector(text: str) -> np.ndarray:
        vector = np.zeros(dimension)
        vector[:n_images] = table[text]
        vector[n_images + order[text]] = np.sqrt(1 - np.square(table[text]).sum())
        return vector

    def image_vector(path: Path) -> np.ndarray:
        if path in BLIND_IMAGES:
            return np.eye(dimension)[dimension - 2 + BLIND_IMAGES.index(path)]
        return np.eye(dimension)[int(path.stem)]

    return HandEmbedder(text_vector, image_vector, dimension)


def bag_of_words(known: Mapping[str, str], ignored: Sequence[str], images: Mapping[str, str]) -> HandEmbedder:
    """A text is the sum of the directions of what its words mean; unknown words point to nothing in the images.

    `known` maps words to meanings, `images` file stems to descriptions in such words. `ignored` words mean nothing.
    """
    meanings = {meaning: number for number, meaning in enumerate(dict.fromkeys(known.values()))}
    dimension = len(meanings) + 64

    def vector(text: str) -> np.ndarray:
        found = np.zeros(dimension)
        for word in text.lower().split():
            if word in known:
                found[meanings[known[word]]] += 1
            elif word not in ignored:
                digest = hashlib.sha256(word.encode()).digest()
                found[len(meanings) + digest[0] % 64] += 1
        return found

    def image_vector(path: Path) -> np.ndarray:
        return (
            vector(images[path.stem])
            if path.stem in images
            else np.eye(dimension)[dimension - 1 - (path.stem == "noise")]
        )

    return HandEmbedder(vector, image_vector, dimension)


def score(
    folder: Path,
    probes: ProbeSet,
    anchors: AnchorSet,
    embedder,
    *,
    modality_sets: Sequence[ProbeSet] | None = None,
) -> ProbeTaskResult:
    task = cell_task(
        folder,
        cell_spec(probes),
        anchor_set=anchors,
        probe_set=probes,
        modality_sets=modality_sets or [probes],
        takes_volumes=False,
        numbers=InputNumbers(FileHashes()),
    )
    return evaluate_probe_task(task, embed_inputs(embedder, task.inputs, batch_size=64), cost=EmbeddingCost())


def metric(result: ProbeTaskResult, name: str) -> float:
    return next(value.value for value in result.metrics if value.name == name)


def full_metric(result: ProbeTaskResult, name: str):
    return next(value for value in result.metrics if value.name == name)
