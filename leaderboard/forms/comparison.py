"""Which models to compare."""

from collections.abc import Sequence
from uuid import UUID

from django import forms
from django.http import QueryDict

MOST_COMPARED = 4
FEWEST_COMPARED = 2


class ComparisonForm(forms.Form):
    """Up to four of a board's models, each by its run; the first is what the others are compared to."""

    run = forms.TypedMultipleChoiceField(coerce=UUID, required=False)

    def __init__(self, parameters: QueryDict, *, models: Sequence[tuple[UUID, str]]) -> None:
        chosen = parameters.copy()
        chosen.setlist("run", list(dict.fromkeys(run for run in parameters.getlist("run") if run)))
        super().__init__(chosen)
        self.options = [(str(run_id), title) for run_id, title in models]
        self.fields["run"].choices = self.options

    def clean_run(self) -> list[UUID]:
        """The chosen runs, each once."""
        runs: list[UUID] = self.cleaned_data["run"]
        if len(runs) > MOST_COMPARED:
            raise forms.ValidationError(f"Choose at most {MOST_COMPARED} models.")
        return runs

    @property
    def slots(self) -> list[str]:
        """What each of the four fields holds: a run, or nothing."""
        chosen = self.data.getlist("run")[:MOST_COMPARED]
        return [*chosen, *[""] * (MOST_COMPARED - len(chosen))]
