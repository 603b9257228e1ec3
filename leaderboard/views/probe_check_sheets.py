"""The checks that ship with probe texts, as sheets: the texts before their use, and images that show nothing."""

from collections.abc import Mapping, Sequence

from leaderboard.models.vocabulary import AnchorSelection, Modality, NegationSubtype, PhrasingStyle
from leaderboard.selectors.probe_rows import BlindBaseline, ProbeCheck
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.probe_cells import LEVEL_COLUMN, MODEL_COLUMN, count_cell, model_cell, number_cell, rows_sheet
from leaderboard.views.probe_words import IMAGES, level_title
from leaderboard.views.sheets import Cell, Column, Sheet, text_cell


def check_sheet(rows: Sequence[ProbeCheck]) -> Sheet:
    """What was checked of the texts before their use."""
    columns = (
        Column("modality", "Modality", "What kind of image", ("modality",), is_row_head=True, is_text=True),
        LEVEL_COLUMN,
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
            count_cell(row.n_probes),
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
            count_cell(row.tokens_at_most),
            count_cell(row.n_on_both_sides),
        )
        for row in rows
    ]
    return rows_sheet("Probe texts before their use", columns, found)


def blind_sheet(rows: Sequence[BlindBaseline], models: Mapping[str, PublishedModel]) -> Sheet:
    """Scores of images that show nothing: near the null, unless the texts themselves give the answer away."""
    columns = (
        MODEL_COLUMN,
        Column("modality", "Modality", "What the texts speak of", ("modality", "task"), "left", is_text=True),
        LEVEL_COLUMN,
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
            number_cell(row.ds),
            number_cell(row.null),
            number_cell(row.surplus, words=figures.NOTHING if row.surplus is None else f"{row.surplus:+.2f}"),
        )
        for row in rows
        if row.model in models
    ]
    return rows_sheet("Images that show nothing", columns, found)


def _set_words(row: ProbeCheck) -> str:
    words = [PhrasingStyle(row.style).label]
    if row.subtype:
        words.append(NegationSubtype(row.subtype).label.lower())
    if row.selection == AnchorSelection.NO_FINDING:
        words.append("images without a finding")
    return ", ".join(words)
