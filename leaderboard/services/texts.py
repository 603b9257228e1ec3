"""Texts that come from elsewhere, as they can be stored."""

import unicodedata

KEPT_CONTROLS = "\n\t"


def fitted(text: str, *, most: int) -> str:
    """The text without control characters, and with an ellipsis where it is longer than its column."""
    shown = "".join(one for one in text if one in KEPT_CONTROLS or unicodedata.category(one) not in {"Cc", "Cs"})
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
