"""Submitting a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Case, Q, When

from leaderboard.exceptions import (
    DuplicateSubmission,
    PreflightFailed,
    SubmissionsPaused,
    SuiteInapplicable,
    SuiteMissing,
    TransitionRefused,
)
from leaderboard.models import EmbeddingModel, ModelRevision, Priority, Run, Submission, SubmissionPause, Suite, User
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, RunState, TrainingDataStatement
from leaderboard.ports import EncodeConfigChoice, PreflightReport
from leaderboard.selectors.applicability import applicability
from leaderboard.selectors.visibility import PRIVATE
from leaderboard.services.ownership import owner_wish_check
from leaderboard.services.publishing import run_publish_first
from leaderboard.services.quotas import quota_check
from leaderboard.services.runs import run_create, run_lock
from leaderboard.services.sizes import smallest_class
from leaderboard.services.texts import fitted
from leaderboard.services.training_data import training_data_check


@dataclass(frozen=True, slots=True)
class Existing:
    """A run that already answers a request. `is_visible`: the person who asked may see it."""

    run: Run
    is_visible: bool = True

    @property
    def sentence(self) -> str:
        """What to tell the person who asked."""
        if not self.is_visible:
            return "This revision can't be submitted to this suite at the moment. Try again in an hour."
        if self.run.is_active:
            return "This revision is being evaluated on this suite right now."
        return "This revision has already been evaluated on this suite."


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person decides about a submission besides the model and the suite.

    `encode_config` None is the default. `training_data` None stands for what `declared_training_data` implies: some data
    sets, or nothing known.
    """

    encode_config: EncodeConfigChoice | None = None
    declared_training_data: Sequence[str] = ()
    training_data: TrainingDataStatement | None = None
    is_private: bool = False

    @property
    def encode_config_sha256(self) -> str:
        """As a revision stores it."""
        return self.encode_config.sha256 if self.encode_config else ""


NO_WISHES = Wishes()


def existing_run(
    *, report: PreflightReport, suite: Suite, submitter: User, encode_config_sha256: str = ""
) -> Existing | None:
    """The active or succeeded run of exactly this revision, adapter and encode config on this suite, if there is one.

    What somebody else keeps private does not answer a request; while it runs it stands in the way of one.
    """
    run = (
        Run.objects.filter(
            revision__model__repo_id__iexact=report.repo_id,
            revision__commit=report.commit,
            revision__adapter_repo_id=report.adapter_repo_id,
            revision__adapter_commit=report.adapter_commit,
            revision__encode_config_sha256=encode_config_sha256,
            suite=suite,
            state__in=[*ACTIVE_RUN_STATES, RunState.SUCCEEDED],
        )
        .annotate(is_visible=Case(When(~PRIVATE | Q(submission__submitter=submitter.pk), then=True), default=False))
        .filter(Q(is_visible=True) | Q(state__in=ACTIVE_RUN_STATES))
        .order_by("-is_published", "-attempt")
        .first()
    )
    return Existing(run, run.is_visible) if run else None


def submissions_create(
    *,
    submitter: User,
    report: PreflightReport,
    suites: Sequence[Suite],
    wishes: Wishes = NO_WISHES,
) -> list[Submission]:
    """Queue the evaluation of a revision on several suites.

    Those that have been run on it already are left out, and so are those that do not apply to it. Either all of the
    others are queued or none.

    Raises:
        DuplicateSubmission: this revision was or is being evaluated on every one of the suites that apply.
        SuiteInapplicable: none of the suites applies.
        SubmissionsPaused, PreflightFailed, SuiteMissing, QuotaExceeded, OwnerOptedOut, TrainingDataUnknown: as
            `submission_create` says.
    """
    measures = applicability(suites, reads=_chosen(report, wishes).reads)
    fitting = [measure.suite for measure in measures if measure.n_applicable or not measure.n_installed]
    if not fitting:
        raise SuiteInapplicable(" ".join(measure.sentence for measure in measures))
    sha256 = wishes.encode_config_sha256
    wanted = [
        suite
        for suite in fitting
        if existing_run(report=report, suite=suite, submitter=submitter, encode_config_sha256=sha256) is None
    ]
    if not wanted:
        raise DuplicateSubmission("This revision was or is being evaluated on every chosen suite.")
    with transaction.atomic():
        return [submission_create(submitter=submitter, report=report, suite=suite, wishes=wishes) for suite in wanted]


def submission_create(
    *,
    submitter: User,
    report: PreflightReport,
    suite: Suite,
    wishes: Wishes = NO_WISHES,
    priority: Priority = Priority.VISITOR,
) -> Submission:
    """Queue the evaluation of a revision that passed preflight.

    Raises:
        SubmissionsPaused: an administrator paused submissions.
        PreflightFailed: the report has problems, or no class of workers holds the model.
        OwnerOptedOut: the owner of the repository does not want it here.
        TrainingDataUnknown: a declared data set is in no suite, or the list contradicts the statement.
        SuiteMissing: the suite has no installed task.
        SuiteInapplicable: no installed task of the suite applies to what the model reads.
        QuotaExceeded: this person has submitted as much as they may for now.
        DuplicateSubmission: this revision was or is being evaluated on this suite.
    """
    _refuse_when_paused()
    if not report.passed:
        raise PreflightFailed(" ".join(problem.message for problem in report.problems))
    owner_wish_check(report.repo_id, report.adapter_repo_id)
    statement = training_data_check(wishes.training_data, wishes.declared_training_data)
    _refuse_inapplicable(suite, report, wishes)
    chosen = _chosen(report, wishes)
    worker_class = smallest_class(parameters=report.parameters, gpu_dtype=chosen.number_type)
    sha256 = wishes.encode_config_sha256
    try:
        with transaction.atomic():
            quota_check(submitter)
            revision = _revision_for(report, encode_config_sha256=sha256)
            if existing := existing_run(report=report, suite=suite, submitter=submitter, encode_config_sha256=sha256):
                raise DuplicateSubmission(existing.sentence)
            submission = Submission.objects.create(
                revision=revision,
                suite=suite,
                submitter=submitter,
                training_data=statement,
                declared_training_data=sorted(set(wishes.declared_training_data)),
                is_private=wishes.is_private,
            )
            run_create(
                revision=revision,
                suite=suite,
                requested_by=submitter,
                submission=submission,
                priority=priority,
                worker_class=worker_class,
            )
    except IntegrityError as error:
        raise DuplicateSubmission("Somebody submitted this revision at the same moment.") from error
    return submission


def submission_publish(*, submission_id: UUID, actor: str) -> Submission:
    """Make a private submission public: its result now if it has one, else as soon as it has.

    Raises:
        TransitionRefused: it is not private, or another result of its revision stands on the boards.
    """
    try:
        with transaction.atomic():
            return _publish(Submission.objects.select_for_update().get(pk=submission_id), actor=actor)
    except IntegrityError as error:
        raise TransitionRefused(ANOTHER_STANDS) from error


ANOTHER_STANDS = (
    "Somebody else's result of this revision stands on the boards already. Results there are only replaced by an"
    " administrator; ask one to compare the two."
)


def _publish(submission: Submission, *, actor: str) -> Submission:
    if not submission.is_private:
        raise TransitionRefused("This submission is public already.")
    same = Run.objects.filter(revision=submission.revision_id, suite=submission.suite_id)
    if same.filter(is_published=True).exists():
        raise TransitionRefused(ANOTHER_STANDS)
    submission.is_private = False
    submission.save(update_fields=["is_private"])
    newest = submission.runs.filter(state=RunState.SUCCEEDED).order_by("-attempt").first()
    if newest is not None:
        run_publish_first(run_lock(newest.pk), actor=actor)
    return submission


def _chosen(report: PreflightReport, wishes: Wishes) -> EncodeConfigChoice:
    """The way to encode that a submission asks for."""
    if wishes.encode_config is not None:
        return wishes.encode_config
    if report.encode_configs:
        return report.encode_configs[0]
    return EncodeConfigChoice(name="", number_type=report.gpu_dtype)


def _refuse_inapplicable(suite: Suite, report: PreflightReport, wishes: Wishes) -> None:
    (measure,) = applicability([suite], reads=_chosen(report, wishes).reads)
    if not measure.n_installed:
        raise SuiteMissing(f"The data of {suite.title} are not installed on this board's workers yet.")
    if not measure.n_applicable:
        raise SuiteInapplicable(measure.sentence)


def _refuse_when_paused() -> None:
    pause = SubmissionPause.objects.filter(is_open=True).first()
    if pause:
        raise SubmissionsPaused(f"Submissions are paused: {pause.reason} Please come back later.")


def _length(field: str) -> int:
    return EmbeddingModel._meta.get_field(field).max_length or 0  # noqa: SLF001 - public in spite of its name


def _revision_for(report: PreflightReport, *, encode_config_sha256: str) -> ModelRevision:
    """The stored revision of a report, made if new. What the hub says of the model is brought up to date."""
    model = EmbeddingModel.objects.select_for_update().filter(repo_id__iexact=report.repo_id).first()
    if model is None:
        model = EmbeddingModel(repo_id=report.repo_id)
    model.family = report.family
    model.architecture = fitted(report.architecture, most=_length("architecture"))
    model.licence = fitted(report.licence, most=_length("licence"))
    model.parameters = report.parameters
    model.gated = report.gated
    model.save()
    revision, _ = ModelRevision.objects.get_or_create(
        model=model,
        commit=report.commit,
        adapter_repo_id=report.adapter_repo_id,
        adapter_commit=report.adapter_commit,
        encode_config_sha256=encode_config_sha256,
    )
    return revision
