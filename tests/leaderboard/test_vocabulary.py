"""The leaderboard's choices and the evaluation library's enums are one vocabulary."""

import pytest

from evaluation import errors
from evaluation import vocabulary as library
from evaluation.suites.medheb.groupings import release_groups
from leaderboard.models import vocabulary as board
from tests.evaluation.suite_folders import task_spec


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
        (board.SuiteKind, library.SuiteKind),
        (board.Modality, library.Modality),
        (board.Level, library.Level),
        (board.PhrasingStyle, library.PhrasingStyle),
        (board.NegationSubtype, library.NegationSubtype),
        (board.AnchorSelection, library.AnchorSelection),
        (board.CellClass, library.CellClass),
    ],
)
def test_values_are_equal_and_in_the_same_order(choices: type, enum: type) -> None:
    assert choices.values == [member.value for member in enum]


def test_titles_are_equal() -> None:
    assert dict(board.Family.choices) == {key.value: title for key, title in library.FAMILY_TITLES.items()}
    assert dict(board.Domain.choices) == {key.value: title for key, title in library.DOMAIN_TITLES.items()}
    assert dict(board.Modality.choices) == {key.value: title for key, title in library.MODALITY_TITLES.items()}
    assert dict(board.Level.choices) == {key.value: title for key, title in library.LEVEL_TITLES.items()}


@pytest.mark.parametrize("split", list(library.Split))
@pytest.mark.parametrize("form", list(library.EvidenceForm))
def test_tasks_are_in_the_same_groups_of_the_release(form: library.EvidenceForm, split: library.Split) -> None:
    spec = task_spec(evidence_form=form, split=split)
    found = board.release_groups(evidence_form=form.value, split=split.value)
    assert [group.value for group in found] == [group.value for group in release_groups(spec)]
