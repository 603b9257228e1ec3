"""The mean DS of each model under each phrasing style, one panel a level; the dotted line is the boundary."""

from collections.abc import Sequence

from evaluation.metrics.discrimination import BOUNDARY
from evaluation.suites.medtec.board_rows import ProbeCell
from evaluation.suites.medtec.plots.canvas import (
    ZERO_LINE,
    Plot,
    draw_means,
    model_styles,
    new_figure,
    place_legend,
    spaced,
)
from evaluation.vocabulary import MODALITY_TITLES, Modality, PhrasingStyle


def style_robustness(cells: Sequence[ProbeCell]) -> Plot:
    """The cells of one data set at the levels that have several styles."""
    phrasings = [style.value for style in PhrasingStyle]
    levels = sorted({cell.level for cell in cells})
    styles = model_styles(cell.model for cell in cells)
    offsets = dict(zip(styles, spaced(len(styles)), strict=True))
    figure = new_figure(3.5 * len(levels) + 2.0, 4.0)
    for place, level in enumerate(levels):
        axes = figure.add_subplot(1, len(levels), place + 1)
        for cell in (cell for cell in cells if cell.level == level):
            draw_means(
                axes,
                [phrasings.index(cell.style) + offsets[cell.model]],
                [(cell.ds, cell.lower, cell.upper)],
                styles[cell.model],
                mark=f"{styles[cell.model].mark}-{level}-{cell.style}",
                label=cell.model if cell.style == PhrasingStyle.TEMPLATE else None,
            )
        axes.axhline(0, **ZERO_LINE)
        axes.axhline(BOUNDARY, color="#999999", linewidth=1, linestyle=":")
        axes.set_xticks(range(len(phrasings)), phrasings, rotation=20)
        axes.set_ylabel("mean DS")
        axes.set_title(level)
    place_legend(axes)
    title = f"Phrasing styles: {MODALITY_TITLES[Modality(cells[0].modality)]}, {cells[0].dataset}"
    figure.suptitle(title)
    parts = [f"{cell.model} {cell.level} {cell.style} {cell.ds:.3f}" for cell in cells]
    return Plot(figure, title, f"Mean score with 95% interval under each style. {', '.join(parts)}.")
