"""What a visitor can ask of a board."""

from collections.abc import Iterable
from dataclasses import dataclass

from django import forms

from leaderboard.selectors.boards import BoardRow
from leaderboard.selectors.published import PublishedModel

PARAMETER_LIMITS = ((10**8, "100 M"), (5 * 10**8, "500 M"), (10**9, "1 B"), (3 * 10**9, "3 B"), (10**10, "10 B"))


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """Which rows to show. Empty values and None do not filter."""

    text: str = ""
    kind: str = ""
    licence: str = ""
    max_parameters: int | None = None

    @property
    def is_set(self) -> bool:
        """Whether any row can be left out."""
        return self != BoardFilter()

    def accepts(self, model: PublishedModel) -> bool:
        """Whether a model's row is shown. A model of unknown size is not under any limit."""
        return (
            self.text.lower() in model.repo_id.lower()
            and self.kind in {"", model.kind}
            and self.licence in {"", model.licence}
            and (
                self.max_parameters is None
                or (model.parameters is not None and model.parameters <= self.max_parameters)
            )
        )


class BoardFilterForm(forms.Form):
    """The filters above a board. Choices come from the models on it; a value that no model has finds no row."""

    q = forms.CharField(
        label="Model",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "Part of a name"}),
    )
    kind = forms.CharField(label="Kind", required=False, max_length=64)
    max_parameters = forms.IntegerField(label="Parameters", required=False, min_value=1, max_value=10**15)
    licence = forms.CharField(label="Licence", required=False, max_length=128)

    def offer(self, rows: Iterable[BoardRow], *, kind_titles: dict[str, str]) -> None:
        """Offer the kinds and licences that the board's models have."""
        models = [row.model for row in rows]
        kinds = sorted({model.kind for model in models if model.kind})
        licences = sorted({model.licence for model in models if model.licence})
        self.fields["kind"].widget = forms.Select(
            choices=[("", "Any"), *((kind, kind_titles.get(kind, kind)) for kind in kinds)]
        )
        self.fields["licence"].widget = forms.Select(choices=[("", "Any"), *((name, name) for name in licences)])
        self.fields["max_parameters"].widget = forms.Select(
            choices=[("", "Any"), *((limit, f"At most {words}") for limit, words in PARAMETER_LIMITS)]
        )

    @property
    def filter(self) -> BoardFilter:
        """The filter of a valid form."""
        return BoardFilter(
            text=self.cleaned_data["q"].strip(),
            kind=self.cleaned_data["kind"],
            licence=self.cleaned_data["licence"],
            max_parameters=self.cleaned_data["max_parameters"],
        )
