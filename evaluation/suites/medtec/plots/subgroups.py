"""The gap of DS between two groups of people, by level and model, with its interval."""

from collections.abc import Sequence

from evaluation.suites.medtec.board_rows import SubgroupGap
from evaluation.suites.medtec.plots.canvas import (
    ZERO_LINE,
    Plot,
    draw_means,
    model_styles,
    new_figure,
    place_legend,
    spaced,
)
from evaluation.vocabulary import MODALITY_TITLES, Modality


def subgroup_gaps(gaps: Sequence[SubgroupGap]) -> Plot:
    """The gaps of one attribute in one data set, one panel a pair of groups."""
    pairs = list(dict.fromkeys((gap.group, gap.other) for gap in gaps))
    levels = sorted({gap.level for gap in gaps})
    styles = model_styles(gap.model for gap in gaps)
    offsets = dict(zip(styles, spaced(len(styles)), strict=True))
    figure = new_figure(2.8 * len(pairs) + 2.5, 4.0)
    for place, (group, other) in enumerate(pairs):
        axes = figure.add_subplot(1, len(pairs), place + 1)
        own = [gap for gap in gaps if (gap.group, gap.other) == (group, other)]
        for gap in own:
            is_first = gap.level == next(row.level for row in own if row.model == gap.model)
            draw_means(
                axes,
                [levels.index(gap.level) + offsets[gap.model]],
                [(gap.gap, gap.lower, gap.upper)],
                styles[gap.model],
                mark=f"{styles[gap.model].mark}-{place}-{gap.level}",
                label=gap.model if is_first else None,
            )
        axes.axhline(0, **ZERO_LINE)
        axes.set_xticks(range(len(levels)), levels)
        axes.set_title(f"{group} minus {other}".replace("_", " "))
    figure.axes[0].set_ylabel("gap of mean DS")
    place_legend(axes)
    first = gaps[0]
    title = f"Gaps by {first.attribute.replace('_', ' ')}: {MODALITY_TITLES[Modality(first.modality)]}, {first.dataset}"
    figure.suptitle(title)
    parts = [f"{gap.model} {gap.level} {gap.group} minus {gap.other} {gap.gap:.3f}" for gap in gaps]
    return Plot(figure, title, f"Paired differences with 95% interval. {', '.join(parts)}.")
