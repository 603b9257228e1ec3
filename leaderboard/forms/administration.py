"""Forms of administrators."""

from typing import Any

from django import forms
from django.http import QueryDict

from leaderboard.models import Run, SubmissionPause, Suite, Task
from leaderboard.selectors.reruns import RerunScope


class PauseForm(forms.Form):
    """Why no submissions are taken."""

    reason = forms.CharField(
        label="Reason, shown to everybody",
        max_length=SubmissionPause._meta.get_field("reason").max_length,  # noqa: SLF001 - public in spite of its name
        error_messages={"required": "Say why, so that people know what to expect."},
    )


class RerunForm(forms.Form):
    """What to run again: given runs, or with a suite every published revision on it; and which of the tasks."""

    run = forms.ModelMultipleChoiceField(
        queryset=Run.objects.all(), required=False, error_messages={"invalid_choice": "There is no run %(value)s."}
    )
    suite = forms.ModelChoiceField(
        queryset=Suite.objects.filter(is_live=True),
        to_field_name="slug",
        required=False,
        empty_label=None,
        label="Suite, of which every published model runs again",
        error_messages={"invalid_choice": "There is no such suite any more."},
    )
    scope = forms.ChoiceField(
        choices=RerunScope.choices, label="What runs again", error_messages={"required": "Choose what runs again."}
    )
    task = forms.MultipleChoiceField(required=False, label="Chosen tasks")
    reason = forms.CharField(label="Reason, kept in the history", max_length=300, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = self.data.getlist("task") if isinstance(self.data, QueryDict) else []
        known = Task.objects.filter(name__in=names, is_installed=True).values_list("name", flat=True)
        self.fields["task"].choices = [(name, name) for name in known]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "run" in cleaned and "suite" in cleaned and bool(cleaned["run"]) == bool(cleaned["suite"]):
            raise forms.ValidationError("Name either runs or a suite.")
        if cleaned.get("scope") == RerunScope.TASKS and not cleaned.get("task") and "task" not in self.errors:
            self.add_error("task", "Choose at least one task, or let all tasks run again.")
        return cleaned
