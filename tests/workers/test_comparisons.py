"""Before a rerun is published, its difference to what stands on the boards is known with a paired interval."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard import queue
from leaderboard.models import Run, RunComparison, Suite, TaskRun
from leaderboard.selectors.comparison import publication_comparison, runs_to_compare
from leaderboard.selectors.waiting import waiting_reruns
from leaderboard.services.leases import leases_reap
from leaderboard.services.publishing import run_publish
from tests.factories import make_measured_run, make_user
from tests.measured_suites import QUERIES, install, measured
from workers.comparisons import build_comparisons

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite(settings: Any, tmp_path: Path) -> Suite:
    return install(settings, tmp_path)


def rerun(old: Run, outcomes: Any, *, attempt: int = 2, data: str = "d" * 64) -> Run:
    """A finished attempt after `old` that waits for a decision."""
    Run.objects.filter(pk=old.pk).update(is_published=False)
    new = make_measured_run(old.suite, outcomes, revision=old.revision, data=data, attempt=attempt)
    Run.objects.filter(pk=new.pk).update(is_published=False)
    Run.objects.filter(pk=old.pk).update(is_published=True)
    new.refresh_from_db()
    return new


def rows(run: Run) -> dict[tuple[str, str], Any]:
    return {(row.scope, row.title): row for row in publication_comparison(run.pk).rows if row.metric == "hit@1"}


def test_a_difference_has_the_interval_of_pairs_and_not_of_two_samples(suite: Suite) -> None:
    old = make_measured_run(suite, measured(0.5, 0.5, 0.5))
    better = measured(0.5, 0.5, 0.5)
    # 6 of the 30 queries of "Label" that missed now hit: the pairs differ by 1 in 6 of 60 queries and by 0 in the rest.
    changed = better["Label"]
    missed = [place for place, above in enumerate(changed.above) if above > 0][:6]
    changed.above[missed] = 0
    changed.tied[missed] = 0
    new = rerun(old, better)
    assert publication_comparison(new.pk).is_waiting
    build_comparisons()
    found = rows(new)
    label = found["task", "Label"]
    assert label.paired.value == pytest.approx(0.1)
    # The bootstrap of a share of 0.1 over 60 pairs: standard error sqrt(0.1 * 0.9 / 60) = 0.0387.
    assert label.paired.lower == pytest.approx(0.1 - 1.96 * 0.0387, abs=0.012)
    assert label.paired.upper == pytest.approx(0.1 + 1.96 * 0.0387, abs=0.012)
    assert label.paired.is_separated
    assert found["task", "Pair"].paired.value == 0
    assert (found["task", "Pair"].paired.lower, found["task", "Pair"].paired.upper) == (0, 0)
    assert not found["task", "Pair"].paired.is_separated
    # Two families; the first has two tasks of which one moved by 0.1: (0.05 + 0) / 2.
    overall = found["overall", "All families"]
    assert overall.paired.value == pytest.approx(0.025)
    assert overall.difference == pytest.approx(overall.paired.value)
    assert overall.paired.n_tasks == 3
    assert not publication_comparison(new.pk).is_waiting


def test_it_is_computed_once_and_anew_when_another_result_is_published(suite: Suite) -> None:
    old = make_measured_run(suite, measured(0.5, 0.5, 0.5))
    second = rerun(old, measured(0.6, 0.5, 0.5))
    third = rerun(old, measured(0.7, 0.5, 0.5), attempt=3)
    assert [waiting.run_id for waiting in runs_to_compare()] == [second.pk, third.pk]
    build_comparisons()
    assert runs_to_compare() == []
    run_publish(run_id=second.pk, actor="admin")
    assert [(waiting.run_id, waiting.baseline_id) for waiting in runs_to_compare()] == [(third.pk, second.pk)]
    assert publication_comparison(third.pk).is_waiting
    build_comparisons()
    assert RunComparison.objects.get(run=third).baseline_id == second.pk
    assert runs_to_compare() == []


def test_tasks_of_other_data_are_named_and_not_paired(suite: Suite) -> None:
    old = make_measured_run(suite, measured(0.5, 0.5, 0.5))
    new = rerun(old, measured(0.9, 0.5, 0.5))
    TaskRun.objects.filter(run=new, task__name="Label").update(data_sha256="e" * 64)
    build_comparisons()
    comparison = publication_comparison(new.pk)
    assert comparison.unpaired == ("Label",)
    found = rows(new)
    assert found["task", "Label"].paired is None
    assert found["task", "Label"].difference == pytest.approx(0.4)
    assert found["overall", "All families"].paired.n_tasks == 2


def test_what_cannot_be_compared_says_so_and_is_not_tried_for_ever(suite: Suite, tmp_path: Path) -> None:
    old = make_measured_run(suite, measured(0.5, 0.5, 0.5))
    new = rerun(old, measured(0.5, 0.5, 0.5))
    (tmp_path / suite.slug / "suite.json").write_text("{")
    build_comparisons()
    assert "cannot be compared" in publication_comparison(new.pk).trouble
    assert runs_to_compare() == []


def test_the_reaper_rings_for_what_no_worker_compared(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    rung: list[tuple[str, object]] = []
    monkeypatch.setattr(queue, "_send", lambda message, subject: rung.append((message, subject)))
    rerun(make_measured_run(suite, measured(0.5, 0.5, 0.5)), measured(0.5, 0.5, 0.5))
    with django_capture_on_commit_callbacks(execute=True):
        leases_reap()
    assert (queue.BUILD_SNAPSHOT, suite.pk) in rung


def test_an_administrator_reads_the_interval_before_publishing(suite: Suite) -> None:
    client = Client()
    client.force_login(make_user(is_staff=True))
    new = rerun(make_measured_run(suite, measured(0.1, 0.5, 0.5)), measured(0.9, 0.5, 0.5))
    page = reverse("run-detail", args=[new.pk])
    assert "A worker is computing the intervals" in client.get(page).content.decode()
    build_comparisons()
    text = client.get(page).content.decode()
    gain = round(100 * (round(0.9 * QUERIES) - round(0.1 * QUERIES)) / QUERIES, 1)
    assert f"<td>+{gain}</td>" in text
    assert "<td><b>+" in text
    assert "A worker is computing" not in text


def test_reruns_wait_together_and_the_chosen_ones_are_published(suite: Suite) -> None:
    client = Client()
    client.force_login(make_user(is_staff=True))
    page = reverse("reruns-waiting")
    assert "Nothing waits" in client.get(page).content.decode()
    first = rerun(make_measured_run(suite, measured(0.1, 0.5, 0.5)), measured(0.9, 0.5, 0.5))
    second = rerun(make_measured_run(suite, measured(0.9, 0.5, 0.5)), measured(0.1, 0.5, 0.5))
    assert [row.is_compared for row in waiting_reruns()] == [False, False]
    build_comparisons()
    found = {row.run_id: row for row in waiting_reruns()}
    assert [(found[run.pk].n_better, found[run.pk].n_worse) for run in (first, second)] == [(1, 0), (0, 1)]
    # One of two tasks of one of two families moved by 0.8.
    assert found[first.pk].overall.value == pytest.approx(0.2)
    assert found[second.pk].overall.is_separated
    text = client.get(page).content.decode()
    for words in ["+20.0", "−20.0"]:
        assert words in text
    answer = client.post(page, {}, follow=True)
    assert "Choose at least one" in answer.content.decode()
    answer = client.post(page, {"run": [first.pk, "nothing"]}, follow=True)
    assert "Published 1 result." in answer.content.decode()
    for run in (first, second):
        run.refresh_from_db()
    assert (first.is_published, second.is_published) == (True, False)
    assert [row.run_id for row in waiting_reruns()] == [second.pk]
