"""The geometry of charts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.views.charts import CENTRE_X, CENTRE_Y, RADIUS, crossings, nice_limit, polygon_chart, slope_chart

NUMBERS = st.floats(-2, 2, allow_nan=False)


def distances(points: str) -> list[float]:
    pairs = [tuple(map(float, pair.split(","))) for pair in points.split()]
    return [math.hypot(x - CENTRE_X, y - CENTRE_Y) for x, y in pairs]


def test_zero_lies_on_the_dashed_circle_and_the_limit_on_the_rim() -> None:
    chart = polygon_chart(["a", "b", "c"], {"s": [0.0, 0.2, -0.2], "t": [None, 0.1, 0.1]}, title="t", description="d")
    assert chart.limit == 0.2
    assert distances(chart.polygons[0].points) == pytest.approx([RADIUS / 2, RADIUS, 0.0], abs=0.1)
    assert len(chart.polygons[1].points.split()) == 2
    assert chart.zero_radius == RADIUS / 2


def test_the_first_spoke_points_up_and_the_others_follow_clockwise() -> None:
    up, right, down, left = polygon_chart(["u", "r", "d", "l"], {}, title="t", description="d").spokes
    assert (up.x, up.y) == (CENTRE_X, CENTRE_Y - RADIUS)
    assert (right.x, right.y) == (CENTRE_X + RADIUS, CENTRE_Y)
    assert [spoke.anchor for spoke in (up, right, down, left)] == ["middle", "start", "middle", "end"]


@given(st.lists(st.lists(st.none() | NUMBERS, min_size=5, max_size=5), max_size=4))
def test_polygons_stay_inside_the_rim(series: list[list[float | None]]) -> None:
    chart = polygon_chart(
        list("abcde"), {str(number): found for number, found in enumerate(series)}, title="t", description="d"
    )
    for polygon in chart.polygons:
        assert all(distance <= RADIUS + 0.2 for distance in distances(polygon.points))


@pytest.mark.parametrize(("values", "limit"), [([], 0.1), ([0.05], 0.1), ([0.1], 0.1), ([0.101], 0.15), ([0.3], 0.3)])
def test_an_axis_around_zero_ends_at_a_full_twentieth(values: list[float], limit: float) -> None:
    assert nice_limit(values) == pytest.approx(limit)


def test_a_line_goes_through_every_column_and_equal_ranks_stand_below_each_other() -> None:
    rankings = {"one": {"x": 1, "y": 2, "z": 2}, "two": {"x": 3, "y": 1, "z": 2}}
    chart = slope_chart(rankings, title="t", description="d")
    heights = {(mark.x, mark.rank, mark.name): mark.y for mark in chart.marks}
    assert len(chart.lines) == 3
    first, last = (x for x, _ in chart.columns)
    assert heights[first, 1, "x"] < heights[first, 2, "y"] < heights[first, 2, "z"]
    assert heights[last, 1, "y"] < heights[last, 2, "z"] < heights[last, 3, "x"]
    (line,) = [line for line in chart.lines if line.label == "x"]
    assert line.points == f"{first},{heights[first, 1, 'x']} {last},{heights[last, 3, 'x']}"
    assert all(0 < mark.y <= chart.height for mark in chart.marks)


def test_crossings_count_pairs_in_opposite_order_and_ties_do_not_count() -> None:
    assert crossings({"a": 1, "b": 2, "c": 3}, {"a": 3, "b": 2, "c": 1}) == 3
    assert crossings({"a": 1, "b": 2}, {"a": 1, "b": 1}) == 0


def test_no_rankings_make_an_empty_chart() -> None:
    assert slope_chart({}, title="t", description="d").lines == ()
