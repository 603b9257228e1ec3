"""Forms of administrators."""

from django import forms

from leaderboard.models import SubmissionPause


class PauseForm(forms.Form):
    """Why no submissions are taken."""

    reason = forms.CharField(
        label="Reason, shown to everybody",
        max_length=SubmissionPause._meta.get_field("reason").max_length,  # noqa: SLF001 - public in spite of its name
        error_messages={"required": "Say why, so that people know what to expect."},
    )


class RerunForm(forms.Form):
    """Which tasks to run again, and why."""

    ALL, FAILED = "all", "failed"

    scope = forms.ChoiceField(choices=[(ALL, "All tasks"), (FAILED, "Only failed tasks")])
    reason = forms.CharField(label="Reason, kept in the history", max_length=300, required=False)
