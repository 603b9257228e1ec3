"""Forms of administrators."""

from typing import Any

from django import forms
from django.http import QueryDict

from leaderboard.models import Run, SubmissionPause, Suite, Task, User
from leaderboard.models.vocabulary import ActKind, WorkerClass
from leaderboard.selectors.costs import CostsBy
from leaderboard.selectors.reruns import RerunScope

MOST_SUBMISSIONS = 100_000


class PauseForm(forms.Form):
    """Why no submissions are taken."""

    reason = forms.CharField(
        label="Reason, shown to everybody",
        max_length=SubmissionPause._meta.get_field("reason").max_length,  # noqa: SLF001 - public in spite of its name
        error_messages={"required": "Say why, so that people know what to expect."},
    )


class ReasonForm(forms.Form):
    """Why an administrator does something, kept in the log of acts."""

    reason = forms.CharField(
        label="Reason, kept in the log of acts",
        max_length=300,
        error_messages={"required": "Say why; it is kept in the log of acts."},
    )


class ClassPauseForm(ReasonForm):
    """The class of workers that takes no work for now."""

    worker_class = forms.ChoiceField(label="Class of workers", choices=WorkerClass.choices)


class ClassResumeForm(forms.Form):
    """The class of workers that takes work again."""

    worker_class = forms.ChoiceField(choices=WorkerClass.choices)


class LimitsForm(ReasonForm):
    """The limits of one person's submissions; an empty one means what the settings say."""

    username = forms.CharField(label="Person", max_length=150)
    per_day = forms.IntegerField(
        label="Submissions within 24 hours", required=False, min_value=0, max_value=MOST_SUBMISSIONS
    )
    at_once = forms.IntegerField(
        label="Waiting or running at once", required=False, min_value=0, max_value=MOST_SUBMISSIONS
    )
    field_order = ["username", "per_day", "at_once", "reason"]

    def clean_username(self) -> User:
        """The person of that name."""
        person = User.objects.filter(username=self.cleaned_data["username"]).first()
        if person is None:
            raise forms.ValidationError("There is no account of this name. Names are case-sensitive.")
        return person


class ActsForm(forms.Form):
    """Which acts of the log are shown."""

    kind = forms.ChoiceField(label="What", choices=[("", "Everything"), *ActKind.choices], required=False)
    actor = forms.CharField(label="By whom", max_length=200, required=False)
    words = forms.CharField(label="Words in subject or reason", max_length=200, required=False)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))


class CostsForm(forms.Form):
    """Over how many days costs are counted, and by what."""

    days = forms.TypedChoiceField(
        label="Over",
        choices=[(1, "1 day"), (7, "7 days"), (30, "30 days"), (365, "1 year")],
        coerce=int,
        required=False,
        empty_value=30,
    )
    by = forms.ChoiceField(label="By", choices=CostsBy.choices, required=False)

    def clean_by(self) -> CostsBy:
        """People unless something else was chosen."""
        return CostsBy(self.cleaned_data["by"] or CostsBy.PERSON)


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
