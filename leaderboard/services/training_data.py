"""What is said of the data that models were trained on."""

from collections.abc import Sequence

from django.db import transaction

from leaderboard import queue
from leaderboard.exceptions import TrainingDataUnknown, TransitionRefused
from leaderboard.models import EmbeddingModel, Run, TrainingDataMark, User
from leaderboard.models.vocabulary import ActKind, TrainingDataStatement, TrainingVerdict
from leaderboard.selectors.catalogue import LISTED
from leaderboard.selectors.training_data import known_datasets
from leaderboard.services.acts import act_record


def training_data_check(statement: TrainingDataStatement | None, declared: Sequence[str]) -> TrainingDataStatement:
    """What a declaration amounts to: the statement given, or else what the list of data sets implies.

    Raises:
        TrainingDataUnknown: a data set is in no suite of the board, or the list contradicts the statement.
    """
    if statement is None:
        statement = TrainingDataStatement.LISTED if declared else TrainingDataStatement.UNKNOWN
    if (statement == TrainingDataStatement.LISTED) != bool(declared):
        raise TrainingDataUnknown(
            "Name the data sets that the model was trained on, or say that it was trained on none of them or that you do"
            " not know."
        )
    _refuse_unknown(declared)
    return TrainingDataStatement(statement)


def _refuse_unknown(declared: Sequence[str]) -> None:
    known = {dataset.name for dataset in known_datasets()} if declared else set()
    if unknown := sorted(set(declared) - known):
        raise TrainingDataUnknown(
            f"No suite of this board is made of {', '.join(unknown)[:200]}; leave it out, or choose among those listed."
        )


@transaction.atomic
def training_data_mark(
    *, model_id: int, dataset: str, verdict: TrainingVerdict, reason: str, actor: User
) -> TrainingDataMark:
    """Record what an administrator found about a model and a data set, in the place of what was found before.

    Raises:
        TrainingDataUnknown: no suite is made of the data set.
    """
    _refuse_unknown([dataset])
    model = EmbeddingModel.objects.select_for_update().get(pk=model_id)
    TrainingDataMark.objects.filter(model=model, dataset=dataset, is_current=True).update(is_current=False)
    mark = TrainingDataMark.objects.create(
        model=model, dataset=dataset, verdict=verdict, reason=reason, marked_by=actor
    )
    details = {"dataset": dataset, "verdict": verdict}
    act_record(actor=actor.get_username(), kind=ActKind.CONTAMINATION, subject=model, reason=reason, details=details)
    _boards_ring(model)
    return mark


@transaction.atomic
def training_data_mark_lift(*, mark_id: int, actor: User) -> TrainingDataMark:
    """Let a finding stand no more; what the submitters declared holds again.

    Raises:
        TransitionRefused: it stands no more already.
    """
    mark = TrainingDataMark.objects.select_for_update().get(pk=mark_id)
    if not mark.is_current:
        raise TransitionRefused("This finding was replaced or lifted before.")
    mark.is_current = False
    mark.save(update_fields=["is_current"])
    details = {"dataset": mark.dataset, "verdict": mark.verdict, "lifted": True}
    act_record(actor=actor.get_username(), kind=ActKind.CONTAMINATION, subject=mark.model, details=details)
    _boards_ring(mark.model)
    return mark


def _boards_ring(model: EmbeddingModel) -> None:
    """Have the boards that a model stands on made anew."""
    for suite_id in set(
        Run.objects.filter(LISTED, revision__model=model, suite__is_live=True).values_list("suite_id", flat=True)
    ):
        queue.ring_snapshot(suite_id)
