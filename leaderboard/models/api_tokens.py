"""Keys with which programs act for a person."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from leaderboard.models.vocabulary import HEX_64, ApiScope, matches


class ApiToken(models.Model):
    """A token for the API. Its secret is shown once and never stored: only its SHA-256 is.

    A slow hash, as passwords need, would protect nothing here: the secret has 256 random bits, which nobody finds by
    trying, and a fast hash lets a request find its token through an index. `prefix` is the secret's beginning, by
    which a person recognises it. `last_used_on` is a day only, so that using a token writes once a day.
    `is_expiry_recorded`: the log of acts says that it has expired.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=16)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=16, choices=ApiScope))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_on = models.DateField(null=True)
    is_expiry_recorded = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="api_token_has_name"),
            models.CheckConstraint(condition=Q(prefix__startswith="mb_"), name="api_token_prefix_form"),
            matches("secret_sha256", HEX_64, name="api_token_secret_sha256_hex"),
            models.CheckConstraint(
                condition=Q(scopes__contained_by=ApiScope.values, scopes__len__gte=1), name="api_token_scopes_known"
            ),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="api_token_expires_later"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"
