"""Size against score: which models are on the line, and where they are drawn."""

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from leaderboard.selectors.board_rows import BoardRow, GroupScore
from leaderboard.selectors.published import PublishedModel
from leaderboard.views.size_chart import BOTTOM, LEFT, RIGHT, TOP, pareto, size_chart


def row(name: str, parameters: int | None, mean: float, *, rank: int | None = 1) -> BoardRow:
    model = PublishedModel(uuid4(), 1, f"lab/{name}", "a" * 40, "", "", "clip", parameters, 512, "mit", gated=False)
    return BoardRow(model, rank, GroupScore(mean, mean, mean, 1, 1), None, 1, 1)


ROWS = [
    row("small", 10**7, 0.2),
    row("worse", 10**8, 0.15),
    row("middle", 10**8, 0.4),
    row("no-better", 10**9, 0.4),
    row("large", 10**9, 0.5),
]


def test_the_line_holds_what_no_smaller_model_reaches() -> None:
    assert [found.model.name for found in pareto(ROWS)] == ["small", "middle", "large"]
    chart = size_chart(ROWS)
    assert chart.description == (
        "Models that no smaller one reaches: small, 10 M, 20.0; middle, 100 M, 40.0; large, 1.0 B, 50.0"
    )
    assert len(chart.points) == 2
    assert [point.label for point in chart.best][1:] == ["middle", "large"]


def test_places_are_those_of_the_decades_and_shares() -> None:
    chart = size_chart(ROWS)
    small, middle, large = chart.best
    assert (small.x, middle.x, large.x) == (LEFT, (LEFT + RIGHT) / 2, RIGHT)
    assert large.y == TOP, "the axis ends at the next tenth, here 50"
    assert small.y == round(BOTTOM - 0.4 * (BOTTOM - TOP), 1)
    assert [tick.text for tick in chart.across] == ["10 M", "100 M", "1 B"]
    assert [tick.text for tick in chart.upwards] == ["0", "10", "20", "30", "40", "50"]
    assert chart.line.startswith(f"{LEFT},{small.y} {middle.x},{small.y} {middle.x},{middle.y}")


def test_models_of_unknown_size_are_counted_and_unranked_ones_left_out() -> None:
    chart = size_chart([*ROWS, row("unknown", None, 0.9), row("partial", 10**6, 0.9, rank=None)])
    assert chart.n_unknown == 1
    assert len(chart.points) + len(chart.best) == len(ROWS)
    assert size_chart(ROWS[:2]) is None


def test_many_models_are_one_path() -> None:
    crowd = [row(f"crowd{number}", 10**7 + number, 0.1) for number in range(200)]
    chart = size_chart([*ROWS, *crowd])
    assert chart.points == ()
    assert chart.cloud.count("M") + len(chart.best) == len(ROWS) + len(crowd)
    assert chart.cloud.count(f"{round(BOTTOM - 0.2 * (BOTTOM - TOP), 1)}h0") == len(crowd)


@given(st.lists(st.tuples(st.integers(1, 10**11), st.floats(0, 1)), min_size=3, max_size=40))
def test_every_model_is_on_the_line_or_reached_by_one_on_it(models) -> None:
    rows = [row(str(number), size, mean) for number, (size, mean) in enumerate(models)]
    best = pareto(rows)
    for one in rows:
        assert one in best or any(
            other.model.parameters <= one.model.parameters and other.mean.value >= one.mean.value for other in best
        )
    for one in best:
        assert not any(
            other.model.parameters <= one.model.parameters and other.mean.value > one.mean.value for other in rows
        )
    chart = size_chart(rows)
    assert len(chart.points) + len(chart.best) == len(rows)
    for point in (*chart.points, *chart.best):
        assert LEFT <= point.x <= RIGHT
        assert TOP <= point.y <= BOTTOM
