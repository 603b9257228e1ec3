"""Submitting a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from leaderboard.exceptions import DuplicateSubmission, PreflightFailed, SubmissionsPaused, SuiteMissing
from leaderboard.models import EmbeddingModel, ModelRevision, Priority, Run, Submission, SubmissionPause, Suite, User
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, RunState
from leaderboard.ports import PreflightReport
from leaderboard.services.quotas import quota_check
from leaderboard.services.runs import run_create
from leaderboard.services.sizes import smallest_class
from leaderboard.services.texts import fitted


@dataclass(frozen=True, slots=True)
class Existing:
    """A run that already answers a request."""

    run: Run

    @property
    def sentence(self) -> str:
        """What to tell the person who asked."""
        if self.run.is_active:
            return "This revision is being evaluated on this suite right now."
        return "This revision has already been evaluated on this suite."


def existing_run(*, report: PreflightReport, suite: Suite) -> Existing | None:
    """The active or succeeded run of exactly this revision and adapter on this suite, if there is one."""
    run = (
        Run.objects.filter(
            revision__model__repo_id__iexact=report.repo_id,
            revision__commit=report.commit,
            revision__adapter_repo_id=report.adapter_repo_id,
            revision__adapter_commit=report.adapter_commit,
            revision__encode_config_sha256="",
            suite=suite,
            state__in=[*ACTIVE_RUN_STATES, RunState.SUCCEEDED],
        )
        .order_by("-is_published", "-attempt")
        .first()
    )
    return Existing(run) if run else None


def submissions_create(
    *,
    submitter: User,
    report: PreflightReport,
    suites: Sequence[Suite],
    declared_training_data: Sequence[str] = (),
) -> list[Submission]:
    """Queue the evaluation of a revision on several suites, those left out that have been run on it already.

    Either all of them are queued or none.

    Raises:
        DuplicateSubmission: this revision was or is being evaluated on every one of the suites.
        SubmissionsPaused, PreflightFailed, SuiteMissing, QuotaExceeded: as `submission_create` says.
    """
    wanted = [suite for suite in suites if existing_run(report=report, suite=suite) is None]
    if not wanted:
        raise DuplicateSubmission("This revision was or is being evaluated on every chosen suite.")
    with transaction.atomic():
        return [
            submission_create(
                submitter=submitter, report=report, suite=suite, declared_training_data=declared_training_data
            )
            for suite in wanted
        ]


def submission_create(
    *,
    submitter: User,
    report: PreflightReport,
    suite: Suite,
    declared_training_data: Sequence[str] = (),
    priority: Priority = Priority.VISITOR,
) -> Submission:
    """Queue the evaluation of a revision that passed preflight.

    Raises:
        SubmissionsPaused: an administrator paused submissions.
        PreflightFailed: the report has problems, or no class of workers holds the model.
        SuiteMissing: the suite has no installed task.
        QuotaExceeded: this person has submitted as much as they may for now.
        DuplicateSubmission: this revision was or is being evaluated on this suite.
    """
    _refuse_when_paused()
    if not report.passed:
        raise PreflightFailed(" ".join(problem.message for problem in report.problems))
    if not suite.tasks.filter(is_installed=True).exists():
        raise SuiteMissing(f"The data of {suite.title} are not installed on this board's workers yet.")
    worker_class = smallest_class(parameters=report.parameters, gpu_dtype=report.gpu_dtype)
    try:
        with transaction.atomic():
            quota_check(submitter)
            revision = _revision_for(report)
            if existing := existing_run(report=report, suite=suite):
                raise DuplicateSubmission(existing.sentence)
            submission = Submission.objects.create(
                revision=revision,
                suite=suite,
                submitter=submitter,
                declared_training_data=list(declared_training_data),
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


def _refuse_when_paused() -> None:
    pause = SubmissionPause.objects.filter(is_open=True).first()
    if pause:
        raise SubmissionsPaused(f"Submissions are paused: {pause.reason} Please come back later.")


def _length(field: str) -> int:
    return EmbeddingModel._meta.get_field(field).max_length or 0  # noqa: SLF001 - public in spite of its name


def _revision_for(report: PreflightReport) -> ModelRevision:
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
        encode_config_sha256="",
    )
    return revision
