"""How numbers of runs are written on pages."""

from django import template

register = template.Library()

THOUSANDS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k"))


@register.filter
def percent(value: float | None) -> str:
    """A share in [0, 1] in percent with one decimal: 0.463 -> 46.3; nothing for None."""
    return "" if value is None else f"{100 * value:.1f}"


@register.filter
def signed_percent(value: float | None) -> str:
    """A difference of shares in percentage points, always with its sign: -0.012 -> −1.2; nothing for None."""
    if value is None:
        return ""
    points = round(100 * value, 1)
    sign = "+" if points > 0 else "−" if points < 0 else "±"
    return f"{sign}{abs(points):.1f}"


@register.filter
def signed(value: float | None) -> str:
    """A difference with two decimals, always with its sign; nothing for None."""
    if value is None:
        return ""
    rounded = round(value, 2)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else "±"
    return f"{sign}{abs(rounded):.2f}"


@register.filter
def magnitude(value: int | None) -> str:
    """A count in three digits: 8144000000 -> 8.14 B; nothing for None."""
    if value is None:
        return ""
    for factor, letter in THOUSANDS:
        if value >= factor:
            return f"{value / factor:.3g} {letter}"
    return str(value)
