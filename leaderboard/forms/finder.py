"""The question "which model is best for this, at most so large, under such a licence?"."""

from collections.abc import Sequence
from dataclasses import dataclass

from django import forms

from leaderboard.forms.boards import licence_choices, parameter_choices, permits
from leaderboard.models.vocabulary import AggregateScope, Domain, EvidenceForm, Family
from leaderboard.selectors.board_rows import BoardRow
from leaderboard.selectors.published import PublishedModel

EVERYTHING = ("", "Everything")
SUBJECTS = (
    (AggregateScope.FAMILY, Family),
    (AggregateScope.DOMAIN, Domain),
    (AggregateScope.EVIDENCE_FORM, EvidenceForm),
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: the best model of a board, under limits. Empty values and None set no limit."""

    scope: AggregateScope = AggregateScope.OVERALL
    key: str = ""
    max_parameters: int | None = None
    licence: str = ""

    def fits(self, row: BoardRow) -> bool:
        """Whether a row has a rank and keeps the limits; a model of unknown size keeps none."""
        model = row.model
        return (
            row.rank is not None
            and permits(model.licence, self.licence)
            and (
                self.max_parameters is None
                or (model.parameters is not None and model.parameters <= self.max_parameters)
            )
        )


class FinderForm(forms.Form):
    """Three choices. A subject is the scope and key of a board, joined by a colon."""

    best = forms.ChoiceField(label="Best for", required=False)
    size = forms.IntegerField(label="Size", required=False, min_value=1, max_value=10**15)
    terms = forms.CharField(label="Licence", required=False, max_length=128)

    def offer(self, subjects: Sequence[tuple[AggregateScope, str]], models: Sequence[PublishedModel]) -> None:
        """Offer the boards that the suite has tasks for, and the licences of the models."""
        groups = [
            (
                scope.label,
                [(f"{scope}:{key}", choices(key).label) for key in choices.values if (scope, key) in subjects],
            )
            for scope, choices in SUBJECTS
        ]
        self.fields["best"].choices = [EVERYTHING, *((label, offered) for label, offered in groups if offered)]
        self.fields["size"].widget = forms.Select(choices=parameter_choices())
        self.fields["terms"].widget = forms.Select(choices=licence_choices(models))

    @property
    def question(self) -> Question:
        """The question of a valid form."""
        scope, _, key = self.cleaned_data["best"].partition(":")
        return Question(
            scope=AggregateScope(scope or AggregateScope.OVERALL),
            key=key,
            max_parameters=self.cleaned_data["size"],
            licence=self.cleaned_data["terms"],
        )
