"""Deleting an account."""

import secrets

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.db.models import Q

from leaderboard.exceptions import TransitionRefused
from leaderboard.models import (
    Delivery,
    EmbeddingModel,
    ModelRevision,
    NotificationSettings,
    OwnerClaim,
    Run,
    RunEvent,
    Submission,
    User,
)
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES
from leaderboard.services.api_tokens import api_tokens_revoke_all

DELETED_PREFIX = "deleted-"
NAME_BYTES = 6


@transaction.atomic
def account_delete(*, user: User) -> User:
    """Delete an account: what is private vanishes, what is public stays under a name that says nothing.

    Private submissions with all of their runs, addresses, connected accounts, claims of ownership and messages are
    deleted, tokens are revoked, and no session of an account that is not active counts. The row itself stays, without a
    password and anything that tells of the person, because published results and their history refer to it. The log of
    acts, which nobody can change, keeps the lines that name the account.

    Raises:
        TransitionRefused: the account is an administrator's, or a submission of it waits or runs.
    """
    person = User.objects.select_for_update().get(pk=user.pk)
    if person.is_staff:
        raise TransitionRefused("An administrator's account can't be deleted here; give up the rights first.")
    if Run.objects.filter(submission__submitter=person, state__in=ACTIVE_RUN_STATES).exists():
        raise TransitionRefused("Submissions of yours wait or run. Cancel them, or wait until they have ended.")
    api_tokens_revoke_all(user=person)
    _delete_private(person)
    for rows in (EmailAddress, SocialAccount, NotificationSettings):
        rows.objects.filter(user=person).delete()
    Delivery.objects.filter(recipient=person).delete()
    OwnerClaim.objects.filter(claimant=person).delete()
    return _anonymise(person)


def _delete_private(person: User) -> None:
    """Delete what was never public, and the names of models that nothing else mentions."""
    private = Submission.objects.filter(submitter=person, is_private=True)
    revisions = list(private.values_list("revision", flat=True))
    Run.objects.filter(submission__in=private).delete()
    private.delete()
    unused = ModelRevision.objects.filter(pk__in=revisions, runs__isnull=True, submissions__isnull=True)
    models = list(unused.values_list("model", flat=True))
    unused.delete()
    EmbeddingModel.objects.filter(
        Q(owner_opted_out=False), pk__in=models, revisions__isnull=True, training_data_marks__isnull=True
    ).delete()


def _anonymise(person: User) -> User:
    name = f"{DELETED_PREFIX}{secrets.token_hex(NAME_BYTES)}"
    RunEvent.objects.filter(actor=person.username).update(actor=name)
    person.username, person.email = name, ""
    person.first_name = person.last_name = ""
    person.submissions_per_day = person.submissions_at_once = None
    person.last_login = None
    person.is_active = False
    person.set_unusable_password()
    person.save()
    person.groups.clear()
    person.user_permissions.clear()
    return person
