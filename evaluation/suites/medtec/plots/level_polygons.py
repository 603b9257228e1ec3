"""One plot a data set: each spoke is a model and each polygon a level, around the circle where DS is zero."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.suites.medtec.board_rows import ProbeCell
from evaluation.suites.medtec.plots.canvas import PALETTE, ZERO_LINE, Plot, model_styles, new_figure, place_legend
from evaluation.vocabulary import LEVEL_TITLES, MODALITY_TITLES, Level, Modality

_MARGIN = 0.05


def level_polygons(cells: Sequence[ProbeCell]) -> Plot:
    """The polygons of one data set's main cells."""
    models = sorted({cell.model for cell in cells})
    angles = dict(zip(models, np.linspace(0, 2 * np.pi, len(models), endpoint=False), strict=True))
    figure = new_figure(7.0, 5.0)
    axes = figure.add_subplot(projection="polar")
    _draw_levels(axes, cells, angles)
    circle = np.linspace(0, 2 * np.pi, 181)
    axes.plot(circle, np.zeros_like(circle), label="DS = 0", gid="zero-circle", **ZERO_LINE)
    for model, style in model_styles(models).items():
        best = max(cell.ds for cell in cells if cell.model == model)
        axes.plot([angles[model]], [best], marker=style.marker, color="#333333", markersize=4, gid=style.mark)
    axes.set_xticks(list(angles.values()), models)
    lowest, highest = min(0.0, *(cell.ds for cell in cells)), max(0.0, *(cell.ds for cell in cells))
    axes.set_ylim(lowest - _MARGIN, highest + _MARGIN)
    place_legend(axes)
    title = f"Discrimination Score by level: {MODALITY_TITLES[Modality(cells[0].modality)]}, {cells[0].dataset}"
    axes.set_title(title)
    return Plot(figure, title, _description(cells))


def _draw_levels(axes: Any, cells: Sequence[ProbeCell], angles: dict[str, float]) -> None:
    for place, level in enumerate(Level):
        own = sorted((cell for cell in cells if cell.level == level), key=lambda cell: cell.model)
        if not own:
            continue
        around = [*own, own[0]]
        axes.plot(
            [angles[cell.model] for cell in around],
            [cell.ds for cell in around],
            color=PALETTE[place],
            label=f"{level} {LEVEL_TITLES[level]}",
            gid=f"level-{level}",
        )


def _description(cells: Sequence[ProbeCell]) -> str:
    parts = [f"{cell.model} {cell.level} {cell.ds:.3f}" for cell in cells]
    return f"Each spoke is a model, each polygon a level; the dashed circle is a score of 0. {', '.join(parts)}."
