"""Small suites on disk, written by hand in the release's layout."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluation.manifest import write_manifest
from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import (
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    PairingType,
    Parser,
    PoolScope,
    Split,
)


def task_spec(name: str = "Example", **changes: Any) -> TaskSpec:
    fields: dict[str, Any] = {
        "name": name,
        "title": name,
        "family": Family.TEXT_TO_TEXT,
        "domain": Domain.THORACIC,
        "evidence_form": EvidenceForm.TEXT,
        "pairing_type": PairingType.TEXT_TEXT,
        "granularity": Granularity.GLOBAL_LABEL,
        "split": Split.IN_DISTRIBUTION,
        "pool": PoolScope.LOCAL,
        "parser": Parser.TEXT_QA,
        "datasets": ("made up",),
        "image_root": "images",
        "data_path": f"Text_Task/{name}.json",
        "relevance_rule": "the first candidate",
        "group": "TEST",
        "licence": "CC0 1.0",
        "images_may_be_shown": True,
    }
    return TaskSpec(**(fields | changes))


def suite_of(*tasks: TaskSpec) -> SuiteSpec:
    return SuiteSpec(slug="example", version="1", title="Example", synthetic=True, tasks=tasks)


def write_records(folder: Path, spec: TaskSpec, records: Any) -> Path:
    path = folder / spec.data_path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records), encoding="utf-8")
    (folder / spec.image_root).mkdir(parents=True, exist_ok=True)
    return path


def write_image(path: Path, seed: int) -> None:
    """A real PNG whose content depends on the seed alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, size=(12, 16, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


def text_record(query: str, candidates: Sequence[str], instruction: str = "Find the answer.") -> dict[str, Any]:
    return {"qry_inst": instruction, "qry_text": query, "tgt_text": list(candidates)}


def write_text_suite(folder: Path, *, tasks: int = 3, queries: int = 6, pool: PoolScope = PoolScope.LOCAL) -> SuiteSpec:
    """Text tasks in which the query shares words with its relevant candidate; some texts are shared by all tasks."""
    words = ["heart", "lung", "liver", "brain", "retina", "skin", "bone", "kidney"]
    specs = []
    for number in range(tasks):
        spec = task_spec(f"Task{number}", pool=pool, image_root="")
        records = [
            text_record(
                f"question {query} about the {words[query % 8]}",
                [f"finding {query} in the {words[query % 8]}"]
                + [
                    f"finding {(query + step) % queries} in the {words[(query + step) % queries % 8]}"
                    for step in (1, 2, 3)
                ]
                + [f"task {number} distractor"],
            )
            for query in range(queries)
        ]
        write_records(folder, spec, records)
        specs.append(spec)
    suite = suite_of(*specs)
    write_manifest(folder, suite)
    return suite
