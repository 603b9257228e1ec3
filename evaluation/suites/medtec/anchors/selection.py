"""Chooses anchors: single-label images, stratified, one image of each patient or lesion, the same ones every time."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.errors import SuiteInvalid
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet
from evaluation.suites.pairing import generator

NO_LABEL = "no_label"
SEVERAL_LABELS = "several_labels"
STRATUM_NOT_ASKED_FOR = "stratum_not_asked_for"
CLUSTER_IN_TWO_STRATA = "cluster_in_two_strata"
ANOTHER_IMAGE_OF_CLUSTER = "another_image_of_cluster"
OVER_LIMIT = "over_limit_of_stratum"

_ROWS_NAMED = 10


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen images by stratum and name, and how many were left out for each reason."""

    chosen: tuple[Candidate, ...]
    dropped: Mapping[str, int]


def select_anchors(
    data_set: DataSet, candidates: Sequence[Candidate], *, strata: Sequence[str], per_label: int
) -> Selection:
    """At most `per_label` images of each of `strata`, drawn with seed 42 and the data set's name.

    Raises:
        SuiteInvalid: two images have one name, a stratum stays empty, or a cluster is in two strata where the data set
            does not allow it; the message names rows.
    """
    _refuse_twins(data_set, candidates)
    reasons = {candidate.name: _reason_against(data_set, candidate, strata) for candidate in candidates}
    single = [candidate for candidate in candidates if not reasons[candidate.name]]
    reasons |= _clusters_in_two_strata(data_set, single)
    single = [candidate for candidate in single if not reasons[candidate.name]]
    reasons |= _over_limit(data_set, single, per_label)
    chosen = [candidate for candidate in candidates if not reasons[candidate.name]]
    _refuse_empty_strata(data_set, candidates, chosen, strata=strata, reasons=reasons)
    dropped = Counter(reason for reason in reasons.values() if reason)
    order = {stratum: number for number, stratum in enumerate(strata)}
    chosen.sort(key=lambda candidate: (order[data_set.stratum(candidate)], candidate.name))
    return Selection(tuple(chosen), dict(sorted(dropped.items())))


def _refuse_twins(data_set: DataSet, candidates: Sequence[Candidate]) -> None:
    seen: dict[str, str] = {}
    for candidate in candidates:
        earlier = seen.setdefault(candidate.name, candidate.where)
        if earlier != candidate.where:
            raise SuiteInvalid(
                f"{data_set.name}: image {candidate.name!r} stands twice, at {earlier} and {candidate.where}; keep one"
            )


def _reason_against(data_set: DataSet, candidate: Candidate, strata: Sequence[str]) -> str:
    if candidate.unfit:
        return candidate.unfit
    if len(candidate.labels) != 1:
        return SEVERAL_LABELS if candidate.labels else NO_LABEL
    return "" if data_set.stratum(candidate) in strata else STRATUM_NOT_ASKED_FOR


def _clusters_in_two_strata(data_set: DataSet, single: Iterable[Candidate]) -> dict[str, str]:
    members: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in single:
        members[candidate.cluster].append(candidate)
    mixed = [group for group in members.values() if len({data_set.stratum(candidate) for candidate in group}) > 1]
    if mixed and not data_set.clusters_may_differ:
        first = mixed[0]
        named = ", ".join(f"{data_set.stratum(candidate)} at {candidate.where}" for candidate in first[:_ROWS_NAMED])
        raise SuiteInvalid(
            f"{data_set.name}: {first[0].cluster!r} is in two strata ({named}); {len(mixed)} are in all. Correct the table."
        )
    return {candidate.name: CLUSTER_IN_TWO_STRATA for group in mixed for candidate in group}


def _over_limit(data_set: DataSet, single: Sequence[Candidate], per_label: int) -> dict[str, str]:
    """Why images are left out of a random order of all: their cluster came before, or their stratum is full."""
    ordered = sorted(single, key=lambda candidate: candidate.name)
    shuffled = [ordered[number] for number in generator(f"anchors: {data_set.name}").permutation(len(ordered))]
    reasons: dict[str, str] = {}
    clusters: set[str] = set()
    filled: Counter[str] = Counter()
    for candidate in shuffled:
        stratum = data_set.stratum(candidate)
        if candidate.cluster in clusters:
            reasons[candidate.name] = ANOTHER_IMAGE_OF_CLUSTER
        elif filled[stratum] == per_label:
            reasons[candidate.name] = OVER_LIMIT
        else:
            clusters.add(candidate.cluster)
            filled[stratum] += 1
    return reasons


def _refuse_empty_strata(
    data_set: DataSet,
    candidates: Sequence[Candidate],
    chosen: Sequence[Candidate],
    *,
    strata: Sequence[str],
    reasons: Mapping[str, str],
) -> None:
    filled = {data_set.stratum(candidate) for candidate in chosen}
    empty = [stratum for stratum in strata if stratum not in filled]
    if empty:
        said = "; ".join(_why_empty(stratum, candidates, reasons) for stratum in empty)
        raise SuiteInvalid(
            f"{data_set.name}: no anchor is left for {said}. Give more of the publisher's data, or name the labels to take."
        )


def _why_empty(stratum: str, candidates: Sequence[Candidate], reasons: Mapping[str, str]) -> str:
    named = [candidate for candidate in candidates if stratum in (*candidate.labels, candidate.skin_tone)]
    if not named:
        return f"{stratum} (in no row)"
    rows = ", ".join(f"{candidate.where} ({reasons[candidate.name]})" for candidate in named[:_ROWS_NAMED])
    more = f" and {len(named) - _ROWS_NAMED} more" if len(named) > _ROWS_NAMED else ""
    return f"{stratum} (left out: {rows}{more})"
