"""A text suite made from a seed: data sets whose texts several tasks share, as in MedHEB."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.manifest import write_manifest
from evaluation.suites.specs import declare_task
from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import Domain, Family, Parser, PoolScope

CANDIDATES = 20
MEDIAN_WORDS, SPREAD = 40, 0.8
QUERY_WORDS = (4, 14)

_WORDS = (
    "the of and in with no a left right lung heart liver kidney brain bone skin eye blood pain mass small large acute "
    "normal change image scan patient disease tumor chest region upper lower fluid tissue cell nerve muscle vein artery "
    "stone fever cough care risk test drug dose week month year child adult man woman high low early late first second "
    "one two three more less near far seen shows after before without under over"
)


def write_generated_suite(
    folder: Path,
    *,
    datasets: int,
    tasks_a_dataset: int,
    passages: int,
    queries: int,
    seed: int = 0,
    slug: str = "generated",
) -> SuiteSpec:
    """Write a suite of `datasets` x `tasks_a_dataset` tasks; all tasks of a data set rank the same passages.

    Every other task of a data set has a global pool; the others draw `CANDIDATES` passages a query. A query is words of
    its passage. Lengths of passages are log-normal.
    """
    generator = np.random.default_rng(seed)
    specs = []
    for number in range(datasets):
        texts = _passages(generator, passages)
        questions = [_question(generator, texts[place % passages]) for place in range(queries)]
        for task in range(tasks_a_dataset):
            pool = PoolScope.GLOBAL if task % 2 else PoolScope.LOCAL
            spec = _spec(f"Set{number}_task{task}", f"Set{number}", pool)
            _write(folder / spec.data_path, [_record(generator, texts, n, q) for n, q in enumerate(questions)])
            specs.append(spec)
    suite = SuiteSpec(slug=slug, version="1", title="Generated texts", synthetic=True, tasks=tuple(specs))
    write_manifest(folder, suite)
    return suite


def _spec(name: str, dataset: str, pool: PoolScope) -> TaskSpec:
    return declare_task(
        name,
        name,
        family=Family.TEXT_TO_TEXT,
        domain=Domain.MULTI_ORGAN,
        parser=Parser.TEXT_QA,
        datasets=(dataset,),
        image_root="",
        rule="the passage that the query's words are from",
        licence="CC0 1.0",
        shown=True,
        pool=pool,
    )


def _passages(generator: np.random.Generator, count: int) -> list[str]:
    lengths = np.exp(generator.normal(np.log(MEDIAN_WORDS), SPREAD, count)).astype(int) + 3
    words = _WORDS.split()
    return [" ".join(generator.choice(words, length)) for length in lengths]


def _question(generator: np.random.Generator, passage: str) -> str:
    words = passage.split()
    count = min(len(words), int(generator.integers(*QUERY_WORDS)))
    return " ".join(generator.choice(words, count, replace=False))


def _record(generator: np.random.Generator, texts: Sequence[str], number: int, question: str) -> dict[str, Any]:
    own = number % len(texts)
    others = generator.permutation(np.delete(np.arange(len(texts)), own))[: CANDIDATES - 1]
    return {"qry_inst": "", "qry_text": question, "tgt_text": [texts[own], *(texts[other] for other in others)]}


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records), encoding="utf-8")
