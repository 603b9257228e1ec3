"""The form in which a person says how to be told."""

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from leaderboard.models import NotificationSettings


def _webhook_address(value: str) -> None:
    schemes = ["https", "http"] if settings.WEBHOOKS_TO_PRIVATE_ADDRESSES else ["https"]
    try:
        URLValidator(schemes=schemes)(value)
    except ValidationError as error:
        raise ValidationError("Give an address of the form https://host/path.") from error


class NotificationForm(forms.Form):
    """E-mail and webhook. Whether the webhook's host may be used is checked when it is sent to, not here."""

    by_email = forms.BooleanField(label="E-mail me when a submission has been evaluated or has failed", required=False)
    webhook_url = forms.CharField(
        label="Webhook",
        required=False,
        max_length=NotificationSettings._meta.get_field("webhook_url").max_length,  # noqa: SLF001 - public in spite of its name
        help_text="An address on the public internet that takes a signed POST request. Empty: none.",
        validators=[_webhook_address],
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
