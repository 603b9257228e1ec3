"""The form that makes an API token."""

from django import forms

from leaderboard.models import ApiToken
from leaderboard.models.vocabulary import ApiScope

LIFETIMES = ((30, "30 days"), (90, "90 days"), (365, "One year"))


class ApiTokenForm(forms.Form):
    """Name, scopes and lifetime."""

    name = forms.CharField(
        label="Name",
        max_length=ApiToken._meta.get_field("name").max_length,  # noqa: SLF001 - public in spite of its name
        help_text="For you alone: what the token is for.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=ApiScope.choices,
        initial=[ApiScope.READ],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one thing that the token may be used for."},
    )
    days = forms.TypedChoiceField(label="It works for", choices=LIFETIMES, coerce=int, initial=90)

    def clean_scopes(self) -> list[ApiScope]:
        """The scopes as such."""
        return [ApiScope(scope) for scope in self.cleaned_data["scopes"]]
