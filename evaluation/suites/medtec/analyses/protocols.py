"""Do retrieval, zero-shot classification and probing rank models alike? Two protocols at a time.

The models are fixed and the images are resampled. On different images the protocols are resampled independently; on the
same images they share their draws.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from evaluation.statistics.bootstrap import FloatArray
from evaluation.statistics.intervals import estimate
from evaluation.statistics.rank_correlation import kendall_tau_b
from evaluation.statistics.ranks import ranks

FEWEST_MODELS = 2


@dataclass(frozen=True, slots=True)
class ProtocolScores:
    """What one protocol gives each model: `replicates` of shape (models, 1 + resamples), NaN where it has no value."""

    task: str
    metric: str
    models: tuple[str, ...]
    replicates: FloatArray


def protocol_rankings(scores: Mapping[str, ProtocolScores]) -> pd.DataFrame:
    """Value and rank under each protocol of the models that all of them have.

    Columns: protocol, task, metric, model, value, rank (1 is the highest; equal values share one). Rows by protocol and
    rank. Empty with fewer than two such models or protocols.

    Args:
        scores: by the name of a protocol.
    """
    models = shared_models(scores)
    tables = []
    for protocol, found in scores.items() if models else ():
        values = _rows(found, models)[:, :1]
        table = pd.DataFrame({"model": models, "value": values[:, 0], "rank": ranks(values)[:, 0]})
        table = table.assign(protocol=protocol, task=found.task, metric=found.metric)
        tables.append(table.sort_values("rank", kind="stable"))
    columns = ["protocol", "task", "metric", "model", "value", "rank"]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def protocol_agreements(scores: Mapping[str, ProtocolScores]) -> pd.DataFrame:
    """Kendall's tau-b of each pair of protocols over the models that all of them have, with its 95% interval.

    Columns: one, other, tau, lower, upper (None where no tau can be made), n_models. Resamples in which a protocol has
    no value, or orders no pair of models, do not count. Ties of a resample pull its tau towards zero, so the interval
    is widened to hold the observed tau where it would not.

    Args:
        scores: by the name of a protocol; where two share their images, their replicates share the draws.
    """
    models = shared_models(scores)
    rows: list[dict[str, object]] = []
    for one, other in combinations(scores, 2) if models else ():
        taus = _tau_replicates(_rows(scores[one], models), _rows(scores[other], models))
        rows.append({"one": one, "other": other, **_interval(taus), "n_models": len(models)})
    return pd.DataFrame(rows, columns=["one", "other", "tau", "lower", "upper", "n_models"])


def shared_models(scores: Mapping[str, ProtocolScores]) -> list[str]:
    """The models that every protocol has, by name; none where there are fewer than two, or fewer than two protocols."""
    models = sorted(set.intersection(*(set(found.models) for found in scores.values()))) if scores else []
    return models if len(models) >= FEWEST_MODELS and len(scores) > 1 else []


def _rows(found: ProtocolScores, models: Sequence[str]) -> FloatArray:
    places = {model: place for place, model in enumerate(found.models)}
    return found.replicates[[places[model] for model in models]]


def _tau_replicates(one: FloatArray, other: FloatArray) -> FloatArray:
    usable = np.isfinite(one).all(axis=0) & np.isfinite(other).all(axis=0)
    return kendall_tau_b(one[:, usable], other[:, usable])


def _interval(taus: FloatArray) -> dict[str, float | None]:
    if not np.isfinite(taus[0]):
        return {"tau": None, "lower": None, "upper": None}
    found = estimate(taus[np.isfinite(taus)])
    return {"tau": found.value, "lower": found.lower, "upper": found.upper}
