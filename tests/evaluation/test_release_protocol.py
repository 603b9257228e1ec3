"""Comparable with the release: where nothing ties, Hit@1 is what its rule gives on the same vectors.

The rule is written here from the record format alone: list the candidates as the record does (a global pool is the
union of all records' candidates, the query's own first), sort by descending cosine with a stable sort, and count how
often item 0 comes first.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.inputs import EmbeddingInput
from evaluation.metrics.ranking import hit_at_1_bounds, points_from_ties
from evaluation.suites.demo.suite import build_demo
from evaluation.suites.medheb.reader import load_task, read_suite
from evaluation.types import TaskResult, TaskSpec

DIMENSION = 32
Candidate = tuple[str, tuple[str, ...]]
"""Text and the sha256 of each file: candidates with equal content are one in a global pool."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites") / "demo"
    build_demo(folder)
    return folder


def direction(content: str) -> np.ndarray:
    """A direction that depends on the content alone."""
    seed = int.from_bytes(hashlib.sha256(content.encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(DIMENSION)


def dual_tower(text: str, files: Iterable[str], instruction: str = "") -> np.ndarray:
    """As a dual encoder embeds: the mean over the parts that are there, images averaged among themselves."""
    images = [direction(file) for file in files]
    parts = [np.mean(images, axis=0)] if images else []
    parts += [direction(part) for part in (text, instruction) if part]
    mean = np.mean(parts, axis=0)
    return mean / np.linalg.norm(mean)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def as_list(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def candidates_of(record: dict[str, Any], spec: TaskSpec, root: Path) -> list[Candidate]:
    """The record's candidates as the release's format says, the relevant one first."""
    texts, images = record["tgt_text"], record.get("tgt_img_path")
    if images is None:
        return [(text, ()) for text in texts]
    groups = [[images]] if isinstance(images, str) else [as_list(image) for image in images]
    if spec.parser in {"image_i2i", "image_i2i_vg"} and len(texts) != len(groups):
        groups = [[path for group in groups for path in group]]
    captions = texts if len(texts) == len(groups) else [""] * len(groups)
    return [
        (caption, tuple(sha256(root / path) for path in group)) for caption, group in zip(captions, groups, strict=True)
    ]


def release_hits(spec: TaskSpec, folder: Path) -> list[bool]:
    root = folder / spec.image_root
    records = json.loads((folder / spec.data_path).read_text())
    own = [candidates_of(record, spec, root) for record in records]
    union = list(dict.fromkeys(candidate for candidates in own for candidate in candidates))
    found = []
    for record, candidates in zip(records, own, strict=True):
        ranked = candidates
        if spec.pool == "global":
            ranked = [candidates[0], *(candidate for candidate in union if candidate != candidates[0])]
        files = [sha256(root / path) for path in as_list(record.get("qry_img_path"))]
        query = dual_tower(record.get("qry_text", ""), files, record["qry_inst"])
        cosines = np.array([dual_tower(*candidate) @ query for candidate in ranked])
        found.append(bool(np.argsort(-cosines, kind="stable")[0] == 0))
    return found


def our_result(spec: TaskSpec, folder: Path, *, constant: bool = False) -> TaskResult:
    task = load_task(folder, spec)
    vectors = np.stack([constant_vector() if constant else vector(source) for source in task.inputs])
    return evaluate_task(task, vectors.astype(np.float32), cost=EmbeddingCost())


def vector(source: EmbeddingInput) -> np.ndarray:
    return dual_tower(source.text, [sha256(path) for path in source.images], source.instruction)


def constant_vector() -> np.ndarray:
    return np.eye(DIMENSION)[0]


def test_hit_at_1_is_that_of_the_release_on_every_task(demo: Path) -> None:
    ours, theirs = {}, {}
    for spec in read_suite(demo).tasks:
        result = our_result(spec, demo)
        assert result.self_excluded == 0
        assert points_from_ties(result.outcomes) == 0
        ours[spec.name] = result.metrics[0].value
        theirs[spec.name] = float(np.mean(release_hits(spec, demo)))
    assert result.metrics[0].name == "hit@1"
    assert ours == pytest.approx(theirs)
    assert len({round(value, 3) for value in ours.values()}) > 5


def test_what_the_release_adds_where_everything_ties(demo: Path) -> None:
    """A constant model: the stable sort gives it every query, the expected value is chance."""
    for spec in read_suite(demo).tasks[:3]:
        result = our_result(spec, demo, constant=True)
        assert hit_at_1_bounds(result.outcomes) == (1.0, 0.0)
        assert points_from_ties(result.outcomes) == pytest.approx(1 - result.chance)
