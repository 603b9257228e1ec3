"""The groups of tasks that means are taken over, by scope.

In every scope but the release's a task is in one group. The release's report takes plain means over tasks, each task
counting the same, and keeps its held-out tasks apart: 2D, 3D, TXT and ALL are without them, OOD has them alone, and
ALL+OOD is every task. (Its report averages whatever tasks have a score and does not say how many; here each mean says
n of N.)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import (
    AggregateScope,
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    PairingType,
    ReleaseGroup,
    Split,
)

_FORM_GROUPS = {
    EvidenceForm.IMAGE_2D: ReleaseGroup.IMAGE_2D,
    EvidenceForm.VOLUME_3D: ReleaseGroup.VOLUME_3D,
    EvidenceForm.TEXT: ReleaseGroup.TEXT,
}


@dataclass(frozen=True, slots=True)
class Group:
    """The names of all tasks of a suite that belong to one group, in the suite's order."""

    scope: AggregateScope
    key: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Scope:
    keys: type[StrEnum]
    keys_of: Callable[[TaskSpec], tuple[StrEnum, ...]]


def release_groups(spec: TaskSpec) -> tuple[ReleaseGroup, ...]:
    """The groups of the release's report that count a task."""
    if spec.split is Split.HELD_OUT:
        return (ReleaseGroup.HELD_OUT, ReleaseGroup.ALL_WITH_HELD_OUT)
    return (_FORM_GROUPS[spec.evidence_form], ReleaseGroup.ALL, ReleaseGroup.ALL_WITH_HELD_OUT)


_SCOPES: Mapping[AggregateScope, _Scope] = {
    AggregateScope.FAMILY: _Scope(Family, lambda spec: (spec.family,)),
    AggregateScope.DOMAIN: _Scope(Domain, lambda spec: (spec.domain,)),
    AggregateScope.EVIDENCE_FORM: _Scope(EvidenceForm, lambda spec: (spec.evidence_form,)),
    AggregateScope.PAIRING_TYPE: _Scope(PairingType, lambda spec: (spec.pairing_type,)),
    AggregateScope.GRANULARITY: _Scope(Granularity, lambda spec: (spec.granularity,)),
    AggregateScope.SPLIT: _Scope(Split, lambda spec: (spec.split,)),
    AggregateScope.RELEASE_GROUP: _Scope(ReleaseGroup, release_groups),
}


def suite_groups(suite: SuiteSpec) -> tuple[Group, ...]:
    """Every group that has a task, by scope and in the order of each closed list; without the overall scope."""
    groups = (
        Group(scope, key.value, tuple(spec.name for spec in suite.tasks if key in axis.keys_of(spec)))
        for scope, axis in _SCOPES.items()
        for key in axis.keys
    )
    return tuple(group for group in groups if group.tasks)


def family_groups(suite: SuiteSpec) -> tuple[Group, ...]:
    """The groups of the family scope: what the overall score is made of."""
    return tuple(group for group in suite_groups(suite) if group.scope is AggregateScope.FAMILY)
