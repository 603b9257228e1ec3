"""The pages of submissions, runs and the queue, in every state."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import AggregateScore, Run, Submission, Suite, User, Worker
from leaderboard.models.vocabulary import ErrorKind, RunState
from leaderboard.selectors.comparison import publication_comparison
from leaderboard.selectors.queue import queue_state
from leaderboard.selectors.run_words import NEXT_STEPS, STATE_SENTENCES
from leaderboard.selectors.runs import place_in_queue, run_detail
from leaderboard.services import failures, leases, results, runs
from leaderboard.services.administration import submissions_pause, worker_report, worker_takes
from tests.factories import make_published_run, make_run, make_suite, make_user

pytestmark = pytest.mark.django_db


def outcome(hit: float) -> results.TaskOutcome:
    return results.TaskOutcome(
        main_metric="hit@1",
        scores=(results.ScoreValue("hit@1", hit, hit - 0.1, hit + 0.1), results.ScoreValue("hit@5", 0.99)),
        chance=0.25,
        n_queries=40,
        hit_at_1_optimistic=hit,
        hit_at_1_pessimistic=hit,
        self_excluded=0,
        n_inputs=80,
        seconds_embedding=2.0,
        seconds_ranking=0.5,
        peak_memory_bytes=1,
        data_sha256="0" * 64,
        outcomes=b"x",
    )


def submit(user: User, suite: Suite) -> Run:
    """A queued run with its submission."""
    run = make_run(suite=suite, user=user)
    run.submission = Submission.objects.create(revision=run.revision, suite=suite, submitter=user)
    run.save()
    return run


def start_first_group(run: Run) -> list[leases.TaskClaim]:
    leases.run_next_claim(worker="w1")
    leases.run_start(run_id=run.pk, worker="w1")
    return leases.task_group_claim(run_id=run.pk, worker="w1")


def text_of(client: Client, name: str, identifier: object) -> str:
    response = client.get(reverse(name, args=[identifier]))
    assert response.status_code == 200
    return response.content.decode()


def test_every_state_and_every_kind_of_error_has_words() -> None:
    assert set(STATE_SENTENCES) == set(RunState.values)
    assert set(NEXT_STEPS) == set(ErrorKind.values)


def test_the_place_in_the_queue_follows_priority_then_age(administrator: User) -> None:
    suite = make_suite()
    rerun = runs.run_rerun(run_id=make_run(suite=suite, state=RunState.FAILED).pk, actor=administrator)
    first = make_run(suite=suite)
    second = make_run(suite=suite)
    assert [place_in_queue(run) for run in (first, second, rerun)] == [1, 2, 3]
    leases.run_next_claim(worker="w1")
    first.refresh_from_db()
    assert [place_in_queue(run) for run in (first, second, rerun)] == [None, 1, 2]
    assert [run.run_id for run in queue_state().waiting] == [second.pk, rerun.pk]
    assert [run.run_id for run in queue_state().active] == [first.pk]


def test_progress_counts_tasks_inputs_and_scores_so_far(submitter: User, submitter_client: Client) -> None:
    run = submit(submitter, make_suite(n_tasks=4))
    done, current = start_first_group(run)
    results.task_run_succeed(claim=done, worker="w1", outcome=outcome(0.4))
    results.task_run_progress(claim=current, worker="w1", done=30, total=120)
    progress = run_detail(run.pk).progress
    assert (progress.n_ended, progress.number_in_hand, progress.n_tasks) == (1, 2, 4)
    assert progress.mean_hit_at_1 == 0.4
    text = text_of(submitter_client, "submission-detail", run.submission_id)
    for words in ["Task 2 of 4", "30 of 120 inputs", "Hit@1 40.0", 'hx-trigger="every 2s"', "Cancel this evaluation"]:
        assert words in text
    assert '<noscript><meta http-equiv="refresh"' in text


def test_the_mean_so_far_is_over_main_scores_of_tasks_that_succeeded() -> None:
    run = make_run(suite=make_suite(n_tasks=4))
    first, second = start_first_group(run)
    results.task_run_succeed(claim=first, worker="w1", outcome=outcome(0.2))
    results.task_run_succeed(claim=second, worker="w1", outcome=outcome(0.7))
    (third, fourth) = leases.task_group_claim(run_id=run.pk, worker="w1")
    failures.task_failure_report(
        claim=third, worker="w1", worker_class="cpu", code="input_unreadable", kind="data", message="a.png is empty"
    )
    progress = run_detail(run.pk).progress
    assert progress.mean_hit_at_1 == pytest.approx(0.45)
    assert (progress.n_succeeded, progress.n_failed, progress.n_ended) == (2, 1, 3)
    assert [task.name for task in progress.current] == [fourth.task_name]


def test_polling_stops_when_the_run_has_ended(client: Client) -> None:
    run = make_run()
    address = reverse("run-progress", args=[run.pk])
    answer = client.get(address, headers={"HX-Request": "true"})
    assert 'hx-trigger="every 2s"' in answer.content.decode()
    assert "<html" not in answer.content.decode()
    runs.run_cancel(run_id=run.pk, actor="somebody")
    answer = client.get(address, headers={"HX-Request": "true"})
    assert answer["HX-Refresh"] == "true"
    text = text_of(client, "run-detail", run.pk)
    assert "hx-trigger" not in text
    assert 'http-equiv="refresh"' not in text


def test_a_failed_run_says_why_and_what_to_do(client: Client) -> None:
    run = make_run()
    runs.run_fail(run_id=run.pk, actor="w1", code="model_unsafe", kind="model", message="It needs <b>its own</b> code.")
    text = text_of(client, "run-detail", run.pk)
    for words in ["It needs &lt;b&gt;its own&lt;/b&gt; code.", "model_unsafe", "submit the new revision"]:
        assert words in text


def test_a_published_run_links_to_its_model(submitter: User, submitter_client: Client) -> None:
    run = make_published_run(suite=make_suite(n_tasks=2), user=submitter)
    run.submission = Submission.objects.create(
        revision=run.revision, suite=run.suite, submitter=submitter, closed_at=timezone.now()
    )
    run.save()
    text = text_of(submitter_client, "submission-detail", run.submission_id)
    assert reverse("model-detail", args=[run.revision.model.repo_id]) in text
    assert "Cancel this evaluation" not in text
    text = text_of(submitter_client, "run-detail", run.pk)
    assert "50.0" in text
    assert "40.0–60.0" in text
    assert "25.0" in text


def test_synthetic_suites_are_marked(client: Client) -> None:
    run = make_run(suite=make_suite("drawn", synthetic=True))
    assert "Synthetic data." in text_of(client, "run-detail", run.pk)
    assert "synthetic data" in client.get(reverse("queue")).content.decode()


def test_a_run_without_tasks_has_a_page(client: Client) -> None:
    suite = Suite.objects.create(slug="empty", version="1", title="Nothing installed", synthetic=False)
    run = make_run(suite=suite, state=RunState.CANCELLED)
    assert "This run has no task" in text_of(client, "run-detail", run.pk)


def test_the_comparison_sets_new_beside_published(administrator: User, administrator_client: Client) -> None:
    suite = make_suite(n_tasks=2)
    old = make_published_run(suite=suite, hit=0.5)
    new = make_run(revision=old.revision, suite=suite, state=RunState.SUCCEEDED, attempt=2)
    AggregateScore.objects.create(run=new, scope="overall", key="", metric="hit@1", value=0.53, n_tasks=1, n_expected=2)
    AggregateScore.objects.create(run=new, scope="overall", key="", metric="cv", value=0.3, n_tasks=1, n_expected=2)
    AggregateScore.objects.create(run=new, scope="overall", key="", metric="hit@5", value=0.9, n_tasks=1, n_expected=2)
    comparison = publication_comparison(new.pk)
    assert comparison.published_run_id == old.pk
    overall, cv, *groups = comparison.rows
    assert overall.difference == pytest.approx(0.03)
    assert (overall.old.n_tasks, overall.new.n_tasks, overall.new.n_expected) == (2, 1, 2)
    assert cv.difference == pytest.approx(-0.1)
    assert {row.scope for row in groups} == {"family", "domain", "evidence_form", "split"}
    assert all(row.new is None and row.difference is None for row in groups)
    text = text_of(administrator_client, "run-detail", new.pk)
    for words in ["Before you publish", "50.0", "53.0", "+3.0", "−0.10", "2 → 1 of 2", "Publish attempt 2"]:
        assert words in text


def test_publishing_and_reruns_say_what_happened(administrator_client: Client) -> None:
    run = make_published_run(suite=make_suite(n_tasks=2))
    response = administrator_client.post(reverse("run-publish", args=[run.pk]), follow=True)
    assert "published already" in response.content.decode()
    wanted = {"run": run.pk, "scope": "failed"}
    assert "Nothing would run again" in administrator_client.get(reverse("reruns"), wanted).content.decode()
    response = administrator_client.post(reverse("reruns"), wanted, follow=True)
    assert "nothing to run again" in response.content.decode()
    response = administrator_client.post(reverse("reruns"), {"run": run.pk}, follow=True)
    assert "Choose what runs again" in response.content.decode()
    data = {"run": run.pk, "scope": "all", "reason": "a <i>repaired</i> image"}
    response = administrator_client.post(reverse("reruns"), data, follow=True)
    new = Run.objects.get(rerun_of=run)
    assert response.redirect_chain == [(reverse("run-detail", args=[new.pk]), 302)]
    assert "Queued as attempt 2" in response.content.decode()
    assert "a &lt;i&gt;repaired&lt;/i&gt; image" in response.content.decode()
    response = administrator_client.post(reverse("run-cancel", args=[new.pk]), follow=True)
    assert "Cancelled." in response.content.decode()
    response = administrator_client.post(reverse("run-cancel", args=[new.pk]), follow=True)
    assert "already ended" in response.content.decode()


def test_a_submitter_cannot_cancel_an_administrators_rerun(
    submitter: User, submitter_client: Client, administrator: User
) -> None:
    run = submit(submitter, make_suite())
    new = runs.run_rerun(run_id=run.pk, actor=administrator)
    assert "Cancel this evaluation" not in text_of(submitter_client, "submission-detail", run.submission_id)
    assert submitter_client.post(reverse("submission-cancel", args=[run.submission_id])).status_code == 403
    new.refresh_from_db()
    assert new.is_active


def test_cancelling_twice_says_so(submitter: User, submitter_client: Client) -> None:
    run = submit(submitter, make_suite())
    address = reverse("submission-cancel", args=[run.submission_id])
    assert "Cancelled." in submitter_client.post(address, follow=True).content.decode()
    assert "already ended" in submitter_client.post(address, follow=True).content.decode()


def test_the_queue_page_of_an_idle_board(client: Client) -> None:
    text = client.get(reverse("queue")).content.decode()
    for words in ["No worker is up.", "Nothing waits", "Nothing is being evaluated.", "No run has ended yet."]:
        assert words in text


def test_workers_are_up_silent_or_forgotten(client: Client) -> None:
    run = make_run()
    now = timezone.now()
    for name in ["a-silent", "b-gone", "c-up"]:
        worker_report(name=name, device="cuda:0", versions={"torch": "2.13.0"})
    worker_takes(name="c-up", run_id=run.pk)
    Worker.objects.filter(name="a-silent").update(last_seen_at=now - timedelta(minutes=10))
    Worker.objects.filter(name="b-gone").update(last_seen_at=now - timedelta(days=2))
    queue = queue_state()
    assert [(worker.name, worker.is_up) for worker in queue.workers] == [("c-up", True), ("a-silent", False)]
    assert queue.workers[0].current_repo_id == run.revision.model.repo_id
    text = client.get(reverse("queue")).content.decode()
    assert "torch 2.13.0" in text
    assert "No worker is up." not in text


def test_pausing_and_resuming(administrator_client: Client, client: Client) -> None:
    response = administrator_client.post(reverse("pause"), {"reason": " "}, follow=True)
    assert "Say why" in response.content.decode()
    response = administrator_client.post(reverse("resume"), follow=True)
    assert "not paused" in response.content.decode()
    response = administrator_client.post(reverse("pause"), {"reason": "new suite"}, follow=True)
    assert "Runs that are queued go on." in response.content.decode()
    assert "new suite" in client.get(reverse("queue")).content.decode()
    response = administrator_client.post(reverse("pause"), {"reason": "again"}, follow=True)
    assert "paused already" in response.content.decode()
    response = administrator_client.post(reverse("resume"), follow=True)
    assert "Submissions are open again." in response.content.decode()


def test_the_number_of_queries_does_not_grow(client: Client, django_assert_num_queries: object) -> None:
    small, large = make_suite("small", n_tasks=1), make_suite("large", n_tasks=30)
    for suite in (small, large):
        run = make_published_run(suite=suite)
        with django_assert_num_queries(4):
            client.get(reverse("run-detail", args=[run.pk]))
        with django_assert_num_queries(3):
            client.get(reverse("run-progress", args=[run.pk]))
    submissions_pause(actor=make_user(), reason="busy")
    for number in range(5):
        make_run(suite=small)
        worker_report(name=f"worker{number}", device="cpu", versions={})
    with django_assert_num_queries(10):
        client.get(reverse("queue"))


def test_a_run_says_what_was_loaded_and_on_what(client) -> None:
    run = make_run(suite=make_suite(n_tasks=1))
    run.model_description = {"encode_config": {"prompt": "<b>query:</b>", "dtype": "bfloat16"}}
    run.environment = {"device": "cuda:0 (NVIDIA H200)", "packages": {"torch": "2.13.0"}}
    run.save()
    html = client.get(f"/runs/{run.pk}/").content.decode()
    assert "<dt>Device</dt><dd>cuda:0 (NVIDIA H200)</dd>" in html
    assert "<dt>Number type</dt><dd>bfloat16</dd>" in html
    assert "<dt>Libraries</dt><dd>torch 2.13.0</dd>" in html
    assert "&lt;b&gt;query:&lt;/b&gt;" in html
