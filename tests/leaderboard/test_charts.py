"""The geometry of charts."""

import gzip
import math

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.views.charts import CENTRE_X, CENTRE_Y, RADIUS, crossings, nice_limit, polygon_chart, slope_chart
from leaderboard.views.profile_chart import PLANE, ProfileScore, profile_chart

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


def test_a_chart_of_four_models_weighs_little() -> None:
    spokes = {str(number): f"Family number {number}" for number in range(8)}
    scores = {key: ProfileScore(0.5, 0.4, 0.6) for key in spokes}
    chart = profile_chart(spokes, [(f"a-model-{number}", scores) for number in range(4)], title="t", chance={})
    markup = render_to_string("components/profile.html", {"chart": chart}).encode()
    assert len(markup) < 20_000
    assert len(gzip.compress(markup)) < 3_000


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1), max_size=8))
def test_a_profile_stays_inside_its_rim_and_has_a_mark_for_every_score(values: dict[str, float]) -> None:
    spokes = {key: key for key in "abcdefgh"}
    scores = {key: ProfileScore(value, max(0.0, value - 0.1), min(1.0, value + 0.1)) for key, value in values.items()}
    (profile,) = profile_chart(spokes, [("m", scores)], title="t").profiles
    assert len(profile.marks) == len(values)
    assert bool(profile.points) == (len(values) >= 3)
    for mark in profile.marks:
        for x, y in ((mark.x, mark.y), (mark.x1, mark.y1), (mark.x2, mark.y2)):
            assert math.hypot(x - PLANE.centre_x, y - PLANE.centre_y) <= PLANE.radius + 0.2
