"""What is checked of a probe set before a score of it is read.

A text longer than a model reads fails the task, so every scored cell is within its model's limit; the lengths say how
close the texts come. The blind baseline asks what the DS is when there is nothing to see.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evaluation.probe_types import ProbeSet
from evaluation.statistics.bootstrap import FloatArray
from evaluation.statistics.normal_maxima import null_difference
from evaluation.suites.medtec.probe_lengths import distinct_texts, length_difference, token_bound, word_count


def probe_checks(probe_sets: Sequence[ProbeSet]) -> pd.DataFrame:
    """One row a probe set.

    Columns: modality, level, style, subtype, selection, n_probes, n_positives (the fewest), n_negatives_min, n_negatives_max,
    `words_difference` and `characters_difference` (mean over probes of the mean length of the positives minus that of
    the negatives), `words_difference_highest` (the greatest of one probe, without its sign), longest_words,
    longest_characters, `tokens_at_most` (see `token_bound`), and `n_on_both_sides`: texts that are a positive and a negative of one probe, which there may
    not be.
    """
    return pd.DataFrame([_check(probes) for probes in probe_sets])


def mean_null(n_positives: FloatArray, n_negatives: FloatArray) -> float:
    """The mean DS over probes of exchangeable, normally distributed similarities, in their standard deviations.

    It is below zero wherever there are more negatives than positives: -0.39 for 4 against 8, -0.51 for 4 against 10.

    Args:
        n_positives: how many positives each probe has, in any shape.
        n_negatives: how many negatives, in the same shape.
    """
    pairs = np.stack([n_positives.ravel(), n_negatives.ravel()], axis=1).astype(int)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    differences = [null_difference(int(positives), int(negatives)) for positives, negatives in distinct]
    return float(np.average(differences, weights=counts))


def with_null(blind: pd.DataFrame) -> pd.DataFrame:
    """Blind baselines with the columns `null` and `surplus`.

    `null` is the mean DS that exchangeable similarities with the same spread would have, `surplus` the DS minus the
    null in standard deviations, missing where the similarities are constant.

    Args:
        blind: columns ds, mean_null (see `mean_null`), and `spread`: the mean standard deviation of the image's
            similarities with the texts of a probe, 0 where they are constant.
    """
    null = blind["mean_null"] * blind["spread"]
    return blind.assign(null=null, surplus=(blind["ds"] - null) / blind["spread"].where(blind["spread"] > 0))


def _check(probe_set: ProbeSet) -> dict[str, object]:
    words = length_difference(probe_set.probes, word_count)
    texts = distinct_texts([probe_set])
    negatives = [len(probe.negatives) for probe in probe_set.probes]
    return {
        "modality": probe_set.modality,
        "level": probe_set.level,
        "style": probe_set.style,
        "subtype": probe_set.subtype,
        "selection": probe_set.selection,
        "n_probes": len(probe_set.probes),
        "n_positives": min(len(probe.positives) for probe in probe_set.probes),
        "n_negatives_min": min(negatives),
        "n_negatives_max": max(negatives),
        "words_difference": words.mean,
        "words_difference_highest": words.largest,
        "characters_difference": length_difference(probe_set.probes, len).mean,
        "longest_words": max(map(word_count, texts)),
        "longest_characters": max(map(len, texts)),
        "tokens_at_most": max(token_bound(texts)),
        "n_on_both_sides": sum(len(set(probe.positives) & set(probe.negatives)) for probe in probe_set.probes),
    }
