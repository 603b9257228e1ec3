"""Balanced accuracy of each model on closed questions against how often it says yes."""

from collections.abc import Sequence

from evaluation.suites.medtec.analyses.closed_questions import CHANCE
from evaluation.suites.medtec.board_rows import ClosedQuestions
from evaluation.suites.medtec.plots.canvas import (
    ZERO_LINE,
    Plot,
    draw_means,
    model_styles,
    place_legend,
    single_axes,
)


def closed_questions(rows: Sequence[ClosedQuestions]) -> Plot:
    """One mark a model of one task."""
    title = f"Closed questions: {rows[0].dataset}"
    figure, axes = single_axes(title)
    styles = model_styles(row.model for row in rows)
    for row in rows:
        draw_means(
            axes,
            [row.yes_rate],
            [(row.balanced_accuracy, row.lower, row.upper)],
            styles[row.model],
            mark=styles[row.model].mark,
            label=row.model,
        )
    axes.axhline(CHANCE, **ZERO_LINE)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of questions answered yes")
    axes.set_ylabel("balanced accuracy")
    place_legend(axes)
    parts = [f"{row.model} {row.balanced_accuracy:.3f}, yes-rate {row.yes_rate:.3f}" for row in rows]
    return Plot(figure, title, f"The dashed line is chance, 0.5. {'; '.join(parts)}.")
