"""Forms of a person's own account."""

from typing import Any

from django import forms

from leaderboard.models import User


class AccountDeletionForm(forms.Form):
    """What shows that it is meant: the name, and the password where there is one."""

    username = forms.CharField(
        label="Your user name, to show that you mean it",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    password = forms.CharField(
        label="Password",
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user
        if not user.has_usable_password():
            del self.fields["password"]

    def clean_username(self) -> str:
        """The account's own name."""
        if self.cleaned_data["username"] != self._user.get_username():
            raise forms.ValidationError("This is not the name of your account.")
        return self.cleaned_data["username"]

    def clean_password(self) -> str:
        """The account's own password."""
        if not self._user.check_password(self.cleaned_data["password"]):
            raise forms.ValidationError("This is not your password.")
        return self.cleaned_data["password"]
