"""What a board says beside its scores, as frozen values and as JSON: the snapshot that is published.

`schemas/board.schema.json` is the JSON Schema. Shares are in [0, 1], ranks count from 1.
"""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

import evaluation
from evaluation.errors import ResultInvalid

SCHEMA_VERSION = 1
SCHEMA_FILE = Path(evaluation.__file__).parent / "schemas" / "board.schema.json"

TASK_SCOPE = "task"
BUCKET_SCOPE = "bucket"


@dataclass(frozen=True, slots=True)
class Standing:
    """One model in one group: its mean over the `n_tasks` tasks that it has a score for, with the interval.

    Only a model with a score for every task of the group has a rank, the ends of its interval, and a tie group: the
    rank of the best model that it cannot be told apart from.
    """

    model: str
    value: float
    lower: float
    upper: float
    n_tasks: int
    rank: int | None = None
    rank_lower: int | None = None
    rank_upper: int | None = None
    tie_group: int | None = None


@dataclass(frozen=True, slots=True)
class GroupStandings:
    """All models in one group of `n_expected` tasks: ranked ones first, then by how many tasks they have.

    `scope` is one of `AggregateScope`, or `task` or `bucket`; `key` is the group, the task or the bucket.
    """

    scope: str
    key: str
    n_expected: int
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class ModelAnalysis:
    """One number on one model that has a score for every task; `analysis` is one of `ANALYSES`.

    Both ends of the interval are None where a resample has no value.
    """

    analysis: str
    model: str
    value: float
    lower: float | None
    upper: float | None


ANALYSES: Mapping[str, str] = {
    "cv": "Spread of the family means over their mean (CV)",
    "drop_both": "Drop from established families to bridging and region-level",
    "drop_modality_bridging": "Drop from established families to modality-bridging",
    "drop_region_grounding": "Drop from established families to region-level",
    "held_out_gap": "In-distribution minus held-out tasks",
    "held_out_gap_shared_families": "In-distribution minus held-out tasks, families of both splits only",
    "points_from_ties": "What the release's handling of ties would add",
}
"""What each analysis says, for people."""


@dataclass(frozen=True, slots=True)
class BucketSpread:
    """A difficulty bucket, its tasks, and the standard deviation of the `n_models` complete models' means in it.

    The deviation is None with fewer than two such models.
    """

    bucket: str
    tasks: tuple[str, ...]
    n_models: int
    value: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class BoardStatistics:
    """Everything about the models of one suite; `baselines` are the models that the buckets come from."""

    suite: str
    version: str
    suite_sha256: str
    seed: int
    resamples: int
    models: tuple[str, ...]
    baselines: tuple[str, ...]
    groups: tuple[GroupStandings, ...]
    analyses: tuple[ModelAnalysis, ...]
    buckets: tuple[BucketSpread, ...]


def board_to_json(board: BoardStatistics) -> dict[str, Any]:
    """A board as JSON values."""
    return {"schema_version": SCHEMA_VERSION, **json.loads(json.dumps(dataclasses.asdict(board), allow_nan=False))}


def board_from_json(document: Any) -> BoardStatistics:
    """A board from JSON values.

    Raises:
        ResultInvalid: the document breaks the schema; the message names the field.
    """
    error = best_match(_validator().iter_errors(document))
    if error is not None:
        raise ResultInvalid(f"{error.json_path}: {error.message}")
    plain = {key: value for key, value in document.items() if key != "schema_version"}
    return BoardStatistics(
        **plain
        | {
            "models": tuple(document["models"]),
            "baselines": tuple(document["baselines"]),
            "groups": tuple(_group(group) for group in document["groups"]),
            "analyses": tuple(ModelAnalysis(**analysis) for analysis in document["analyses"]),
            "buckets": tuple(
                BucketSpread(**bucket | {"tasks": tuple(bucket["tasks"])}) for bucket in document["buckets"]
            ),
        }
    )


def _group(document: Mapping[str, Any]) -> GroupStandings:
    standings = tuple(Standing(**standing) for standing in document["standings"])
    return GroupStandings(**{**document, "standings": standings})


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
