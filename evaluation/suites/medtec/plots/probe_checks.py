"""How far the DS on an image that shows nothing is from its null, and how lengths of texts differ."""

from collections.abc import Sequence
from typing import Any

from evaluation.suites.medtec.board_rows import BlindBaseline, ProbeCheck
from evaluation.suites.medtec.plots.canvas import (
    PALETTE,
    ZERO_LINE,
    Plot,
    model_styles,
    new_figure,
    place_legend,
    spaced,
)
from evaluation.vocabulary import AnchorSelection, Level, NegationSubtype, PhrasingStyle

_MAIN_SUBTYPES = (None, NegationSubtype.MIXED)


def probe_checks(checks: Sequence[ProbeCheck], baselines: Sequence[BlindBaseline]) -> Plot:
    """Two panels: words by which positives are longer, and surplus of blind images over their null."""
    title = "Checks of the probe sets"
    figure = new_figure(9.0, 4.0)
    figure.suptitle(title)
    _draw_lengths(figure.add_subplot(1, 2, 1), checks)
    _draw_baselines(figure.add_subplot(1, 2, 2), baselines)
    lengths = [f"{row.modality} {row.level} {row.words_difference:+.1f} words" for row in _main(checks)]
    blind = [f"{row.model} {row.task} {row.image} {row.surplus:+.2f}" for row in baselines if row.surplus is not None]
    return Plot(figure, title, f"{', '.join(lengths)}. Surplus in standard deviations: {', '.join(blind)}.")


def _main(checks: Sequence[ProbeCheck]) -> list[ProbeCheck]:
    return [
        row
        for row in checks
        if row.style == PhrasingStyle.TEMPLATE
        and row.subtype in _MAIN_SUBTYPES
        and row.selection != AnchorSelection.NO_FINDING
    ]


def _draw_lengths(axes: Any, checks: Sequence[ProbeCheck]) -> None:
    levels = list(Level)
    for row in _main(checks):
        axes.plot(
            [levels.index(Level(row.level))],
            [row.words_difference],
            marker="_",
            markersize=14,
            color=PALETTE[0],
            gid=f"length-{row.modality}-{row.level}",
        )
    axes.axhline(0, **ZERO_LINE)
    axes.set_xticks(range(len(levels)), levels)
    axes.set_ylabel("words: positives minus negatives")
    axes.set_title("Length, a mark a modality")


def _draw_baselines(axes: Any, baselines: Sequence[BlindBaseline]) -> None:
    levels = list(Level)
    styles = model_styles(row.model for row in baselines)
    offsets = dict(zip(styles, spaced(len(styles)), strict=True))
    for row in baselines:
        if row.surplus is None:
            continue
        style = styles[row.model]
        axes.plot(
            [levels.index(Level(row.level)) + offsets[row.model]],
            [row.surplus],
            marker=style.marker,
            fillstyle="none" if row.image == "blank" else "full",
            linestyle="none",
            color=style.colour,
            gid=f"{style.mark}-{row.task}-{row.image}",
        )
    for model, style in styles.items():
        axes.plot([], [], marker=style.marker, linestyle="none", color=style.colour, label=model)
    axes.axhline(0, **ZERO_LINE)
    axes.set_xticks(range(len(levels)), levels)
    axes.set_ylabel("surplus over the null, in SD")
    axes.set_title("Blank (open) and noise (filled) image")
    place_legend(axes)
