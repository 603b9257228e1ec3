"""The question "which model is best for this, at most so large, under such a licence?"."""

from collections.abc import Sequence
from dataclasses import dataclass

from django import forms

from leaderboard.forms.boards import licence_choices, parameter_choices, permits
from leaderboard.models.vocabulary import AggregateScope, Domain, EvidenceForm, Family, Level
from leaderboard.selectors.board_rows import BoardRow
from leaderboard.selectors.published import PublishedModel

EVERYTHING = ("", "Everything")
SUBJECTS = (
    (AggregateScope.FAMILY, Family),
    (AggregateScope.DOMAIN, Domain),
    (AggregateScope.EVIDENCE_FORM, EvidenceForm),
)
ANY_MODALITY = ("", "All modalities")
ABILITIES = (
    ("", "All five levels"),
    (Level.L1.value, "Recognise a medical image (L1)"),
    (Level.L2.value, "Recognise the modality (L2)"),
    (Level.L3.value, "Locate it in the body (L3)"),
    (Level.L4.value, "Tell findings apart (L4)"),
    (Level.L5.value, "Understand negation (L5)"),
)
"""What a model has to be able to do, level by level."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a model has to keep to. Empty values and None set no limit; a model of unknown size keeps none."""

    max_parameters: int | None = None
    licence: str = ""

    def allow(self, model: PublishedModel) -> bool:
        """Whether a model keeps the limits."""
        return permits(model.licence, self.licence) and (
            self.max_parameters is None or (model.parameters is not None and model.parameters <= self.max_parameters)
        )

    @property
    def filters(self) -> dict[str, str]:
        """The filters of a board that set the same limits."""
        chosen = {"max_parameters": str(self.max_parameters or ""), "licence": self.licence}
        return {name: value for name, value in chosen.items() if value}


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: the best model of a board, under limits."""

    scope: AggregateScope = AggregateScope.OVERALL
    key: str = ""
    limits: Limits = Limits()

    def fits(self, row: BoardRow) -> bool:
        """Whether a row has a rank and keeps the limits."""
        return row.rank is not None and self.limits.allow(row.model)


@dataclass(frozen=True, slots=True)
class ProbeQuestion:
    """What is looked for: the best model in a place, at a level, under limits; empty means all of them."""

    place: str = ""
    level: str = ""
    limits: Limits = Limits()


class LimitsForm(forms.Form):
    """How large a model may be, and under which licence."""

    size = forms.IntegerField(label="Size", required=False, min_value=1, max_value=10**15)
    terms = forms.CharField(label="Licence", required=False, max_length=128)

    def offer_limits(self, models: Sequence[PublishedModel]) -> None:
        """Offer limits of size, and the licences of the models."""
        self.fields["size"].widget = forms.Select(choices=parameter_choices())
        self.fields["terms"].widget = forms.Select(choices=licence_choices(models))

    @property
    def limits(self) -> Limits:
        """The limits of a valid form."""
        return Limits(max_parameters=self.cleaned_data["size"], licence=self.cleaned_data["terms"])


class FinderForm(LimitsForm):
    """Three choices. A subject is the scope and key of a board, joined by a colon."""

    best = forms.ChoiceField(label="Best for", required=False)
    field_order = ("best",)

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
        self.offer_limits(models)

    @property
    def question(self) -> Question:
        """The question of a valid form."""
        scope, _, key = self.cleaned_data["best"].partition(":")
        return Question(scope=AggregateScope(scope or AggregateScope.OVERALL), key=key, limits=self.limits)


class ProbeFinderForm(LimitsForm):
    """Which images a model is for, what it has to be able to do with them, and its limits."""

    images = forms.ChoiceField(label="Images", required=False)
    ability = forms.ChoiceField(label="It has to", required=False, choices=ABILITIES)
    field_order = ("images", "ability")

    def offer(self, places: Sequence[tuple[str, str]], models: Sequence[PublishedModel]) -> None:
        """Offer the places of the suite, as keys and titles, and the licences of the models."""
        self.fields["images"].choices = [ANY_MODALITY, *places]
        self.offer_limits(models)

    @property
    def question(self) -> ProbeQuestion:
        """The question of a valid form."""
        return ProbeQuestion(self.cleaned_data["images"], self.cleaned_data["ability"], self.limits)
