"""The geometry of charts, as numbers for SVG attributes: pages draw them without scripts and without inline styles."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CENTRE_X, CENTRE_Y, RADIUS = 170.0, 135.0, 95.0
LABEL_DISTANCE = 16.0
SMALLEST_LIMIT = 0.1
SIDEWAYS = 0.3
"""Of a spoke's direction: labels further to a side than this are set from there, the others in the middle."""

COLUMN_STEP, ROW_STEP, TOP, NAME_DISTANCE = 210, 30, 46, 18
LINE_STYLES = 8


@dataclass(frozen=True, slots=True)
class Plane:
    """Where a round chart is drawn; lengths are those of its view box."""

    centre_x: float
    centre_y: float
    radius: float

    def point(self, direction: tuple[float, float], share: float) -> tuple[float, float]:
        """The place at a share of the radius, from 0 in the centre to 1 at the rim."""
        across, down = direction
        return round(self.centre_x + across * self.radius * share, 1), round(
            self.centre_y + down * self.radius * share, 1
        )

    def spoke(self, label: str, direction: tuple[float, float]) -> "Spoke":
        """The line in a direction, and its label outside of the rim."""
        across, down = direction
        x, y = self.point(direction, 1)
        return Spoke(
            label=label,
            x=x,
            y=y,
            label_x=round(self.centre_x + across * (self.radius + LABEL_DISTANCE * 0.6), 1),
            label_y=round(self.centre_y + down * (self.radius + LABEL_DISTANCE) + 4, 1),
            anchor="start" if across > SIDEWAYS else "end" if across < -SIDEWAYS else "middle",
        )


@dataclass(frozen=True, slots=True)
class Spoke:
    """A line from the centre, its end and where its label stands; `anchor` is an SVG text-anchor."""

    label: str
    x: float
    y: float
    label_x: float
    label_y: float
    anchor: str


PLANE = Plane(CENTRE_X, CENTRE_Y, RADIUS)


@dataclass(frozen=True, slots=True)
class Polygon:
    """One closed line through the values of a series; `style` is a number from 0. Spokes without a value are left out."""

    label: str
    points: str
    style: int


@dataclass(frozen=True, slots=True)
class PolygonChart:
    """A round chart. Values run from `-limit` in the centre to `limit` at the rim; zero is the circle half way."""

    title: str
    description: str
    spokes: tuple[Spoke, ...]
    polygons: tuple[Polygon, ...]
    limit: float
    centre_x: float = CENTRE_X
    centre_y: float = CENTRE_Y
    radius: float = RADIUS
    zero_radius: float = RADIUS / 2


def polygon_chart(
    spokes: Sequence[str], series: Mapping[str, Sequence[float | None]], *, title: str, description: str
) -> PolygonChart:
    """A chart with one polygon a series; each series has one value a spoke, or None."""
    values = [abs(value) for found in series.values() for value in found if value is not None]
    limit = nice_limit(values)
    directions = [direction_of(number, len(spokes)) for number in range(len(spokes))]
    return PolygonChart(
        title=title,
        description=description,
        spokes=tuple(PLANE.spoke(label, direction) for label, direction in zip(spokes, directions, strict=True)),
        polygons=tuple(
            Polygon(label, _points(found, directions, limit), number % LINE_STYLES)
            for number, (label, found) in enumerate(series.items())
        ),
        limit=limit,
    )


def nice_limit(values: Sequence[float]) -> float:
    """The end of an axis around zero that holds all magnitudes: the next full twentieth."""
    return max(SMALLEST_LIMIT, math.ceil(round(max(values, default=0.0) * 20, 6)) / 20)


def direction_of(number: int, count: int) -> tuple[float, float]:
    """The unit vector of a spoke: the first points up, the others follow clockwise."""
    angle = 2 * math.pi * number / count
    return math.sin(angle), -math.cos(angle)


def _points(values: Sequence[float | None], directions: Sequence[tuple[float, float]], limit: float) -> str:
    found = []
    for value, direction in zip(values, directions, strict=True):
        if value is not None:
            x, y = PLANE.point(direction, (value + limit) / (2 * limit))
            found.append(f"{x},{y}")
    return " ".join(found)


@dataclass(frozen=True, slots=True)
class SlopeMark:
    """A model's place in one column; its name stands beside the outer columns, and is empty between them."""

    x: int
    y: int
    rank: int
    name: str
    name_x: int
    anchor: str


@dataclass(frozen=True, slots=True)
class SlopeLine:
    """A model's line through the columns."""

    label: str
    points: str
    style: int


@dataclass(frozen=True, slots=True)
class SlopeChart:
    """Rankings side by side: a column a ranking, a line a model."""

    title: str
    description: str
    columns: tuple[tuple[int, str], ...]
    lines: tuple[SlopeLine, ...]
    marks: tuple[SlopeMark, ...]
    width: int
    height: int


def slope_chart(rankings: Mapping[str, Mapping[str, int]], *, title: str, description: str) -> SlopeChart:
    """A chart of rankings by name, each with the rank of every model; models that share a rank stand below each other."""
    rows = {column: _rows(ranks) for column, ranks in rankings.items()}
    places = {column: COLUMN_STEP * (number + 1) for number, column in enumerate(rankings)}
    models = list(next(iter(rows.values()), {}))

    def height(column: str, model: str) -> int:
        return TOP + ROW_STEP * rows[column][model]

    last = max(places.values(), default=0)
    sides = {COLUMN_STEP: -1, last: 1}
    return SlopeChart(
        title=title,
        description=description,
        columns=tuple((x, column) for column, x in places.items()),
        lines=tuple(
            SlopeLine(
                model, " ".join(f"{x},{height(column, model)}" for column, x in places.items()), number % LINE_STYLES
            )
            for number, model in enumerate(models)
        ),
        marks=tuple(
            SlopeMark(
                x=x,
                y=height(column, model),
                rank=rankings[column][model],
                name=model if (side := sides.get(x, 0)) else "",
                name_x=x + side * NAME_DISTANCE,
                anchor="start" if side > 0 else "end",
            )
            for column, x in places.items()
            for model in models
        ),
        width=last + COLUMN_STEP,
        height=TOP + ROW_STEP * len(models),
    )


def crossings(one: Mapping[str, int], other: Mapping[str, int]) -> int:
    """How many pairs of models two rankings put in opposite order."""
    models = list(one)
    return sum(
        (one[a] - one[b]) * (other[a] - other[b]) < 0 for number, a in enumerate(models) for b in models[number + 1 :]
    )


def _rows(ranks: Mapping[str, int]) -> dict[str, int]:
    """The line of each model in a column, from 0: by rank, and by name where ranks are equal."""
    return {model: row for row, model in enumerate(sorted(ranks, key=lambda model: (ranks[model], model.lower())))}
