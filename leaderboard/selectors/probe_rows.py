"""The rows of a probing suite's statistics, as `evaluation/schemas/probe_board.schema.json` describes them.

A model is the id of its run. Discrimination Scores (DS) are differences of cosines, shares are in [0, 1], ends of
intervals are those of 95% and None where no interval can be given. Words are those of `models.vocabulary`. A test holds
these classes to the document that a worker stores.
"""

from dataclasses import dataclass

from leaderboard.models.vocabulary import AnchorSelection, NegationSubtype, PhrasingStyle


@dataclass(frozen=True, slots=True)
class ProbeCell:
    """One model on one modality, level, style and subtype; rank and tie group are among the board's models."""

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

    @property
    def is_main(self) -> bool:
        """Whether it is one of the five cells of its modality: captions, mixed negations, the polarity not reversed."""
        return (
            self.style == PhrasingStyle.TEMPLATE
            and self.subtype in {None, NegationSubtype.MIXED}
            and self.selection != AnchorSelection.NO_FINDING
        )

    @property
    def is_reversed(self) -> bool:
        """Whether its anchors show no finding, so that the true texts are the negated ones."""
        return self.selection == AnchorSelection.NO_FINDING


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The first of the measured levels at which a model collapses; None where it collapses at none."""

    model: str
    modality: str
    dataset: str
    ceiling: str | None
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StyleSpread:
    """How far the phrasing moves a model's DS at one level; `stays_below`: no style reaches a DS of 0.05."""

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
    """Of the cells measured in several styles: how many collapse as captions, and stay below 0.05 in every style."""

    n_cells: int
    n_collapsing: int
    n_staying_below: int
    sd_lowest: float | None
    sd_median: float | None
    sd_highest: float | None


@dataclass(frozen=True, slots=True)
class NegationCount:
    """How many model x modality cells of a subtype collapse; `is_weaker_only`: its texts are weaker, not false."""

    subtype: str
    is_weaker_only: bool
    n_cells: int
    n_collapse_certain: int
    n_collapsing: int
    ds_mean: float


@dataclass(frozen=True, slots=True)
class Subgroup:
    """The DS of a model over the anchors of one group of an attribute."""

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
    """The DS of one group minus that of another, paired."""

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
    """How many anchors of a set have no value of an attribute."""

    modality: str
    dataset: str
    attribute: str
    n_missing: int
    n_anchors: int


@dataclass(frozen=True, slots=True)
class SampleSize:
    """A cell as it would be with `n` anchors."""

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
    """Yes/no questions answered by the nearer of a statement and its negation; a tie counts half."""

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
    """A model's place under one protocol of a comparison, among the models that all its protocols have."""

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
    """Kendall's tau-b between two protocols' rankings of the same models."""

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
    """What was checked of a probe set's texts before its use."""

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
    """The mean DS of a model on an image that shows nothing, beside what exchangeable similarities would give."""

    model: str
    task: str
    modality: str
    level: str
    image: str
    ds: float
    null: float
    surplus: float | None
