"""Anchor manifests made by hand, for tests that read or break them."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evaluation.probe_types import Anchor
from evaluation.suites.medtec.anchors.manifest import AnchorHeader, anchor_table, write_anchor_set
from evaluation.vocabulary import Level, Modality
from tests.evaluation.medtec.published import write_image


def anchor(number: int, label: str, **changes: object) -> Anchor:
    """An anchor of the data set `told`, whose image is number `number`."""
    fields = {
        "anchor_id": f"told/image-{number}",
        "modality": Modality.CHEST_RADIOGRAPH,
        "dataset": "told",
        "dataset_version": "1",
        "source_split": "",
        "path": f"images/told/image-{number}.png",
        "sha256": "0" * 64,
        "cluster": f"patient-{number}",
        "label": label,
        "label_source": "told, by hand",
        "region": "",
        "view": "posteroanterior",
        "slice_index": None,
        "window": "",
        "sex": "female",
        "age": 50.5,
        "skin_tone": "",
        "licence": "CC0",
        "seed": 42,
        "code_version": "abc",
    }
    return Anchor(**{**fields, **changes})


def write_told(folder: Path, anchors: Sequence[Anchor], **changes: object) -> tuple[Path, tuple[Anchor, ...]]:
    """Write images, manifest and header of anchors; their sha256 is that of the images."""
    hashed = []
    for number, found in enumerate(anchors):
        file = folder / found.path
        write_image(file, number)
        fields = {name: getattr(found, name) for name in Anchor.__slots__}
        hashed.append(Anchor(**(fields | {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()})))
    first = anchors[0]
    fields = {
        "name": first.dataset,
        "title": "Told",
        "modality": first.modality,
        "dataset_version": "1",
        "licence": "CC0",
        "images_may_be_shown": True,
        "levels": tuple(Level),
        "seed": 42,
        "per_label": 150,
        "code_version": "abc",
        "sources": {"table.csv": "0" * 64},
        "rows": len(anchors) + 2,
        "dropped": {"several_labels": 2},
        "labels": dict(sorted(Counter(found.label for found in anchors).items())),
        "counts": {},
        "notes": "Told by hand.",
        "manifest_sha256": hashlib.sha256(anchor_table(hashed)).hexdigest(),
    }
    path = folder / "anchors" / f"{first.dataset}.csv"
    write_anchor_set(path, hashed, AnchorHeader(**(fields | changes)))
    return path, tuple(hashed)
