"""Where the board's rules for accounts differ from django-allauth's."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.stages import EmailVerificationStage
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse

from leaderboard.services.accounts import DELETED_PREFIX


class VerifyGivenAddress(EmailVerificationStage):
    """Asks for the verification of an address; an account without any, such as an administrator's, goes on."""

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Let pass who has no address to verify."""
        user = self.login.user
        if user is not None and not user.email and not user.emailaddress_set.exists():
            return None, True
        return super().handle()


class AccountAdapter(DefaultAccountAdapter):
    """Names that nobody may take, and sign-in for accounts without an address."""

    def clean_username(self, username: str, shallow: bool = False) -> str:  # noqa: FBT001, FBT002 - allauth's signature
        """Refuse what stands for deleted accounts, besides what allauth refuses."""
        if username.lower().startswith(DELETED_PREFIX):
            raise ValidationError(f"A name can't begin with {DELETED_PREFIX}. Choose another.")
        return super().clean_username(username, shallow=shallow)

    def get_login_stages(self) -> list[str]:
        """The stages of signing in, the verification of addresses by our rule."""
        ours = f"{VerifyGivenAddress.__module__}.{VerifyGivenAddress.__qualname__}"
        theirs = f"{EmailVerificationStage.__module__}.{EmailVerificationStage.__qualname__}"
        return [ours if stage == theirs else stage for stage in super().get_login_stages()]


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """A provider that is not configured has no addresses."""

    def get_app(self, request: HttpRequest, provider: str, client_id: str | None = None) -> Any:
        """The provider's application.

        Raises:
            Http404: there is none.
        """
        try:
            return super().get_app(request, provider, client_id=client_id)
        except SocialApp.DoesNotExist as error:
            raise Http404("Signing in with this provider is not set up here.") from error
