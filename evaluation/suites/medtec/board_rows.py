"""The rows of a probing suite's board: one frozen class a table, flat, so that a row is a row of a data frame too.

Words are those of `evaluation.vocabulary`. Discrimination Scores (DS) are differences of cosines, in [-2, 2]. Shares
are in [0, 1]. Ends of intervals are those of 95%; both are None where fewer than two patients or lesions were seen,
which no interval can rest on. `dataset` names the anchor set's data set.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One task of one model that is not compared, because most other models were measured on other data."""

    model: str
    task: str


@dataclass(frozen=True, slots=True)
class ProbeCell:
    """One model on one modality, level, style and negation subtype: the mean DS over anchors and what it says.

    `subtype` is None below L5. `cell_class` is one of `CellClass`. `failure_rate` is the share of anchors whose DS is
    not above 0, `pass_rate_adjusted` the share of probes with DS above 0, above what exchangeable similarities would
    give: 0 at chance, 1 if all pass. `ds_size_matched` is the DS against as many negatives as positives, `ds_scaled`
    the DS over the standard deviation of the model's cosines in that modality, None where they are constant. The rank
    and tie group are within the task, among the board's models; 1 is the highest DS.
    """

    model: str
    task: str
    modality: str
    dataset: str
    level: str
    style: str
    subtype: str | None
    selection: str
    ds: float
    lower: float | None
    upper: float | None
    cell_class: str
    failure_rate: float
    pass_rate_adjusted: float
    ds_size_matched: float
    ds_scaled: float | None
    n_anchors: int
    n_clusters: int
    n_negatives_min: int
    n_negatives_max: int
    rank: int
    rank_lower: int
    rank_upper: int
    tie_group: int


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The first of the measured `levels` at which a model collapses on a modality; None where it collapses at none."""

    model: str
    modality: str
    dataset: str
    ceiling: str | None
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StyleSpread:
    """How far the phrasing moves one model's DS at one level of a modality.

    `sd` is the population standard deviation over the `styles` that were measured, `highest` the highest mean DS among
    them. `stays_below` says that no style reaches the boundary, a DS of 0.05.
    """

    model: str
    modality: str
    dataset: str
    level: str
    styles: tuple[str, ...]
    sd: float
    lowest: float
    highest: float
    collapses_under_template: bool
    stays_below: bool


@dataclass(frozen=True, slots=True)
class StyleSummary:
    """Of the cells that were measured under several styles: how many collapse under the template, and stay below."""

    n_cells: int
    n_collapsing: int
    n_staying_below: int
    sd_lowest: float | None
    sd_median: float | None
    sd_highest: float | None


@dataclass(frozen=True, slots=True)
class NegationCount:
    """How many of the model x modality cells of one negation subtype collapse, with certainty or at all.

    Hedged text is weaker than the finding, not false, so `is_weaker_only` rows stand apart from the others.
    """

    subtype: str
    is_weaker_only: bool
    n_cells: int
    n_collapse_certain: int
    n_collapsing: int
    ds_mean: float


@dataclass(frozen=True, slots=True)
class Subgroup:
    """The DS of one model over the anchors of one group of an attribute: `sex`, `age` or `skin_tone`.

    Only anchors of which the publisher gives the attribute are in a group; nothing is imputed.
    """

    model: str
    modality: str
    dataset: str
    level: str
    attribute: str
    group: str
    ds: float
    lower: float | None
    upper: float | None
    cell_class: str
    n_anchors: int
    n_clusters: int


@dataclass(frozen=True, slots=True)
class SubgroupGap:
    """The DS of one group minus that of another, with the interval of the paired difference."""

    model: str
    modality: str
    dataset: str
    level: str
    attribute: str
    group: str
    other: str
    gap: float
    lower: float | None
    upper: float | None
    is_separated: bool
    n_anchors: int
    n_anchors_other: int


@dataclass(frozen=True, slots=True)
class MissingAttribute:
    """How many of an anchor set's anchors the publisher gives no value of an attribute for, of how many."""

    modality: str
    dataset: str
    attribute: str
    n_missing: int
    n_anchors: int


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The DS and class of a cell if only `n` of its anchors had been scored; smaller samples lie in larger ones."""

    model: str
    modality: str
    dataset: str
    level: str
    n: int
    ds: float
    lower: float | None
    upper: float | None
    width: float | None
    cell_class: str


@dataclass(frozen=True, slots=True)
class ClosedQuestions:
    """How one model answers yes/no questions by the more similar of a statement and its negation.

    A tie counts half in `balanced_accuracy` and in `yes_rate`, the share of questions answered with yes. Questions that
    no rule turns into statements are not scored: `n_without_rule` counts them.
    """

    model: str
    task: str
    dataset: str
    balanced_accuracy: float
    lower: float | None
    upper: float | None
    yes_rate: float
    exceeds_chance: bool
    n_questions: int
    n_yes: int
    n_no: int
    n_ties: int
    n_without_rule: int


@dataclass(frozen=True, slots=True)
class ProtocolStanding:
    """One model under one protocol of a comparison; only models that all its protocols have are ranked.

    `comparison` names the modality, or the modality and data set. `protocol` is `retrieval`, `zero_shot` or `probing`,
    `metric` what it is ranked by.
    """

    comparison: str
    same_images: bool
    protocol: str
    task: str
    metric: str
    model: str
    value: float
    rank: int


@dataclass(frozen=True, slots=True)
class ProtocolAgreement:
    """Kendall's tau-b of the rankings of the same models by two protocols, with its interval over resampled images.

    `tau` is None where a protocol gives all models one value. Resamples without a tau do not count.
    """

    comparison: str
    same_images: bool
    one: str
    other: str
    tau: float | None
    lower: float | None
    upper: float | None
    n_models: int


@dataclass(frozen=True, slots=True)
class ProbeCheck:
    """What was checked of one probe set before its use; lengths are in words, and in characters.

    `words_difference` is the mean number of words of the positives minus that of the negatives,
    `words_difference_highest` the greatest such difference of one probe, without its sign; `longest_words` the number
    of words of the longest text, `tokens_at_most` a bound on the tokens of any. `n_on_both_sides` counts texts that are a positive and a negative of one probe.
    """

    modality: str
    level: str
    style: str
    subtype: str | None
    selection: str
    n_probes: int
    n_positives: int
    n_negatives_min: int
    n_negatives_max: int
    words_difference: float
    words_difference_highest: float
    characters_difference: float
    longest_words: int
    longest_characters: int
    tokens_at_most: int
    n_on_both_sides: int


@dataclass(frozen=True, slots=True)
class BlindBaseline:
    """The mean DS of one model on an image that shows nothing: `blank` or `noise`.

    `null` is the mean DS that exchangeable similarities of the same spread would have, which is below 0 where there are
    more negatives than positives. `surplus` is how far the DS is from it, in standard deviations of the similarities;
    None where they are constant.
    """

    model: str
    task: str
    modality: str
    level: str
    image: str
    ds: float
    null: float
    surplus: float | None
