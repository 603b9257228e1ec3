"""Share of model x modality cells that collapse under each kind of negation; hedged text stands apart."""

from collections.abc import Sequence

from evaluation.suites.medtec.board_rows import NegationCount
from evaluation.suites.medtec.plots.canvas import PALETTE, Plot, place_legend, single_axes


def negation_subtypes(counts: Sequence[NegationCount]) -> Plot:
    """Two bars a subtype: certain collapse, and any."""
    title = "Collapse by kind of negation"
    figure, axes = single_axes(title)
    ordered = sorted(counts, key=lambda count: count.is_weaker_only)
    for place, count in enumerate(ordered):
        # Hedged text is weaker, not false: a gap keeps it from the others.
        at = place + (0.5 if count.is_weaker_only else 0.0)
        bars = (("certain", count.n_collapse_certain, -0.2), ("any", count.n_collapsing, 0.2))
        for number, (kind, found, offset) in enumerate(bars):
            axes.bar(
                [at + offset],
                [found / count.n_cells],
                width=0.38,
                color=PALETTE[1 - number],
                label=f"{kind} collapse" if place == 0 else None,
                gid=f"subtype-{count.subtype}-{kind}",
            )
    ticks = [place + (0.5 if count.is_weaker_only else 0.0) for place, count in enumerate(ordered)]
    names = [f"{count.subtype}\nn = {count.n_cells}" + _remark(count) for count in ordered]
    axes.set_xticks(ticks, names)
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of cells")
    place_legend(axes)
    parts = [
        f"{count.subtype}: {count.n_collapse_certain} of {count.n_cells} certain, {count.n_collapsing} at all"
        for count in ordered
    ]
    return Plot(figure, title, f"Cells whose mean score is at most 0. {'; '.join(parts)}.")


def _remark(count: NegationCount) -> str:
    return "\n(weaker, not false)" if count.is_weaker_only else ""
