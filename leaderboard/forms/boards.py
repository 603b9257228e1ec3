"""What a visitor can ask of a board."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from django import forms

from leaderboard.models.vocabulary import TrainingDataStatement
from leaderboard.selectors.board_rows import Cost
from leaderboard.selectors.published import PublishedModel

PARAMETER_LIMITS = ((10**8, "100 M"), (5 * 10**8, "500 M"), (10**9, "1 B"), (3 * 10**9, "3 B"), (10**10, "10 B"))
DIMENSION_LIMITS = (256, 512, 768, 1024, 2048)
COMMERCIAL = "commercial"
"""In the place of a licence: any that permits commercial use of the weights without asking."""
COMMERCIAL_LICENCES = frozenset(
    {
        "apache-2.0", "mit", "bsd", "bsd-2-clause", "bsd-3-clause", "isc", "zlib", "unlicense", "cc0-1.0", "cc-by-4.0",
        "cc-by-sa-4.0", "mpl-2.0", "bsl-1.0", "artistic-2.0", "cdla-permissive-2.0",
    }
)  # fmt: skip
GATED = (("", "Any"), ("no", "Open"), ("yes", "Gated"))
ANY = ("", "Any")
RANKS = (("", "On all tasks"), ("clean", "Without training data"))
DECLARED = (
    ANY,
    (TrainingDataStatement.UNKNOWN.value, "Unknown"),
    (TrainingDataStatement.NONE.value, "None of these data sets"),
    (TrainingDataStatement.LISTED.value, "Listed data sets"),
)
NO_FILTERS = frozenset({"q", "ranks"})
"""Fields of the form that are not the filter of the same name."""


class Listed(Protocol):
    """A row of any board."""

    model: PublishedModel
    cost: Cost
    submitted_at: Any
    training_data: str


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """Which rows to show. Empty values and None do not filter."""

    text: str = ""
    kind: str = ""
    licence: str = ""
    max_parameters: int | None = None
    max_dimension: int | None = None
    gated: str = ""
    submitted_after: date | None = None
    declared: str = ""

    @property
    def is_set(self) -> bool:
        """Whether any row can be left out."""
        return self != BoardFilter()

    def accepts(self, row: Listed) -> bool:
        """Whether a row is shown. What is unknown of a model is under no limit and after no date."""
        model = row.model
        return (
            self.text.lower() in model.repo_id.lower()
            and self.kind in {"", model.kind}
            and permits(model.licence, self.licence)
            and _is_at_most(model.parameters, self.max_parameters)
            and _is_at_most(model.dimension, self.max_dimension)
            and self.gated in {"", "yes" if model.gated else "no"}
            and (not self.declared or row.training_data == self.declared)
            and (
                self.submitted_after is None
                or (row.submitted_at is not None and row.submitted_at.date() >= self.submitted_after)
            )
        )


def permits(licence: str, wanted: str) -> bool:
    """Whether a model's licence is the wanted one, permits commercial use if that is wanted, or nothing is wanted."""
    return licence.lower() in COMMERCIAL_LICENCES if wanted == COMMERCIAL else wanted in {"", licence}


def _is_at_most(value: int | None, limit: int | None) -> bool:
    return limit is None or (value is not None and value <= limit)


class BoardFilterForm(forms.Form):
    """The filters above a board, and on which tasks its models are ranked.

    Choices come from the models on it; a value that no model has finds no row.
    """

    q = forms.CharField(
        label="Model",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "Part of a name"}),
    )
    kind = forms.CharField(label="Kind", required=False, max_length=64)
    max_parameters = forms.IntegerField(label="Parameters", required=False, min_value=1, max_value=10**15)
    max_dimension = forms.IntegerField(label="Dimension", required=False, min_value=1, max_value=10**9)
    licence = forms.CharField(label="Licence", required=False, max_length=128)
    gated = forms.ChoiceField(label="Access", required=False, choices=GATED)
    submitted_after = forms.DateField(
        label="Submitted from", required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    declared = forms.ChoiceField(label="Declared training data", required=False, choices=DECLARED)
    ranks = forms.ChoiceField(label="Rank", required=False, choices=RANKS)

    def offer(self, rows: Iterable[Listed], *, kind_titles: Mapping[str, str]) -> None:
        """Offer the kinds and licences that the board's models have."""
        models = [row.model for row in rows]
        kinds = sorted({model.kind for model in models if model.kind})
        self.fields["kind"].widget = forms.Select(
            choices=[ANY, *((kind, kind_titles.get(kind, kind)) for kind in kinds)]
        )
        self.fields["licence"].widget = forms.Select(choices=licence_choices(models))
        self.fields["max_parameters"].widget = forms.Select(choices=parameter_choices())
        self.fields["max_dimension"].widget = forms.Select(
            choices=[ANY, *((limit, f"At most {limit}") for limit in DIMENSION_LIMITS)]
        )

    @property
    def filter(self) -> BoardFilter:
        """The filter of a valid form."""
        return BoardFilter(
            text=self.cleaned_data["q"].strip(),
            **{name: self.cleaned_data[name] for name in self.fields if name not in NO_FILTERS},
        )


def licence_choices(models: Sequence[PublishedModel]) -> list[tuple[str, str]]:
    """Any licence, any that permits commercial use, and those that the models have."""
    licences = sorted({model.licence for model in models if model.licence})
    return [ANY, (COMMERCIAL, "Permits commercial use"), *((name, name) for name in licences)]


def parameter_choices() -> list[tuple[int | str, str]]:
    """Any size, and the limits that are offered."""
    return [ANY, *((limit, f"At most {words}") for limit, words in PARAMETER_LIMITS)]
