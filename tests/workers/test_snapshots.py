"""Statistics of boards: computed from what is published, once at a time, and never from mixed data."""

import logging
import threading
from pathlib import Path

import pytest
from django.db import connection

from leaderboard import queue
from leaderboard.models import BoardSnapshot, EmbeddingModel, ModelRevision, Suite
from leaderboard.selectors.due_snapshots import suites_to_build
from leaderboard.selectors.snapshots import statistics_of_suite
from leaderboard.services.leases import leases_reap
from leaderboard.services.publishing import run_publish, run_withdraw
from leaderboard.services.snapshots import snapshot_turn
from tests.evaluation.outcomes import outcomes_of
from tests.factories import make_measured_run, make_revision
from tests.measured_suites import SPEC, install, measured
from workers.snapshots import build_snapshot


@pytest.fixture
def suite(db: None, settings: object, tmp_path: Path) -> Suite:
    return install(settings, tmp_path)


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """What the bell was rung for, on the way to the broker."""
    found: list[tuple[str, object]] = []
    monkeypatch.setattr(queue, "_send", lambda message, subject: found.append((message, subject)))
    return found


def test_ranks_have_intervals_and_models_that_cannot_be_told_apart_share_a_group(suite) -> None:
    best = make_measured_run(suite, measured(0.9, 0.9, 0.9))
    level = make_measured_run(suite, measured(0.9, 0.9, 0.88, seed=1))
    last = make_measured_run(suite, measured(0.1, 0.1, 0.1, seed=2))
    assert build_snapshot(suite.pk)
    content = statistics_of_suite(suite.pk).content
    found = [content.standing("overall", "", run.pk) for run in (best, level, last)]
    assert [(one.rank, one.rank_lower, one.rank_upper, one.tie_group) for one in found] == [
        (1, 1, 2, 1), (2, 1, 2, 1), (3, 3, 3, 3),
    ]  # fmt: skip
    assert found[2].value == pytest.approx(0.1)
    assert content.standing("family", "text_to_text", level.pk).value == pytest.approx(53 / 60)


def test_a_change_of_what_is_published_makes_statistics_old_and_rings_once_it_is_committed(
    suite, rung, django_capture_on_commit_callbacks
) -> None:
    assert suites_to_build() == []
    run = make_measured_run(suite, measured(0.5, 0.5, 0.5))
    assert suites_to_build() == [suite.pk]
    assert build_snapshot(suite.pk)
    assert statistics_of_suite(suite.pk).is_fresh
    with django_capture_on_commit_callbacks(execute=True):
        run_withdraw(run_id=run.pk, actor="test", reason="a test")
        assert rung == []
    assert rung == [("workers.build_snapshot", suite.pk)]
    assert suites_to_build() == [suite.pk]
    assert build_snapshot(suite.pk)
    assert statistics_of_suite(suite.pk) is None
    with django_capture_on_commit_callbacks(execute=True):
        run_publish(run_id=run.pk, actor="test")
    assert rung[1:] == [("workers.build_snapshot", suite.pk)]


def test_a_lost_bell_is_rung_again_by_the_reaper(suite, rung, django_capture_on_commit_callbacks) -> None:
    make_measured_run(suite, measured(0.5, 0.5, 0.5))
    with django_capture_on_commit_callbacks(execute=True):
        leases_reap()
    assert rung == [("workers.build_snapshot", suite.pk)]
    build_snapshot(suite.pk)
    rung.clear()
    with django_capture_on_commit_callbacks(execute=True):
        leases_reap()
    assert rung == []


def test_what_is_up_to_date_is_not_computed_again_and_a_new_task_makes_it_old(suite) -> None:
    make_measured_run(suite, measured(0.5, 0.5, 0.5))
    assert build_snapshot(suite.pk)
    assert not build_snapshot(suite.pk)
    suite.tasks.filter(name="Pair").update(is_installed=False)
    assert not statistics_of_suite(suite.pk).is_fresh
    assert build_snapshot(suite.pk)
    assert BoardSnapshot.objects.get(suite=suite, is_current=True).tasks == ["Label", "OtherLabel"]


def test_models_are_ranked_on_the_installed_tasks_alone(suite) -> None:
    suite.tasks.filter(name="Pair").update(is_installed=False)
    run = make_measured_run(suite, {name: found for name, found in measured(0.5, 0.7, 0.9).items() if name != "Pair"})
    build_snapshot(suite.pk)
    standing = statistics_of_suite(suite.pk).content.standing("overall", "", run.pk)
    assert (standing.rank, standing.n_tasks, standing.n_expected) == (1, 2, 2)
    assert standing.value == pytest.approx(0.6)


def test_a_task_measured_on_other_data_is_left_out_and_named(suite) -> None:
    one, two, other = (make_measured_run(suite, measured(0.5, 0.5, 0.5, seed=seed)) for seed in range(3))
    other.task_runs.filter(task__name="Pair").update(data_sha256="f" * 64)
    build_snapshot(suite.pk)
    found = statistics_of_suite(suite.pk)
    assert found.left_out == {str(other.pk): ["Pair"]}
    ranks = [found.content.standing("overall", "", run.pk).rank for run in (one, two, other)]
    assert ranks == [1, 1, None]
    assert found.content.standing("family", "image_to_label", other.pk).rank is not None


def test_of_equally_many_runs_on_different_data_the_latest_decides(suite) -> None:
    old = make_measured_run(suite, measured(0.5, 0.5, 0.5))
    make_measured_run(suite, measured(0.5, 0.5, 0.5), data="e" * 64)
    build_snapshot(suite.pk)
    assert list(statistics_of_suite(suite.pk).left_out) == [str(old.pk)]


def test_outcomes_that_cannot_be_paired_are_logged_and_leave_the_board_without(suite, caplog) -> None:
    make_measured_run(suite, measured(0.5, 0.5, 0.5))
    make_measured_run(suite, {name: outcomes_of([1, 0, 1]) for name in measured(0, 0, 0)})
    with caplog.at_level(logging.ERROR):
        assert not build_snapshot(suite.pk)
    assert "different queries or pools" in caplog.text
    assert statistics_of_suite(suite.pk) is None


def test_a_baseline_makes_buckets_and_the_earliest_of_its_runs_stands_for_it(suite) -> None:
    first = make_measured_run(suite, measured(0.01, 0.2, 0.9), revision=make_revision("google/medsiglip-448"))
    later = ModelRevision.objects.create(model=first.revision.model, commit="b" * 40)
    make_measured_run(suite, measured(0.9, 0.9, 0.9), revision=later)
    build_snapshot(suite.pk)
    content = statistics_of_suite(suite.pk).content
    assert content.baselines == (str(first.pk),)
    assert [content.bucket_of(spec.name) for spec in SPEC.tasks] == ["collapse", "medium", "tractable"]


@pytest.mark.django_db(transaction=True)
def test_only_one_worker_computes_at_a_time(settings, tmp_path) -> None:
    suite = install(settings, tmp_path)
    make_measured_run(suite, measured(0.5, 0.5, 0.5))
    results: list[bool] = []

    def another_worker() -> None:
        results.append(build_snapshot(suite.pk))
        connection.close()

    with snapshot_turn(suite.pk) as is_ours:
        assert is_ours
        thread = threading.Thread(target=another_worker)
        thread.start()
        thread.join()
    assert results == [False]
    assert build_snapshot(suite.pk)


def test_runs_of_models_whose_owner_objects_are_not_in_it(suite) -> None:
    make_measured_run(suite, measured(0.5, 0.5, 0.5))
    build_snapshot(suite.pk)
    EmbeddingModel.objects.update(owner_opted_out=True)
    assert suites_to_build() == [suite.pk]
    build_snapshot(suite.pk)
    assert statistics_of_suite(suite.pk) is None
