"""Every rule that the database keeps: a row that breaks it is refused, by name."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from leaderboard.models import (
    Act,
    AggregateScore,
    ApiToken,
    BoardSnapshot,
    BoardTable,
    ChildLog,
    Delivery,
    EmbeddingModel,
    Gallery,
    GalleryItem,
    ModelRevision,
    NotificationSettings,
    OwnerClaim,
    Run,
    RunComparison,
    RunEvent,
    Score,
    Submission,
    SubmissionPause,
    Suite,
    Task,
    TaskExample,
    TaskRun,
    TrainingDataMark,
    Worker,
    WorkerClassPause,
)
from leaderboard.models.examples import EXAMPLE_CHARACTERS, EXAMPLE_IMAGE_BYTES
from leaderboard.models.gallery import GALLERY_TEXT_CHARACTERS, MAX_DIMENSION, PICTURE_BYTES
from leaderboard.models.vocabulary import RunState, TaskRunState
from tests.factories import make_cell, make_published_run, make_revision, make_run, make_suite, make_task, make_user

pytestmark = pytest.mark.django_db


def update(queryset: models.QuerySet, **values: Any) -> None:
    queryset.update(**values)


def any_task() -> models.QuerySet:
    return Task.objects.filter(pk=make_suite(n_tasks=1).tasks.get().pk)


def any_cell(**facts: Any) -> models.QuerySet:
    suite = Suite.objects.create(slug="probes", version="1", title="Probes", kind="probing", synthetic=False)
    return Task.objects.filter(pk=make_cell(suite, **facts).pk)


def any_run(state: RunState = RunState.QUEUED) -> models.QuerySet:
    return Run.objects.filter(pk=make_run(state=state).pk)


def any_task_run() -> models.QuerySet:
    return TaskRun.objects.filter(pk=make_run(suite=make_suite(n_tasks=1)).task_runs.get().pk)


def any_score() -> models.QuerySet:
    return Score.objects.filter(task_run__run=make_published_run(suite=make_suite(n_tasks=1)))


def any_aggregate(**filters: Any) -> models.QuerySet:
    return AggregateScore.objects.filter(run=make_published_run(suite=make_suite(n_tasks=1)), **filters)


def any_revision() -> models.QuerySet:
    return ModelRevision.objects.filter(pk=make_revision().pk)


def any_token(**facts: Any) -> models.QuerySet:
    defaults = {"name": "n", "prefix": "mb_abcdef", "secret_sha256": "0" * 64, "scopes": ["read"]}
    expires = {"user": make_user(), "expires_at": timezone.now() + timedelta(days=1)}
    return ApiToken.objects.filter(pk=ApiToken.objects.create(**{**defaults, **expires, **facts}).pk)


def second_run(first: Run, **facts: Any) -> Run:
    return Run.objects.create(
        revision=first.revision, suite=first.suite, requested_by=first.requested_by, **{"attempt": 2, **facts}
    )


def pause_of_class(**facts: Any) -> None:
    WorkerClassPause.objects.create(**{"worker_class": "cpu", "reason": "a", "started_by": make_user(), **facts})


def two_submissions() -> None:
    facts = {"revision": make_revision(), "suite": make_suite(), "submitter": make_user()}
    Submission.objects.create(**facts)
    Submission.objects.create(**facts)


def two_pauses() -> None:
    SubmissionPause.objects.create(reason="a", started_by=make_user())
    SubmissionPause.objects.create(reason="b", started_by=make_user())


def two_published_runs() -> None:
    first = make_published_run(suite=make_suite(n_tasks=1))
    now = timezone.now()
    second_run(first, state=RunState.SUCCEEDED, is_published=True, published_at=now, finished_at=now)


def same_revision_twice() -> None:
    revision = make_revision()
    ModelRevision.objects.create(model=revision.model, commit=revision.commit)


def two_main_scores() -> None:
    score = any_score().get()
    Score.objects.create(task_run=score.task_run, metric="hit@5", value=0.5, is_main=True)


def same_score_twice() -> None:
    score = any_score().get()
    Score.objects.create(task_run=score.task_run, metric=score.metric, value=0.5)


def same_aggregate_twice() -> None:
    aggregate = any_aggregate(scope="overall", metric="hit@1").get()
    aggregate.pk = None
    aggregate.save()


def two_current_snapshots() -> None:
    facts = {"suite": make_suite(n_tasks=1), "runs": [], "tasks": [], "content": {}, "differences": {}}
    BoardSnapshot.objects.create(**facts)
    BoardSnapshot.objects.create(**facts)


def board_table(snapshot: BoardSnapshot | None = None, **facts: Any) -> BoardTable:
    if snapshot is None:
        suite = {"suite": make_suite(n_tasks=1), "runs": [], "tasks": [], "content": {}, "differences": {}}
        snapshot = BoardSnapshot.objects.create(**suite)
    defaults = {"scope": "overall", "key": "", "content": {}, "etag": "a" * 64}
    return BoardTable.objects.create(snapshot=snapshot, **{**defaults, **facts})


def same_board_twice() -> None:
    board_table(snapshot=board_table().snapshot)


def delivery(run: Run | None = None, **facts: Any) -> Delivery:
    run = run or make_run(suite=make_suite(n_tasks=1))
    defaults = {"channel": "email", "outcome": "failed", "address": "a@example.org", "content": {}}
    return Delivery.objects.create(
        run=run, recipient=run.requested_by, next_attempt_at=timezone.now(), **{**defaults, **facts}
    )


def same_delivery_twice() -> None:
    delivery(delivery().run)


def same_child_log_twice() -> None:
    run = make_run(suite=make_suite(n_tasks=1))
    for text in ("a", "b"):
        ChildLog.objects.create(run=run, worker="w1", text=text)


def submission(**facts: Any) -> Submission:
    return Submission.objects.create(revision=make_revision(), suite=make_suite(), submitter=make_user(), **facts)


def claim(**facts: Any) -> OwnerClaim:
    return OwnerClaim.objects.create(**{"repo_id": "lab/model", "token": "a", "claimant": make_user(), **facts})


def same_claim_twice() -> None:
    claim(repo_id="LAB/model", token="b", claimant=claim().claimant)


def mark(**facts: Any) -> TrainingDataMark:
    defaults = {"dataset": "made_up", "verdict": "trained", "reason": "its paper", "marked_by": make_user()}
    return TrainingDataMark.objects.create(**{"model": make_revision().model, **defaults, **facts})


def same_mark_twice() -> None:
    mark(model=mark().model)


def comparison_with_itself() -> None:
    run = make_run(suite=make_suite(n_tasks=1))
    RunComparison.objects.create(run=run, baseline=run, rows=[])


def example(**facts: Any) -> TaskExample:
    return TaskExample.objects.create(task=facts.pop("task", None) or any_task().get(), **{"record": 0, **facts})


def same_example_twice() -> None:
    TaskExample.objects.create(task=example().task, record=0)


def gallery(**facts: Any) -> Gallery:
    defaults = {"suite_slug": "s", "synthetic": True, "model_key": "k", "model_name": "m", "dimension": 2}
    return Gallery.objects.create(**{**defaults, **facts})


def gallery_item(**facts: Any) -> GalleryItem:
    defaults = {"key": "k", "kind": "image", "family": "image_to_label", "domain": "neuro", "embedding": [0.0, 1.0]}
    return GalleryItem.objects.create(gallery=facts.pop("gallery", None) or gallery(), **{**defaults, **facts})


def same_gallery_twice() -> None:
    gallery()
    gallery()


def same_gallery_item_twice() -> None:
    gallery_item(gallery=gallery_item().gallery)


FORBIDDEN: dict[str, Callable[[], Any]] = {
    "api_token_has_name": lambda: any_token(name=""),
    "api_token_prefix_form": lambda: any_token(prefix="hf_abcdef"),
    "api_token_secret_sha256_hex": lambda: any_token(secret_sha256="mb_" + "a" * 43),
    "api_token_scopes_known": lambda: any_token(scopes=["read", "admin"]),
    "api_token_expires_later": lambda: any_token(expires_at=timezone.now() - timedelta(days=1)),
    "notification_settings_url_with_secret": lambda: NotificationSettings.objects.create(
        user=make_user(), webhook_url="https://example.org/"
    ),
    "delivery_once": same_delivery_twice,
    "delivery_channel_known": lambda: delivery(channel="pigeon"),
    "delivery_outcome_known": lambda: delivery(outcome="cancelled"),
    "delivery_state_known": lambda: delivery(state="x", finished_at=timezone.now()),
    "delivery_has_address": lambda: delivery(address=""),
    "delivery_waiting_is_not_finished": lambda: delivery(finished_at=timezone.now()),
    "delivery_failed_says_why": lambda: delivery(state="failed", finished_at=timezone.now()),
    "child_log_unique": same_child_log_twice,
    "child_log_bounded": lambda: ChildLog.objects.create(
        run=make_run(suite=make_suite(n_tasks=1)), worker="w1", text="x" * (64 * 1024 + 1)
    ),
    "task_example_unique": same_example_twice,
    "task_example_text_bounded": lambda: example(text="x" * (EXAMPLE_CHARACTERS + 1)),
    "gallery_unique": same_gallery_twice,
    "gallery_dimension_can_be_indexed": lambda: gallery(dimension=MAX_DIMENSION + 1),
    "gallery_item_unique": same_gallery_item_twice,
    "gallery_item_kind_known": lambda: gallery_item(kind="x"),
    "gallery_item_text_bounded": lambda: gallery_item(caption="x" * (GALLERY_TEXT_CHARACTERS + 1)),
    "gallery_item_pictures_bounded": lambda: gallery_item(picture=b"x" * (PICTURE_BYTES + 1)),
    "gallery_item_box_in_a_whole": lambda: gallery_item(box=[4, 0, 4, 9], whole=b"x"),
    "task_example_image_bounded": lambda: example(n_images=0, image=b"x", image_width=1, image_height=1),
    "task_example_image_sized": lambda: example(n_images=1, image=b"x", image_width=1),
    "run_comparison_of_two_runs": comparison_with_itself,
    "suite_slug_version_unique": lambda: [
        Suite.objects.create(slug="s", version="1", title="", synthetic=False, is_live=live) for live in (True, False)
    ],
    "suite_one_live_per_slug": lambda: [
        Suite.objects.create(slug="s", version=version, title="", synthetic=False) for version in ("1", "2")
    ],
    "suite_version_not_empty": lambda: Suite.objects.create(slug="s", version="", title="", synthetic=False),
    "suite_kind_known": lambda: Suite.objects.create(slug="s", version="1", title="", synthetic=False, kind="x"),
    "task_kind_known": lambda: update(any_cell(), kind="x", level="", style="", selection=""),
    "task_modality_known": lambda: update(any_cell(), modality="x-ray"),
    "task_level_known": lambda: update(any_cell(), level="L6"),
    "task_style_known": lambda: update(any_cell(), style="x"),
    "task_subtype_known": lambda: update(any_cell(level="L5", subtype="mixed"), subtype="x"),
    "task_selection_known": lambda: update(any_cell(), selection="x"),
    "task_retrieval_columns": lambda: update(any_cell(), family="image_to_label"),
    "task_cell_columns": lambda: update(any_cell(), style=""),
    "task_subtype_of_negation": lambda: update(any_cell(), subtype="mixed"),
    "task_modality_of_kind": lambda: update(any_cell(), modality=""),
    "task_suite_name_unique": lambda: make_task(make_suite(n_tasks=1), name="task0", position=1),
    "task_family_known": lambda: update(any_task(), family="image_to_lable"),
    "task_domain_known": lambda: update(any_task(), domain="chest"),
    "task_evidence_form_known": lambda: update(any_task(), evidence_form="4d"),
    "task_pairing_type_known": lambda: update(any_task(), pairing_type="x"),
    "task_granularity_known": lambda: update(any_task(), granularity="x"),
    "task_split_known": lambda: update(any_task(), split="x"),
    "task_pool_known": lambda: update(any_task(), pool="x"),
    "task_spec_sha256_hex": lambda: update(any_task(), spec_sha256="z" * 64),
    "task_chance_in_range": lambda: update(any_task(), chance=1.5),
    "task_chance_with_queries": lambda: update(any_task(), chance=None),
    "task_installed_is_measured": lambda: update(any_task(), n_queries=None, chance=None),
    "task_installed_lacks_nothing": lambda: update(any_task(), unavailable_reason="its file is gone"),
    "embedding_model_repo_id_unique": lambda: [
        EmbeddingModel.objects.create(repo_id=name) for name in ("lab/Model", "LAB/model")
    ],
    "embedding_model_repo_id_not_empty": lambda: EmbeddingModel.objects.create(repo_id=""),
    "embedding_model_parameters_positive": lambda: EmbeddingModel.objects.create(repo_id="a/b", parameters=-1),
    "model_revision_unique": same_revision_twice,
    "model_revision_commit_hex": lambda: update(any_revision(), commit="main"),
    "model_revision_adapter_commit_hex": lambda: update(any_revision(), adapter_repo_id="a/b", adapter_commit="main"),
    "model_revision_encode_config_hex": lambda: update(any_revision(), encode_config_sha256="default"),
    "model_revision_adapter_both_or_neither": lambda: update(any_revision(), adapter_repo_id="a/b"),
    "submission_training_data_known": lambda: submission(training_data="x"),
    "submission_training_data_listed": lambda: submission(declared_training_data=["made_up"]),
    "owner_claim_once": same_claim_twice,
    "owner_claim_proof_known": lambda: claim(proof="x", proven_at=timezone.now()),
    "owner_claim_commit_hex": lambda: claim(proof="file", proven_at=timezone.now(), commit="main"),
    "owner_claim_names_both": lambda: claim(repo_id=""),
    "owner_claim_proven_has_proof": lambda: claim(is_shown=True),
    "training_data_mark_one_current": same_mark_twice,
    "training_data_mark_verdict_known": lambda: mark(verdict="x"),
    "training_data_mark_says_why": lambda: mark(reason=""),
    "submission_one_open": two_submissions,
    "submission_pause_one_open": two_pauses,
    "submission_pause_open_has_no_end": lambda: SubmissionPause.objects.create(
        reason="a", started_by=make_user(), ended_at=timezone.now()
    ),
    "worker_class_pause_one_open": lambda: (pause_of_class(), pause_of_class()),
    "worker_class_pause_class_known": lambda: pause_of_class(worker_class="abacus"),
    "worker_class_pause_open_has_no_end": lambda: pause_of_class(ended_at=timezone.now()),
    "act_kind_known": lambda: Act.objects.create(actor="a", kind="sleep", subject="b"),
    "act_has_actor": lambda: Act.objects.create(actor="", kind="pause", subject="b"),
    "act_has_subject": lambda: Act.objects.create(actor="a", kind="pause", subject=""),
    "run_attempt_unique": lambda: second_run(make_run(state=RunState.FAILED), attempt=1),
    "run_one_active": lambda: second_run(make_run()),
    "run_one_published": two_published_runs,
    "run_state_known": lambda: update(any_run(), state="waiting", finished_at=None),
    "run_error_kind_known": lambda: update(any_run(RunState.FAILED), error_kind="bad luck"),
    "run_attempt_from_one": lambda: update(any_run(), attempt=0),
    "run_published_has_succeeded": lambda: update(any_run(), is_published=True, published_at=timezone.now()),
    "run_failed_has_error": lambda: update(any_run(RunState.FAILED), error_message=""),
    "run_worker_class_known": lambda: update(any_run(), worker_class="abacus"),
    "run_expected_seconds_positive": lambda: update(any_run(), expected_seconds=-1),
    "worker_class_known": lambda: Worker.objects.create(
        name="w", device="cpu", worker_class="abacus", started_at=timezone.now(), last_seen_at=timezone.now()
    ),
    "run_final_is_finished": lambda: update(any_run(RunState.SUCCEEDED), finished_at=None),
    "run_lease_both_or_neither": lambda: update(any_run(), lease_owner="w1"),
    "task_run_unique": lambda: TaskRun.objects.create(run=(row := any_task_run().get()).run, task=row.task),
    "task_run_state_known": lambda: update(any_task_run(), state="x"),
    "task_run_error_kind_known": lambda: update(
        any_task_run(), state=TaskRunState.FAILED, error_code="a", error_kind="x", error_message="b"
    ),
    "task_run_lease_both_or_neither": lambda: update(any_task_run(), lease_expires_at=timezone.now()),
    "task_run_claimed_has_lease": lambda: update(any_task_run(), state=TaskRunState.CLAIMED),
    "task_run_succeeded_has_outcomes": lambda: update(any_task_run(), state=TaskRunState.SUCCEEDED),
    "task_run_failed_has_error": lambda: update(any_task_run(), state=TaskRunState.FAILED),
    "run_event_from_known": lambda: RunEvent.objects.create(run=make_run(), from_state="x", actor="a"),
    "run_event_to_known": lambda: RunEvent.objects.create(run=make_run(), to_state="x", actor="a"),
    "run_event_has_actor": lambda: RunEvent.objects.create(run=make_run(), actor=""),
    "score_unique": same_score_twice,
    "score_one_main": two_main_scores,
    "score_value_in_range": lambda: update(any_score(), value=1.01),
    "score_interval_in_range": lambda: update(any_score(), lower=0.2, upper=None),
    "board_snapshot_one_current": two_current_snapshots,
    "board_table_unique": same_board_twice,
    "board_table_scope_known": lambda: board_table(scope="colour"),
    "board_table_etag_hex": lambda: board_table(etag="weak"),
    "aggregate_score_unique": same_aggregate_twice,
    "aggregate_score_scope_known": lambda: update(any_aggregate(scope="family"), scope="colour"),
    "aggregate_score_key_with_scope": lambda: update(any_aggregate(scope="overall", metric="hit@1"), key="thoracic"),
    "aggregate_score_value_finite": lambda: update(any_aggregate(metric="cv"), value=float("inf")),
    "aggregate_score_value_in_range": lambda: update(any_aggregate(scope="overall", metric="hit@1"), value=1.2),
    "aggregate_score_interval": lambda: update(any_aggregate(scope="family"), lower=0.9, upper=0.1),
    "aggregate_score_coverage": lambda: update(any_aggregate(scope="family"), n_tasks=2, n_expected=1),
}


@pytest.mark.parametrize("name", sorted(FORBIDDEN))
def test_a_forbidden_row_is_refused(name: str) -> None:
    with pytest.raises(IntegrityError, match=f'"{name}"'), transaction.atomic():
        FORBIDDEN[name]()


RETRIEVAL_FACTS = {
    "family": "image_to_label",
    "domain": "thoracic",
    "evidence_form": "image_2d",
    "pairing_type": "image_text",
    "granularity": "global_label",
    "split": "held_out",
    "pool": "local",
    "parser": "image_cls",
}


@pytest.mark.parametrize("column", RETRIEVAL_FACTS)
def test_a_retrieval_task_has_every_column_of_retrieval_and_other_tasks_none(column: str) -> None:
    with pytest.raises(IntegrityError, match="task_retrieval_columns"), transaction.atomic():
        any_task().update(**{column: ""})
    with pytest.raises(IntegrityError, match="task_retrieval_columns"), transaction.atomic():
        any_cell().update(**{column: RETRIEVAL_FACTS[column]})


@pytest.mark.parametrize(("column", "value"), [("level", "L1"), ("style", "report"), ("selection", "all")])
def test_a_cell_has_every_column_of_cells_and_other_tasks_none(column: str, value: str) -> None:
    with pytest.raises(IntegrityError, match="task_cell_columns"), transaction.atomic():
        any_task().update(**{column: value})
    with pytest.raises(IntegrityError, match="task_cell_columns"), transaction.atomic():
        any_cell().update(**{column: ""})


def test_negation_has_a_subtype() -> None:
    with pytest.raises(IntegrityError, match="task_subtype_of_negation"), transaction.atomic():
        any_cell(level="L5", subtype="mixed").update(subtype="")


def test_only_questions_may_be_about_several_modalities() -> None:
    kind = {"level": "", "style": "", "selection": ""}
    cell = any_cell()
    cell.update(kind="closed_questions", modality="", **kind)
    for other in ("zero_shot", "caption_retrieval"):
        with pytest.raises(IntegrityError, match="task_modality_of_kind"), transaction.atomic():
            cell.update(kind=other)
    with pytest.raises(IntegrityError, match="task_modality_of_kind"), transaction.atomic():
        any_task().update(modality="fundus")


def test_a_cell_needs_no_chance_level_and_a_retrieval_task_does() -> None:
    cell = any_cell()
    assert cell.get().chance is None
    with pytest.raises(IntegrityError, match="task_chance_with_queries"), transaction.atomic():
        cell.update(n_queries=None, is_installed=False, chance=0.5)


def test_only_what_is_no_ranking_may_have_no_chance_level() -> None:
    ranking = TaskRun.objects.filter(run=make_published_run(suite=make_suite(n_tasks=1)))
    with pytest.raises(IntegrityError, match="task_run_succeeded_has_outcomes"), transaction.atomic():
        ranking.update(chance=None)
    ranking.update(chance=None, hit_at_1_optimistic=None, hit_at_1_pessimistic=None, self_excluded=None)


@pytest.mark.parametrize(
    ("metric", "value"),
    [("ds", -2.0), ("ds_size_matched", 2.0), ("ds_blank", -0.4), ("ds_scaled", -7.5), ("pass_rate_adjusted", -3.0)],
)
def test_signed_metrics_may_leave_the_range_of_shares(metric: str, value: float) -> None:
    scores = any_score()
    scores.update(metric=metric, value=value, lower=value, upper=value)
    assert scores.model.objects.get(metric=metric).value == value


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("ds", -2.01), ("ds_noise", 2.01), ("ds_scaled", float("inf")), ("ds_scaled", float("nan")),
        ("ds", float("nan")), ("pass_rate_adjusted", 1.01), ("pass_rate_adjusted", float("-inf")),
        ("failure_rate", -0.1), ("auroc", 1.1), ("ds_of_another_name", -0.1),
    ],
)  # fmt: skip
def test_each_metric_stays_in_its_own_range(metric: str, value: float) -> None:
    with pytest.raises(IntegrityError, match="score_value_in_range"), transaction.atomic():
        any_score().update(metric=metric, value=value)
    with pytest.raises(IntegrityError, match="score_interval_in_range"), transaction.atomic():
        any_score().update(metric=metric, value=0.5, lower=min(value, 0.4), upper=max(value, 0.6))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.01])
def test_a_score_is_finite_and_in_range(value: float) -> None:
    with pytest.raises(IntegrityError, match="score_value_in_range"), transaction.atomic():
        any_score().update(value=value)


@pytest.mark.parametrize(("metric", "value"), [("hit@1", -0.01), ("adjusted_hit@1", 1.01), ("cv", -0.01)])
def test_a_mean_is_in_the_range_of_its_metric(metric: str, value: float) -> None:
    aggregates = any_aggregate(scope="family")
    with pytest.raises(IntegrityError, match="aggregate_score_value_in_range"), transaction.atomic():
        aggregates.update(metric=metric, value=value)


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_a_mean_is_finite(value: float) -> None:
    with pytest.raises(IntegrityError, match="aggregate_score_value"), transaction.atomic():
        any_aggregate(scope="overall", metric="hit@1").update(metric="adjusted_hit@1", value=value)


def test_a_mean_above_chance_may_be_negative() -> None:
    aggregates = any_aggregate(scope="overall", metric="hit@1")
    aggregates.update(scope="pairing_type", key="image_text", metric="adjusted_hit@1", value=-0.4)
    assert aggregates.model.objects.get(metric="adjusted_hit@1").value == -0.4


def test_an_example_image_is_bounded_and_of_an_input_with_images() -> None:
    task = example(n_images=1, image=b"x" * EXAMPLE_IMAGE_BYTES, image_width=1, image_height=1).task
    with pytest.raises(IntegrityError, match="task_example_image_bounded"), transaction.atomic():
        example(task=task, record=1, n_images=1, image=b"x" * (EXAMPLE_IMAGE_BYTES + 1), image_width=1, image_height=1)
    with pytest.raises(IntegrityError, match="task_example_text_bounded"), transaction.atomic():
        example(task=task, record=2, instruction="x" * (EXAMPLE_CHARACTERS + 1))


def test_a_token_may_be_used_for_something() -> None:
    with pytest.raises(IntegrityError, match="api_token_scopes_known"), transaction.atomic():
        any_token(scopes=[])


def test_every_constraint_of_every_model_has_a_forbidden_row() -> None:
    names = {
        constraint.name
        for model in apps.get_app_config("leaderboard").get_models()
        for constraint in model._meta.constraints
    }
    assert names == set(FORBIDDEN)
