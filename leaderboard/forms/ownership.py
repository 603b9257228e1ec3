"""Forms of owners and administrators about whose a repository is."""

from django import forms

from leaderboard.forms.addresses import AddressInvalid, read_repository


class RepositoryForm(forms.Form):
    """A repository on the hub, by its name or the address of its page."""

    repo_id = forms.CharField(
        label="Repository on the hub",
        max_length=400,
        help_text="owner/name, or the address of its page.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages={"required": "Name the repository: owner/name."},
    )

    def clean_repo_id(self) -> str:
        """The name without what else a pasted address has."""
        try:
            return read_repository(self.cleaned_data["repo_id"]).repo_id
        except AddressInvalid as error:
            raise forms.ValidationError(str(error)) from error
