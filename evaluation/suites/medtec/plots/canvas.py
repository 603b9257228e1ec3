"""What all plots share: colours, figures, and files that anyone can read and that are equal for equal numbers.

Colours are Okabe and Ito's (Color Universal Design, 2008), which people with any common colour vision tell apart.
Models differ in marker too, so that no plot rests on colour alone. An SVG has a title and a description for those who
do not see it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from matplotlib import rc_context
from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
ZERO_LINE: dict[str, Any] = {"color": "#555555", "linewidth": 1.2, "linestyle": "--"}

_RESOLUTION = 150
_STYLE = {"svg.hashsalt": "medboard", "svg.fonttype": "none"}
# Without a date equal figures are equal files.
_METADATA = {"Date": None, "Creator": None}


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure with what it is called and what it says."""

    figure: Figure
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class ModelStyle:
    """How one model is drawn; `mark` names its marks in an SVG."""

    colour: str
    marker: str
    mark: str


def model_styles(models: Iterable[str]) -> dict[str, ModelStyle]:
    """A colour and marker for each model; more models than colours differ in marker."""
    return {
        model: ModelStyle(PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)], f"model-{place}")
        for place, model in enumerate(sorted(set(models)))
    }


def new_figure(width: float = 7.0, height: float = 4.2) -> Figure:
    """An empty figure of so many inches that fits its content."""
    return Figure(figsize=(width, height), layout="constrained")


def single_axes(title: str, *, width: float = 7.0, height: float = 4.2) -> tuple[Figure, Any]:
    """A figure with one pair of axes under a title."""
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    axes.set_title(title)
    return figure, axes


def place_legend(axes: Any) -> None:
    """The legend beside the axes, where there is something to name."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def draw_means(
    axes: Any,
    places: Sequence[float],
    means: Sequence[tuple[float, float | None, float | None]],
    style: ModelStyle,
    *,
    mark: str,
    label: str | None,
) -> None:
    """Draw means with their intervals, joined by a line; one that has no interval is a mark alone.

    Args:
        axes: where to.
        places: where each stands along the horizontal axis.
        means: value, lower and upper end.
        style: of the model.
        mark: identifies the line in an SVG, once.
        label: the name in the legend, if it is to have one.
    """
    arms = [
        (0.0, 0.0) if lower is None or upper is None else (value - lower, upper - value)
        for value, lower, upper in means
    ]
    drawn = axes.errorbar(
        places,
        [value for value, _, _ in means],
        yerr=list(zip(*arms, strict=True)),
        color=style.colour,
        marker=style.marker,
        markersize=4,
        linewidth=1,
        label=label,
    )
    drawn.lines[0].set_gid(mark)


def spaced(count: int, *, within: float = 0.7) -> Sequence[float]:
    """Offsets of so many marks around a whole number, evenly in `within`."""
    if count <= 1:
        return [0.0] * count
    return [within * (place / (count - 1) - 0.5) for place in range(count)]


def write_plot(plot: Plot, stem: Path) -> tuple[Path, Path]:
    """Write `stem`.svg and `stem`.png and return their paths; equal plots give equal bytes."""
    svg, png = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    with rc_context(_STYLE):
        plot.figure.savefig(svg, format="svg", metadata={**_METADATA, "Title": plot.title})
        plot.figure.savefig(png, format="png", dpi=_RESOLUTION, metadata={"Software": None, "Title": plot.title})
    drawn = svg.read_text(encoding="utf-8")
    title = f"<title>{escape(plot.title)}</title>"
    described = f"{title}\n <desc>{escape(plot.description)}</desc>"
    svg.write_text(drawn.replace(title, described, 1).replace("<svg ", '<svg role="img" ', 1), encoding="utf-8")
    return svg, png
