"""How much of a suite a model can be asked, by what it reads."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leaderboard.models import Suite, Task
from leaderboard.models.vocabulary import EvidenceForm, Modality, PairingType, TaskKind

TEXT, IMAGE, VOLUME = "text", "image", "volume"
VOLUME_MODALITIES = frozenset({Modality.ABDOMINAL_CT})
"""Modalities of probing whose anchors are volumes."""


@dataclass(frozen=True, slots=True)
class Applicability:
    """Of a suite: how many of its installed tasks a model can be asked."""

    suite: Suite
    n_applicable: int
    n_installed: int

    @property
    def sentence(self) -> str:
        """What to tell the submitter, '' where every task applies."""
        if self.n_applicable == self.n_installed:
            return ""
        if self.n_applicable == 0:
            return (
                f"{self.suite.title} does not apply: none of its {self.n_installed} tasks can be asked of a model that"
                " reads only what this one reads. It is left out."
            )
        return (
            f"{self.suite.title}: {self.n_applicable} of {self.n_installed} tasks apply to what this model reads. The"
            " result is listed without a rank, with this coverage."
        )


def applicability(suites: Sequence[Suite], *, reads: Collection[str]) -> list[Applicability]:
    """For each suite, in order, how many of its installed tasks a model applies to that reads these kinds. One query.

    A task applies when the model reads all that its declaration says it consists of. What only the data tell, such as a
    question that comes with an image in a task of texts, is found when it runs.
    """
    found: dict[int, list[bool]] = {suite.pk: [] for suite in suites}
    tasks = Task.objects.filter(suite__in=suites, is_installed=True).only(
        "suite_id", "kind", "evidence_form", "pairing_type", "modality"
    )
    for task in tasks:
        found[task.suite_id].append(_needs(task) <= set(reads))
    return [Applicability(suite, sum(found[suite.pk]), len(found[suite.pk])) for suite in suites]


def _needs(task: Task) -> set[str]:
    if task.kind != TaskKind.RETRIEVAL:
        return {TEXT, VOLUME if task.modality in VOLUME_MODALITIES else IMAGE}
    if task.pairing_type == PairingType.TEXT_TEXT:
        return {TEXT}
    seen = VOLUME if task.evidence_form == EvidenceForm.VOLUME_3D else IMAGE
    return {seen, TEXT} if task.pairing_type == PairingType.IMAGE_TEXT else {seen}
