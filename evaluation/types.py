"""Frozen values that pass between readers, evaluators and result files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import Domain, EvidenceForm, Family, Granularity, PairingType, Parser, PoolScope, Split

FloatMatrix = NDArray[np.float32]
IntVector = NDArray[np.int32]

MAX_EXAMPLES = 20
"""Of how many queries of a task a result says which candidate came first."""


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """The declaration of one task: everything but its records.

    `image_root` and `data_path` are relative to the suite's folder. `spec_sha256` in results covers every field.
    """

    name: str
    title: str
    family: Family
    domain: Domain
    evidence_form: EvidenceForm
    pairing_type: PairingType
    granularity: Granularity
    split: Split
    pool: PoolScope
    parser: Parser
    datasets: tuple[str, ...]
    image_root: str
    data_path: str
    relevance_rule: str
    group: str
    licence: str
    images_may_be_shown: bool
    notes: str = ""


@dataclass(frozen=True, slots=True)
class SuiteSpec:
    """A versioned, ordered list of tasks."""

    slug: str
    version: str
    title: str
    synthetic: bool
    tasks: tuple[TaskSpec, ...]


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """One query of a loaded task. Numbers are positions in `RetrievalTask.inputs`.

    `pool` holds distinct candidates; for a global pool all queries share one tuple. `excluded` is the query's own copy
    in the pool, which must not rank itself. `record` is the record's number in the task file, from 0.
    """

    record: int
    query: int
    pool: tuple[int, ...]
    relevant: frozenset[int]
    excluded: int | None = None


@dataclass(frozen=True, slots=True)
class RetrievalTask:
    """A task with its records read and checked; `keys[i]` is the content hash of `inputs[i]`, without duplicates.

    `places[i]` says where `inputs[i]` first stands as a candidate: the record's number in the task file, and the
    candidate's place in that record, both from 0. It is no part of what the task asks.
    """

    spec: TaskSpec
    inputs: tuple[EmbeddingInput, ...]
    keys: tuple[str, ...]
    queries: tuple[RetrievalQuery, ...]
    places: Mapping[int, tuple[int, int]] = field(compare=False)
    data_sha256: str

    @property
    def shared(self) -> frozenset[int]:
        """All candidates: tasks of other queries search the same ones."""
        pools = {id(query.pool): query.pool for query in self.queries}  # queries of a global pool have the same one
        return frozenset().union(*pools.values())

    @property
    def n_scored(self) -> int:
        """How many queries are ranked."""
        return len(self.queries)


@dataclass(frozen=True, slots=True)
class RankOutcomes:
    """Where the relevant candidates of each query stand; arrays of one length, one entry a query.

    `above`: irrelevant candidates with a higher similarity than the relevant ones. `tied`: irrelevant candidates with
    exactly the same similarity. `relevant`: how many candidates of the pool are relevant (they are equal in content,
    so they share one similarity). `pool`: candidates ranked.
    """

    above: IntVector
    tied: IntVector
    relevant: IntVector
    pool: IntVector

    def __len__(self) -> int:
        return len(self.above)


@dataclass(frozen=True, slots=True)
class FirstRanked:
    """Which candidate a model ranked first for the query of a record; numbers count from 0.

    The candidate is named by a record that has it and its place there: place 0 of the query's own record is the right
    one. `level_with` other candidates share its similarity; of the right one, only wrong ones are counted.
    """

    record: int
    candidate_record: int
    candidate_place: int
    level_with: int


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One number with its 95% interval. `lower` and `upper` are both set or both None.

    All are in [0, 1], but for differences of cosines and scores above chance of the probing suite.
    """

    name: str
    value: float
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The outcome of one task for one model. `first_ranked` holds examples for people; older results have none."""

    task: str
    spec_sha256: str
    data_sha256: str
    metrics: tuple[MetricValue, ...]
    chance: float
    hit_at_1_optimistic: float
    hit_at_1_pessimistic: float
    outcomes: RankOutcomes
    records: IntVector
    self_excluded: int
    n_inputs: int
    seconds_embedding: float
    seconds_ranking: float
    peak_memory_bytes: int
    first_ranked: tuple[FirstRanked, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """A task that could not be evaluated, and why."""

    task: str
    code: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class AggregateValue:
    """A mean over tasks. `scope` names the grouping (overall, family, domain ...), `key` the group in it.

    `n_tasks` of `n_expected` tasks were evaluated; the value covers the evaluated ones only.
    """

    scope: str
    key: str
    metric: str
    value: float
    lower: float | None
    upper: float | None
    n_tasks: int
    n_expected: int


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """What was loaded. `encode_config` holds everything that changes an embedding (prompts, pooling, dtype, pixels)."""

    family: str
    architecture: str
    dimension: int
    parameters: int
    kinds: tuple[str, ...]
    encode_config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """What was asked of a model.

    `batches` counts calls, repeated ones too. `padding_waste` is the share of padding among the tokens that it was
    given, in [0, 1). `out_of_memory` counts batches that were halved. `texts_cut` counts inputs of whose text the model
    read only the beginning. `deterministic` is False where an operation had no deterministic form.
    """

    batches: int
    padding_waste: float
    out_of_memory: int
    texts_cut: int
    deterministic: bool


@dataclass(frozen=True, slots=True)
class EmbeddingStatistics:
    """What it took to get the vectors of a run.

    `inputs` were asked for, task by task; `unique_inputs` of them differ; `embedded` went through the
    model, and the others were known from earlier runs; an input that stands in two lots is embedded for each. `damaged_entries` of the embedding store were found and computed anew.
    Of those that went through the model, `texts_cut` had a text of which the model read only the beginning.
    `deterministic` is False where the model used an operation that may round differently when it is repeated.
    """

    inputs: int
    unique_inputs: int
    embedded: int
    embedder_calls: int
    padding_waste: float
    out_of_memory: int
    damaged_entries: int
    texts_cut: int = 0
    deterministic: bool = True
