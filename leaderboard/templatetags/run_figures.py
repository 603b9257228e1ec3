"""How differences between two runs are written on pages."""

from django import template

register = template.Library()


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
