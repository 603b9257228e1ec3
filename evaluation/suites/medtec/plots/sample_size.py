"""How the mean DS and its interval change with the number of anchors, one panel a level."""

from collections.abc import Sequence

from evaluation.suites.medtec.board_rows import SampleSize
from evaluation.suites.medtec.plots.canvas import (
    ZERO_LINE,
    Plot,
    draw_means,
    model_styles,
    new_figure,
    place_legend,
)
from evaluation.vocabulary import MODALITY_TITLES, Modality


def sample_sizes(rows: Sequence[SampleSize]) -> Plot:
    """One line a model and level of one data set."""
    levels = sorted({row.level for row in rows})
    sizes = sorted({row.n for row in rows})
    figure = new_figure(2.4 * len(levels) + 2.5, 3.8)
    for place, level in enumerate(levels):
        axes = figure.add_subplot(1, len(levels), place + 1)
        for model, style in model_styles(row.model for row in rows).items():
            own = sorted((row for row in rows if (row.level, row.model) == (level, model)), key=lambda row: row.n)
            if own:
                draw_means(
                    axes,
                    [sizes.index(row.n) for row in own],
                    [(row.ds, row.lower, row.upper) for row in own],
                    style,
                    mark=f"{style.mark}-{level}",
                    label=model,
                )
        axes.axhline(0, **ZERO_LINE)
        axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
        axes.set_title(level)
    figure.axes[0].set_ylabel("mean DS")
    figure.supxlabel("anchors")
    place_legend(axes)
    title = f"Sample size: {MODALITY_TITLES[Modality(rows[0].modality)]}, {rows[0].dataset}"
    figure.suptitle(title)
    parts = [f"{row.model} {row.level} n {row.n} {row.ds:.3f}" for row in rows]
    return Plot(figure, title, f"Nested subsamples with 95% interval. {', '.join(parts)}.")
