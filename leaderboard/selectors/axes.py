"""The axes on which tasks are grouped, each with its groups in the order in which they are shown."""

from collections.abc import Mapping

from django.db.models import TextChoices

from leaderboard.models.vocabulary import (
    AggregateScope,
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    PairingType,
    ReleaseGroup,
    Split,
)

CHOICES_OF: Mapping[AggregateScope, type[TextChoices]] = {
    AggregateScope.FAMILY: Family,
    AggregateScope.DOMAIN: Domain,
    AggregateScope.SPLIT: Split,
    AggregateScope.EVIDENCE_FORM: EvidenceForm,
    AggregateScope.PAIRING_TYPE: PairingType,
    AggregateScope.GRANULARITY: Granularity,
    AggregateScope.RELEASE_GROUP: ReleaseGroup,
}
"""The groups of each axis, in the order in which pages show the axes."""
