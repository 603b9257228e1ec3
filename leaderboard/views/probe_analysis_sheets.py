"""What a probing suite says beside its boards, as sheets. Each takes the models to show, by the id of their run."""

from collections.abc import Mapping, Sequence

from leaderboard.models.vocabulary import Level, Modality, NegationSubtype
from leaderboard.selectors.probe_boards import ProbeContent
from leaderboard.selectors.probe_rows import (
    ClosedQuestions,
    NegationCount,
    ProtocolAgreement,
    SampleSize,
    StyleSpread,
    Subgroup,
    SubgroupGap,
)
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.probe_cells import (
    LEVEL_COLUMN,
    MODEL_COLUMN,
    axis_end,
    count_cell,
    model_cell,
    number_cell,
    rows_sheet,
    score_cell,
    score_headers,
    spaced,
)
from leaderboard.views.probe_words import ATTRIBUTES, PROTOCOLS, SUBTYPE_EXPLANATIONS, level_title
from leaderboard.views.sheets import Cell, Column, Group, Sheet, text_cell

Models = Mapping[str, PublishedModel]

MODALITY = Column("modality", "Modality", "What kind of image", ("modality", "data_set"), "left", is_text=True)
IMAGES_COLUMN = Column("images", "Images", "Number of anchor images", ("images",))
DS = Column("ds", "DS", "Mean Discrimination Score with its 95% interval; the tick is zero", score_headers("all"))


def style_sheet(rows: Sequence[StyleSpread], models: Models) -> Sheet:
    """How far the phrasing moves each cell."""
    columns = (
        MODEL_COLUMN,
        MODALITY,
        LEVEL_COLUMN,
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
            number_cell(row.lowest),
            number_cell(row.highest),
            number_cell(row.sd, words=f"{row.sd:.3f}"),
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
    return rows_sheet("Phrasing styles", columns, found)


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
            count_cell(row.n_collapse_certain),
            count_cell(row.n_collapsing),
            count_cell(row.n_cells),
            Cell(figures.percent(share), share, (figures.csv_percent(share),)),
            number_cell(row.ds_mean),
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
        LEVEL_COLUMN,
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
            count_cell(row.n_anchors),
            count_cell(row.n_clusters),
        )
        for row in rows
        if row.model in models
    ]
    return rows_sheet("Scores by group", columns, found)


def gap_sheet(rows: Sequence[SubgroupGap], models: Models) -> Sheet:
    """Paired differences between groups."""
    columns = (
        MODEL_COLUMN,
        MODALITY,
        LEVEL_COLUMN,
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
    return rows_sheet("Gaps between groups", columns, found)


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
            count_cell(row.n_ties),
            count_cell(row.n_without_rule),
        )
        for row in sorted(rows, key=lambda row: -row.balanced_accuracy)
        if row.model in models
    ]
    return rows_sheet("Yes/no questions", columns, found)


def sample_sheet(rows: Sequence[SampleSize], models: Models) -> Sheet:
    """What a smaller anchor set would have said."""
    columns = (
        MODEL_COLUMN,
        MODALITY,
        LEVEL_COLUMN,
        Column("n", "Images", "Anchors in the sample; smaller samples lie in larger ones", ("images",)),
        DS,
        Column("width", "Width", "Length of the interval", ("interval_width",)),
    )
    top = axis_end(rows)
    found = [
        (
            model_cell(models[row.model]),
            *_place_cells(row.modality, row.dataset, row.level),
            count_cell(row.n),
            score_cell(row.ds, row.lower, row.upper, cell_class=row.cell_class, top=top),
            number_cell(row.width, words=figures.NOTHING if row.width is None else f"{row.width:.3f}"),
        )
        for row in rows
        if row.model in models
    ]
    return rows_sheet("Sample size", columns, found)


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
            number_cell(row.tau, words=figures.NOTHING if row.tau is None else f"{row.tau:+.2f}", style="score"),
            Cell(
                f"{row.lower:+.2f} to {row.upper:+.2f}"
                if row.lower is not None and row.upper is not None
                else figures.NOTHING,
                row.lower,
                (figures.rounded(row.lower), figures.rounded(row.upper)),
            ),
            count_cell(row.n_models),
        )
        for row in rows
    ]
    return rows_sheet("Agreement of the rankings", columns, found)


def missing_sentence(content: ProbeContent) -> str:
    """How many images were left out of subgroups because the publisher does not say."""
    parts = [
        f"{ATTRIBUTES[row.attribute].lower()}: {row.n_missing} of {row.n_anchors} ({row.dataset})"
        for row in content.missing_attributes
        if row.n_missing
    ]
    return "; ".join(parts)


def _place_cells(modality: str, dataset: str, level: str) -> tuple[Cell, Cell]:
    order = Modality.values.index(modality)
    place = Cell(Modality(modality).label, f"{order} {dataset}", (modality, dataset), style="left", title=dataset)
    return place, Cell(level_title(level), level, (level,), style="left", title=Level(level).label)
