"""How differences are written."""

import pytest

from leaderboard.templatetags.run_figures import signed, signed_percent


@pytest.mark.parametrize(
    ("value", "text"), [(0.021, "+2.1"), (-0.0123, "−1.2"), (0.0, "±0.0"), (0.0004, "±0.0"), (-0.0004, "±0.0")]
)
def test_points_always_have_a_sign(value: float, text: str) -> None:
    assert signed_percent(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.106, "+0.11"), (-0.1, "−0.10"), (0.001, "±0.00")])
def test_two_decimals_always_have_a_sign(value: float, text: str) -> None:
    assert signed(value) == text
