"""What a probing suite says beside its boards, as sheets. Each takes the models to show, by the id of their run."""

from collections.abc import Mapping, Sequence

from leaderboard.models.vocabulary import AnchorSelection, Level, Modality, NegationSubtype, PhrasingStyle
from leaderboard.selectors.probe_boards import ProbeContent
from leaderboard.selectors.probe_rows import (
    BlindBaseline,
    ClosedQuestions,
    NegationCount,
    ProbeCheck,
    ProtocolAgreement,
    SampleSize,
    StyleSpread,
    Subgroup,
    SubgroupGap,
)
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.probe_cells import MODEL_COLUMN, axis_end, model_cell, score_cell, score_headers
from leaderboard.views.probe_words import ATTRIBUTES, IMAGES, PROTOCOLS, SUBTYPE_EXPLANATIONS, level_title
from leaderboard.views.sheets import Cell, Column, Group, Sheet, text_cell

Models = Mapping[str, PublishedModel]

MODALITY = Column("modality", "Modality", "What kind of image", ("modality", "data_set"), "left", is_text=True)
LEVEL = Column("level", "Level", "How specific the distinction is", ("level",), "left", is_text=True)
IMAGES_COLUMN = Column("images", "Images", "Number of anchor images", ("images",))
DS = Column("ds", "DS", "Mean Discrimination Score with its 95% interval; the tick is zero", score_headers("all"))


def style_sheet(rows: Sequence[StyleSpread], models: Models) -> Sheet:
    """How far the phrasing moves each cell."""
    columns = (
        MODEL_COLUMN,
        MODALITY,
        LEVEL,
        Column("lowest", "Lowest", "The lowest mean DS of the styles", ("lowest_ds",)),
        Column("highest", "Highest", "The highest mean DS of the styles", ("highest_ds",)),
        Column("sd", "SD", "Standard deviation of the mean DS over the styles", ("sd_over_styles",)),
        Column(
            "below",
            "Under every style",
            "Whether a cell that collapses as captions stays under the boundary in every style",
            ("collapses_as_captions", "stays_below_in_every_style"),
            "left",
        ),
    )
    found = [
        (
            model_cell(models[row.model]),
            *_place_cells(row.modality, row.dataset, row.level),
            _number(row.lowest),
            _number(row.highest),
            _number(row.sd, words=f"{row.sd:.3f}"),
            Cell(
                _stays_words(row),
                (row.collapses_under_template, row.stays_below) == (True, True),
                (str(row.collapses_under_template), str(row.stays_below)),
                style="left",
            ),
        )
        for row in rows
        if row.model in models
    ]
    return _sheet("Phrasing styles", columns, found)


def _stays_words(row: StyleSpread) -> str:
    if not row.collapses_under_template:
        return "does not collapse as captions"
    return "stays below" if row.stays_below else "rises over the boundary"


def negation_sheet(rows: Sequence[NegationCount]) -> Sheet:
    """How many cells of each kind of negation collapse; hedged texts apart, as they are weaker and not false."""
    columns = (
        Column("subtype", "Negation", "What the wrong descriptions say", ("subtype",), is_row_head=True, is_text=True),
        Column("certain", "Collapse, certain", "Cells whose whole interval is below zero", ("collapse_certain",)),
        Column("collapsing", "Collapse", "Cells with a mean DS of zero or less", ("collapse",)),
        Column("cells", "Cells", "Model and modality pairs that were measured", ("cells",)),
        Column("share", "Certain, share", "Share of the cells whose collapse is certain, in percent", ("percent",)),
        Column("ds", "Mean DS", "Mean over the cells", ("mean_ds",)),
    )

    def cells(row: NegationCount) -> tuple[Cell, ...]:
        share = row.n_collapse_certain / row.n_cells if row.n_cells else None
        return (
            Cell(
                NegationSubtype(row.subtype).label,
                row.subtype,
                (row.subtype,),
                note=SUBTYPE_EXPLANATIONS[NegationSubtype(row.subtype)],
                is_row_head=True,
            ),
            _count(row.n_collapse_certain),
            _count(row.n_collapsing),
            _count(row.n_cells),
            Cell(figures.percent(share), share, (figures.csv_percent(share),)),
            _number(row.ds_mean),
        )

    false = tuple(cells(row) for row in rows if not row.is_weaker_only)
    weaker = tuple(cells(row) for row in rows if row.is_weaker_only)
    groups = (Group("", false), Group("Weaker than the finding, not false", weaker))
    return Sheet("Kinds of negation", columns, tuple(group for group in groups if group.rows))


def subgroup_sheet(rows: Sequence[Subgroup], models: Models) -> Sheet:
    """The score of every group of people, with how many images it rests on."""
    columns = (
        MODEL_COLUMN,
        MODALITY,
        LEVEL,
        Column("attribute", "Attribute", "As the publisher gives it; nothing is guessed", ("attribute",), "left"),
        Column("group", "Group", "A group of the attribute", ("group",), "left", is_text=True),
        DS,
        IMAGES_COLUMN,
        Column("clusters", "Patients or lesions", "What the interval resamples", ("patients_or_lesions",)),
    )
    top = axis_end(rows)
    found = [
        (
            model_cell(models[row.model]),
            *_place_cells(row.modality, row.dataset, row.level),
            text_cell(ATTRIBUTES[row.attribute]),
            text_cell(spaced(row.group)),
            score_cell(row.ds, row.lower, row.upper, cell_class=row.cell_class, top=top),
            _count(row.n_anchors),
            _count(row.n_clusters),
        )
        for row in rows
        if row.model in models
    ]
    return _sheet("Scores by group", columns, found)


def gap_sheet(rows: Sequence[SubgroupGap], models: Models) -> Sheet:
    """Paired differences between groups."""
    columns = (
        MODEL_COLUMN,
        MODALITY,
        LEVEL,
        Column("attribute", "Attribute", "As the publisher gives it", ("attribute",), "left"),
        Column("groups", "Groups", "The first minus the second", ("group", "other"), "left", is_text=True),
        Column("gap", "Gap in DS", "Paired difference with its 95% interval", ("gap", "lower_95", "upper_95")),
        Column("images", "Images", "In the first and the second group", ("images", "images_other")),
    )
    found = [
        (
            model_cell(models[row.model]),
            *_place_cells(row.modality, row.dataset, row.level),
            text_cell(ATTRIBUTES[row.attribute]),
            Cell(
                f"{spaced(row.group)} − {spaced(row.other)}",
                f"{row.group} {row.other}",
                (row.group, row.other),
                style="left",
            ),
            Cell(
                figures.signed(row.gap),
                row.gap,
                tuple(figures.rounded(number) for number in (row.gap, row.lower, row.upper)),
                style="difference apart" if row.is_separated else "difference level",
                note=figures.signed_interval(row.lower, row.upper),
                title="the interval leaves zero out" if row.is_separated else "the interval holds zero",
            ),
            Cell(f"{row.n_anchors} and {row.n_anchors_other}", row.n_anchors, (row.n_anchors, row.n_anchors_other)),
        )
        for row in rows
        if row.model in models
    ]
    return _sheet("Gaps between groups", columns, found)


def question_sheet(rows: Sequence[ClosedQuestions], models: Models) -> Sheet:
    """Yes/no questions, the best first."""
    columns = (
        MODEL_COLUMN,
        Column("dataset", "Questions of", "The data set", ("data_set",), "left", is_text=True),
        Column(
            "accuracy",
            "Balanced accuracy",
            "Mean of the accuracies on yes and on no, in percent; chance is 50",
            ("balanced_accuracy_percent", "lower_95", "upper_95"),
        ),
        Column("chance", "Above chance", "Whether the whole interval lies above 50", ("exceeds_chance",), "left"),
        Column("yes", "Says yes", "Share of the questions answered yes, in percent", ("yes_rate_percent",)),
        Column("questions", "Questions", "Scored, with their yes and no", ("questions", "yes", "no")),
        Column("ties", "Ties", "Both statements equally near; half a point each", ("ties",)),
        Column("without", "Without a rule", "Questions that no rule turns into statements", ("without_rule",)),
    )
    found = [
        (
            model_cell(models[row.model]),
            text_cell(row.dataset),
            Cell(
                figures.percent(row.balanced_accuracy),
                row.balanced_accuracy,
                tuple(figures.csv_percent(number) for number in (row.balanced_accuracy, row.lower, row.upper)),
                style="score",
                note=figures.half_width(row.lower, row.upper),
                title=f"95% interval {figures.interval(row.lower, row.upper)}" if row.lower is not None else "",
            ),
            Cell("yes" if row.exceeds_chance else "no", row.exceeds_chance, (str(row.exceeds_chance),), style="left"),
            Cell(figures.percent(row.yes_rate), row.yes_rate, (figures.csv_percent(row.yes_rate),)),
            Cell(
                str(row.n_questions),
                row.n_questions,
                (row.n_questions, row.n_yes, row.n_no),
                title=f"{row.n_yes} yes, {row.n_no} no",
            ),
            _count(row.n_ties),
            _count(row.n_without_rule),
        )
        for row in sorted(rows, key=lambda row: -row.balanced_accuracy)
        if row.model in models
    ]
    return _sheet("Yes/no questions", columns, found)


def sample_sheet(rows: Sequence[SampleSize], models: Models) -> Sheet:
    """What a smaller anchor set would have said."""
    columns = (
        MODEL_COLUMN,
        MODALITY,
        LEVEL,
        Column("n", "Images", "Anchors in the sample; smaller samples lie in larger ones", ("images",)),
        DS,
        Column("width", "Width", "Length of the interval", ("interval_width",)),
    )
    top = axis_end(rows)
    found = [
        (
            model_cell(models[row.model]),
            *_place_cells(row.modality, row.dataset, row.level),
            _count(row.n),
            score_cell(row.ds, row.lower, row.upper, cell_class=row.cell_class, top=top),
            _number(row.width, words=figures.NOTHING if row.width is None else f"{row.width:.3f}"),
        )
        for row in rows
        if row.model in models
    ]
    return _sheet("Sample size", columns, found)


def agreement_sheet(rows: Sequence[ProtocolAgreement]) -> Sheet:
    """How alike two protocols rank the same models."""
    columns = (
        Column("pair", "Protocols", "Two rankings of the same models", ("one", "other"), is_row_head=True),
        Column("tau", "tau-b", "Kendall's tau-b: 1 same order, 0 unrelated, -1 reversed", ("tau_b",)),
        Column("interval", "95% interval", "Over resampled images; the models are fixed", ("lower_95", "upper_95")),
        Column("models", "Models", "That both protocols have", ("models",)),
    )
    found = [
        (
            Cell(f"{PROTOCOLS[row.one]} and {PROTOCOLS[row.other]}", row.one, (row.one, row.other), is_row_head=True),
            _number(row.tau, words=figures.NOTHING if row.tau is None else f"{row.tau:+.2f}", style="score"),
            Cell(
                f"{row.lower:+.2f} to {row.upper:+.2f}"
                if row.lower is not None and row.upper is not None
                else figures.NOTHING,
                row.lower,
                (figures.rounded(row.lower), figures.rounded(row.upper)),
            ),
            _count(row.n_models),
        )
        for row in rows
    ]
    return _sheet("Agreement of the rankings", columns, found)


def check_sheet(rows: Sequence[ProbeCheck]) -> Sheet:
    """What was checked of the texts before their use."""
    columns = (
        Column("modality", "Modality", "What kind of image", ("modality",), is_row_head=True, is_text=True),
        LEVEL,
        Column(
            "set",
            "Texts",
            "Style, kind of negation, and anchors",
            ("style", "subtype", "anchors"),
            "left",
            is_text=True,
        ),
        Column("probes", "Probes", "Concepts times template variants", ("probes",)),
        Column("sides", "Right / wrong", "Descriptions of a probe", ("right", "wrong_fewest", "wrong_most")),
        Column(
            "length",
            "Words more",
            "Mean number of words of the right descriptions minus that of the wrong ones; in brackets the greatest",
            ("words_difference", "words_difference_greatest", "characters_difference"),
        ),
        Column("longest", "Longest", "Words of the longest text", ("longest_words", "longest_characters")),
        Column("tokens", "Tokens at most", "A bound on the tokens of any text", ("tokens_at_most",)),
        Column("both", "On both sides", "Texts that are right and wrong in one probe: must be 0", ("on_both_sides",)),
    )
    found = [
        (
            Cell(Modality(row.modality).label, row.modality, (row.modality,), is_row_head=True),
            text_cell(level_title(row.level)),
            Cell(_set_words(row), row.style, (row.style, row.subtype, row.selection), style="left"),
            _count(row.n_probes),
            Cell(
                f"{row.n_positives} / {figures.rank_interval(row.n_negatives_min, row.n_negatives_max)}",
                row.n_negatives_min,
                (row.n_positives, row.n_negatives_min, row.n_negatives_max),
            ),
            Cell(
                f"{row.words_difference:+.1f} ({row.words_difference_highest:.0f})",
                row.words_difference,
                tuple(
                    figures.rounded(number)
                    for number in (row.words_difference, row.words_difference_highest, row.characters_difference)
                ),
            ),
            Cell(str(row.longest_words), row.longest_words, (row.longest_words, row.longest_characters)),
            _count(row.tokens_at_most),
            _count(row.n_on_both_sides),
        )
        for row in rows
    ]
    return _sheet("Probe texts before their use", columns, found)


def blind_sheet(rows: Sequence[BlindBaseline], models: Models) -> Sheet:
    """Scores of images that show nothing: near the null, unless the texts themselves give the answer away."""
    columns = (
        MODEL_COLUMN,
        Column("modality", "Modality", "What the texts speak of", ("modality", "task"), "left", is_text=True),
        LEVEL,
        Column("image", "Image", "An image that shows nothing", ("image",), "left", is_text=True),
        Column("ds", "DS", "Mean Discrimination Score on it", ("ds",)),
        Column("null", "Expected", "If right and wrong descriptions were exchangeable", ("expected_ds",)),
        Column(
            "surplus",
            "Surplus",
            "DS minus what is expected, in standard deviations of the similarities",
            ("surplus_sd",),
        ),
    )
    found = [
        (
            model_cell(models[row.model]),
            Cell(Modality(row.modality).label, row.modality, (row.modality, row.task), style="left"),
            text_cell(level_title(row.level)),
            text_cell(IMAGES[row.image]),
            _number(row.ds),
            _number(row.null),
            _number(row.surplus, words=figures.NOTHING if row.surplus is None else f"{row.surplus:+.2f}"),
        )
        for row in rows
        if row.model in models
    ]
    return _sheet("Images that show nothing", columns, found)


def missing_sentence(content: ProbeContent) -> str:
    """How many images were left out of subgroups because the publisher does not say."""
    parts = [
        f"{ATTRIBUTES[row.attribute].lower()}: {row.n_missing} of {row.n_anchors} ({row.dataset})"
        for row in content.missing_attributes
        if row.n_missing
    ]
    return "; ".join(parts)


def spaced(name: str) -> str:
    """A name of the data as words."""
    return name.replace("_", " ")


def _sheet(caption: str, columns: tuple[Column, ...], rows: Sequence[tuple[Cell, ...]]) -> Sheet:
    return Sheet(caption, columns, (Group("", tuple(rows)),) if rows else ())


def _place_cells(modality: str, dataset: str, level: str) -> tuple[Cell, Cell]:
    order = Modality.values.index(modality)
    place = Cell(Modality(modality).label, f"{order} {dataset}", (modality, dataset), style="left", title=dataset)
    return place, Cell(level_title(level), level, (level,), style="left", title=Level(level).label)


def _set_words(row: ProbeCheck) -> str:
    words = [PhrasingStyle(row.style).label]
    if row.subtype:
        words.append(NegationSubtype(row.subtype).label.lower())
    if row.selection == AnchorSelection.NO_FINDING:
        words.append("images without a finding")
    return ", ".join(words)


def _number(value: float | None, *, words: str = "", style: str = "") -> Cell:
    text = words or figures.signed(value)
    return Cell(text, value, (figures.rounded(value),), style=style or ("none" if value is None else ""))


def _count(value: int) -> Cell:
    return Cell(str(value), value, (value,))
