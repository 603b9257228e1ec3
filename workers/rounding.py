"""Rounding of stored differences, so that ends which differ from zero by nothing but noise are zero."""

DECIMALS = 9


def rounded(*values: float | None) -> list[float | None]:
    """The values to `DECIMALS` places; None stays None."""
    return [None if value is None else round(value, DECIMALS) for value in values]
