"""Size against score: every ranked model as a point, and the line of those that no smaller model reaches."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.selectors.board_rows import BoardRow
from leaderboard.views import figures
from leaderboard.views.board_sheet import model_address

WIDTH, HEIGHT = 720, 330
LEFT, RIGHT, TOP, BOTTOM = 44.0, 700.0, 22.0, 288.0
FEWEST_POINTS = 3
LETTER = 6.1
"""About the width of a letter of a label."""
LINE = 13.0
"""The height of a line of labels."""
MOST_POINTS = 150
DESCRIBED = 12
"""So many models of the line are told in words."""


@dataclass(frozen=True, slots=True)
class Point:
    """A model; `title` says what it is. One on the line has an address, and a label if there is room."""

    x: float
    y: float
    title: str
    href: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis with its words."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class SizeChart:
    """A chart of sizes (logarithmic, to the right) and scores in percent (upwards).

    `best` are the models on the line. The others are `points` with words of their own, or where they are many, which
    would weigh more than the table, one path through all: the `cloud`.
    """

    description: str
    points: tuple[Point, ...]
    cloud: str
    best: tuple[Point, ...]
    line: str
    across: tuple[Tick, ...]
    upwards: tuple[Tick, ...]
    n_unknown: int
    width: int = WIDTH
    height: int = HEIGHT
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    bottom: float = BOTTOM


def size_chart(rows: Sequence[BoardRow]) -> SizeChart | None:
    """The chart of the ranked rows whose size is known; None where there are too few for one."""
    ranked = [row for row in rows if row.rank is not None]
    known = [row for row in ranked if row.model.parameters]
    if len(known) < FEWEST_POINTS:
        return None
    best = pareto(known)
    axes = _Axes.of(known)
    on_line = {row.model.run_id for row in best}
    others = [Point(axes.x(row), axes.y(row), _words(row)) for row in known if row.model.run_id not in on_line]
    is_crowded = len(others) > MOST_POINTS
    return SizeChart(
        description="Models that no smaller one reaches: "
        + "; ".join(_words(row) for row in best[:DESCRIBED])
        + (f"; and {len(best) - DESCRIBED} more" if len(best) > DESCRIBED else ""),
        points=() if is_crowded else tuple(others),
        cloud="".join(f"M{point.x} {point.y}h0" for point in others) if is_crowded else "",
        best=_labelled(
            [Point(axes.x(row), axes.y(row), _words(row), model_address(row.model), row.model.name) for row in best]
        ),
        line=_steps([(axes.x(row), axes.y(row)) for row in best]),
        across=axes.across,
        upwards=axes.upwards,
        n_unknown=len(ranked) - len(known),
    )


def pareto(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """The rows with a higher mean than every row of at most their size, the smallest first."""
    best: list[BoardRow] = []
    for row in sorted(rows, key=lambda row: (row.model.parameters, -row.mean.value)):
        if not best or row.mean.value > best[-1].mean.value:
            best.append(row)
    return best


@dataclass(frozen=True, slots=True)
class _Axes:
    """From decades of parameters and shares to places in the picture."""

    smallest: float
    largest: float
    top: float

    @classmethod
    def of(cls, rows: Sequence[BoardRow]) -> "_Axes":
        sizes = [math.log10(row.model.parameters) for row in rows]
        smallest, largest = math.floor(min(sizes)), math.ceil(max(sizes))
        return cls(smallest, max(largest, smallest + 1), figures.axis_top([row.mean.value for row in rows]))

    def x(self, row: BoardRow) -> float:
        return self._across(math.log10(row.model.parameters))

    def y(self, row: BoardRow) -> float:
        return self._up(row.mean.value)

    def _across(self, decade: float) -> float:
        share = (decade - self.smallest) / (self.largest - self.smallest)
        return round(LEFT + share * (RIGHT - LEFT), 1)

    def _up(self, value: float) -> float:
        return round(BOTTOM - value / self.top * (BOTTOM - TOP), 1)

    @property
    def across(self) -> tuple[Tick, ...]:
        decades = range(int(self.smallest), int(self.largest) + 1)
        return tuple(Tick(self._across(decade), figures.round_quantity(10**decade)) for decade in decades)

    @property
    def upwards(self) -> tuple[Tick, ...]:
        tenths = round(self.top * 10)
        step = 1 if tenths <= 5 else 2  # noqa: PLR2004 - about five lines
        return tuple(Tick(self._up(tenth / 10), str(tenth * 10)) for tenth in range(0, tenths + 1, step))


def _steps(corners: Sequence[tuple[float, float]]) -> str:
    """The line through the best points: level until the next larger model that is better, then up to it."""
    path = [f"{x},{y}" for x, y in corners[:1]]
    for (_, before), (x, y) in itertools.pairwise(corners):
        path += [f"{x},{before}", f"{x},{y}"]
    last = corners[-1][1]
    return " ".join([*path, f"{RIGHT},{last}"])


def _labelled(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points with labels to their upper left, the best first, where no other label or the edge is in the way."""
    taken: list[tuple[float, float, float]] = []
    labelled = {}
    for point in reversed(points):
        start, end = point.x - LETTER * len(point.label) - 6, point.x
        is_free = start >= LEFT and all(
            abs(point.y - y) >= LINE or end <= left or start >= right for left, right, y in taken
        )
        if is_free:
            taken.append((start, end, point.y))
        labelled[point] = point if is_free else Point(point.x, point.y, point.title, point.href)
    return tuple(labelled[point] for point in points)


def _words(row: BoardRow) -> str:
    return f"{row.model.name}, {figures.quantity(row.model.parameters)}, {figures.percent(row.mean.value)}"
