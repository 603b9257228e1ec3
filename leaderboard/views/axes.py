"""The addresses of the boards of groups."""

from collections.abc import Mapping

from django.urls import reverse

from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope

AXES_BY_NAME: Mapping[str, AggregateScope] = {
    scope.value.replace("_", "-"): scope
    for scope in CHOICES_OF
    if scope not in {AggregateScope.FAMILY, AggregateScope.DOMAIN}
}
"""The axes beside families and domains, by their names in addresses."""


def board_address(scope: str, key: str, *, suite: str) -> str:
    """The address of the board of a group."""
    if scope in {AggregateScope.FAMILY, AggregateScope.DOMAIN}:
        path = reverse(f"board-{scope}", args=[key])
    else:
        path = reverse("board-group", args=[scope.replace("_", "-"), key])
    return f"{path}?suite={suite}"
