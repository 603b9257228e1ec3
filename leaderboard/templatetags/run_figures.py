"""How differences between two runs are written on pages."""

from django import template

from leaderboard.views import figures

register = template.Library()

SECONDS_SHOWN = 120
"""Shorter spans are given in seconds."""


@register.filter
def signed_percent(value: float) -> str:
    """A difference of shares in percentage points, always with its sign: -0.012 -> −1.2."""
    points = round(100 * value, 1)
    sign = "+" if points > 0 else "−" if points < 0 else "±"
    return f"{sign}{abs(points):.1f}"


@register.filter
def signed(value: float) -> str:
    """A difference with two decimals, always with its sign."""
    rounded = round(value, 2)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else "±"
    return f"{sign}{abs(rounded):.2f}"


@register.filter
def change(value: float | None, metric: str) -> str:
    """A difference in a metric, as that metric is written; a dash for none."""
    if value is None:
        return figures.NOTHING
    if metric == "cv":
        return signed(value)
    return figures.main_figure(value, metric) if metric == "ds" else signed_percent(value)


@register.filter
def duration(seconds: float) -> str:
    """A span of time in its two largest units: 4210 -> 1 h 10 min."""
    whole = round(seconds)
    if whole < SECONDS_SHOWN:
        return f"{whole} s"
    minutes = round(seconds / 60)
    if minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} d {minutes % 1440 // 60} h"
