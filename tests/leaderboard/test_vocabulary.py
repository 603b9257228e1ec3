"""The leaderboard's choices and the evaluation library's enums are one vocabulary."""

import pytest

from evaluation import errors
from evaluation import vocabulary as library
from leaderboard.models import vocabulary as board


@pytest.mark.parametrize(
    ("choices", "enum"),
    [
        (board.Family, library.Family),
        (board.Domain, library.Domain),
        (board.EvidenceForm, library.EvidenceForm),
        (board.PairingType, library.PairingType),
        (board.Granularity, library.Granularity),
        (board.Split, library.Split),
        (board.ReleaseGroup, library.ReleaseGroup),
        (board.AggregateScope, library.AggregateScope),
        (board.PoolScope, library.PoolScope),
        (board.ErrorKind, errors.ErrorKind),
    ],
)
def test_values_are_equal_and_in_the_same_order(choices: type, enum: type) -> None:
    assert choices.values == [member.value for member in enum]


def test_titles_are_equal() -> None:
    assert dict(board.Family.choices) == {key.value: title for key, title in library.FAMILY_TITLES.items()}
    assert dict(board.Domain.choices) == {key.value: title for key, title in library.DOMAIN_TITLES.items()}
