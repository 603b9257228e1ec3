"""Reruns of every shape: what they would cost is said first, and what was measured before is kept."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.exceptions import TransitionRefused
from leaderboard.models import Priority, Run, RunEvent, Suite, Task, TaskRun, User
from leaderboard.models.vocabulary import RunState, TaskRunState
from leaderboard.selectors.reruns import RerunScope, published_sources, rerun_plan
from leaderboard.selectors.timings import Expectation, preparation_expectation, task_expectations
from leaderboard.services import runs
from leaderboard.services.results import NOT_COLUMNS, TaskOutcome
from leaderboard.services.runs import CARRIED_FIELDS
from leaderboard.templatetags.run_figures import duration
from tests.factories import make_published_run, make_revision, make_run, make_suite, make_task, make_user

pytestmark = pytest.mark.django_db


def states(run: Run) -> dict[str, str]:
    return dict(run.task_runs.values_list("task__name", "state"))


def took(run: Run, **seconds: float) -> None:
    """Set what tasks of a run took, embedding alone."""
    for task, value in seconds.items():
        TaskRun.objects.filter(run=run, task__name=task).update(seconds_embedding=value, seconds_ranking=0)


def next_version(suite: Suite, *, changed: tuple[str, ...], added: int = 0) -> Suite:
    """A new live version of a suite in which some tasks are declared otherwise and some are new."""
    suite.is_live = False
    suite.save()
    new = Suite.objects.create(slug=suite.slug, version="2", title=suite.title, synthetic=suite.synthetic)
    for task in suite.tasks.all():
        sha = f"{task.position + 1000:064x}" if task.name in changed else task.spec_sha256
        make_task(new, position=task.position, data_group=task.data_group, spec_sha256=sha)
    for number in range(added):
        make_task(new, position=suite.tasks.count() + number)
    return new


def test_chosen_tasks_run_again_and_the_others_keep_their_results() -> None:
    old = make_published_run(suite=make_suite(n_tasks=4), hit=0.7)
    new = runs.run_rerun(run_id=old.pk, actor=make_user(is_staff=True), tasks=["task1", "task3"])
    assert states(new) == {"task0": "succeeded", "task1": "pending", "task2": "succeeded", "task3": "pending"}
    kept = new.task_runs.get(task__name="task2")
    assert kept.carried_from == old.task_runs.get(task__name="task2")
    assert kept.scores.get().value == 0.7
    assert bytes(kept.outcomes) == bytes(kept.carried_from.outcomes)
    assert (new.priority, new.rerun_of) == (Priority.RERUN, old)
    old.refresh_from_db()
    assert old.is_published


def test_a_task_without_a_result_runs_again_with_the_chosen_ones() -> None:
    old = make_run(suite=make_suite(n_tasks=3), state=RunState.FAILED)
    new = runs.run_rerun(run_id=old.pk, actor=make_user(is_staff=True), tasks=["task0"])
    assert set(states(new).values()) == {TaskRunState.PENDING}


def test_an_unknown_task_is_refused_and_nothing_happens() -> None:
    run = make_run(state=RunState.RUNNING)
    with pytest.raises(TransitionRefused, match="no installed task nothing"):
        runs.run_rerun(run_id=run.pk, actor=make_user(is_staff=True), tasks=["task0", "nothing"])
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert Run.objects.count() == 1


def test_a_rerun_with_nothing_to_do_cancels_nothing() -> None:
    suite = make_suite(n_tasks=2)
    done = make_published_run(suite=suite)
    active = make_run(revision=done.revision, suite=suite, attempt=2)
    with pytest.raises(TransitionRefused, match="nothing to run again"):
        runs.run_rerun(run_id=done.pk, actor=make_user(is_staff=True), failed_only=True)
    active.refresh_from_db()
    assert active.state == RunState.QUEUED


def test_on_a_new_version_only_what_changed_runs_again() -> None:
    old_suite = make_suite(n_tasks=3)
    old = make_published_run(suite=old_suite, hit=0.6)
    new_suite = next_version(old_suite, changed=("task1",), added=1)
    new = runs.run_rerun(run_id=old.pk, actor=make_user(is_staff=True), suite=new_suite, failed_only=True)
    assert states(new) == {"task0": "succeeded", "task1": "pending", "task2": "succeeded", "task3": "pending"}
    assert {task_run.task.suite for task_run in new.task_runs.all()} == {new_suite}
    assert (new.suite, new.attempt, new.submission) == (new_suite, 1, None)


def test_the_source_of_a_model_is_its_newest_published_result() -> None:
    old_suite = make_suite(n_tasks=1)
    both = make_published_run(suite=old_suite)
    only_old = make_published_run(suite=old_suite)
    new_suite = next_version(old_suite, changed=())
    newer = make_published_run(suite=new_suite, revision=both.revision)
    make_run(suite=new_suite, state=RunState.SUCCEEDED)
    assert set(published_sources(new_suite)) == {newer, only_old}


def test_times_are_the_models_own_where_known_else_the_usual_ones() -> None:
    suite = make_suite(n_tasks=3)
    first, second, third = (make_published_run(suite=suite) for _ in range(3))
    for run, value in zip((first, second, third), (10.0, 20.0, 60.0), strict=True):
        took(run, task0=value, task1=value)
    TaskRun.objects.filter(run=third, task__name="task1").update(seconds_embedding=None, seconds_ranking=None)
    TaskRun.objects.filter(task__name="task2").update(seconds_embedding=None, seconds_ranking=None)
    plan = rerun_plan([first, third], scope=RerunScope.ALL)
    # first: its own 10 + 10. third: its own 60, and for task1 the median of 10 and 20; percentiles are interpolated.
    assert plan.reruns[0].expected == Expectation(20.0, 20.0, 20.0)
    assert plan.reruns[1].expected == Expectation(75.0, pytest.approx(71.0), pytest.approx(79.0))
    assert (plan.n_tasks, plan.n_models, plan.n_unknown) == (6, 2, 2)
    assert plan.expected.usual == 95.0


def test_carried_results_do_not_count_as_timings_twice() -> None:
    suite = make_suite(n_tasks=2)
    slow = make_published_run(suite=suite)
    took(slow, task0=100.0)
    for _ in range(3):
        slow = runs.run_rerun(run_id=slow.pk, actor=make_user(is_staff=True), tasks=["task1"])
    quick = make_published_run(suite=suite)
    took(quick, task0=50.0)
    sha = Task.objects.get(name="task0").spec_sha256
    assert task_expectations({sha})[sha].usual == 75.0


def test_preparing_is_learned_from_the_events_of_runs() -> None:
    now = timezone.now()
    for seconds in (10, 20, 40):
        run = make_run(suite=make_suite(f"s{seconds}"))
        Run.objects.filter(pk=run.pk).update(started_at=now)
        event = RunEvent.objects.create(run=run, to_state=RunState.RUNNING, actor="w1")
        RunEvent.objects.filter(pk=event.pk).update(at=now + timedelta(seconds=seconds))
    found = preparation_expectation()
    assert (found.usual, found.low, found.high) == pytest.approx((20.0, 12.0, 36.0))


def preview(client: Client, **wanted: Any) -> str:
    response = client.get(reverse("reruns"), wanted)
    assert response.status_code == 200
    return response.content.decode()


def test_an_administrator_sees_the_cost_of_one_task_for_all_models_and_then_queues_it(
    administrator_client: Client, administrator: User
) -> None:
    suite = make_suite(n_tasks=4)
    published = [make_published_run(suite=suite) for _ in range(3)]
    for run in published:
        took(run, task2=400.0)
    under_way = make_run(revision=published[0].revision, suite=suite, attempt=2)
    wanted = {"suite": suite.slug, "scope": "tasks", "task": "task2", "reason": "a repaired image"}
    text = preview(administrator_client, **wanted)
    for words in ["3 new attempts of 3 models, 3 tasks in all", "20 min", "Queue 3 reruns", "1 attempt under way"]:
        assert words in text
    assert Run.objects.count() == 4
    response = administrator_client.post(reverse("reruns"), wanted, follow=True)
    assert "Queued 3 new attempts" in response.content.decode()
    new = Run.objects.filter(rerun_of__in=published)
    assert {run.rerun_of for run in new} == set(published)
    assert all(states(run) == {**dict.fromkeys(states(run), "succeeded"), "task2": "pending"} for run in new)
    assert {run.events.first().reason for run in new} == {"a repaired image"}
    assert {run.requested_by for run in new} == {administrator}
    under_way.refresh_from_db()
    assert under_way.state == RunState.CANCELLED
    assert set(Run.objects.filter(is_published=True)) == set(published)


def test_a_suite_is_rerun_onto_its_new_version_from_the_form(administrator_client: Client) -> None:
    old_suite = make_suite(n_tasks=3)
    make_published_run(suite=old_suite)
    next_version(old_suite, changed=("task1",))
    assert "Rerun published models" in preview(administrator_client)
    text = preview(administrator_client, suite=old_suite.slug, scope="failed")
    assert "1 new attempt of 1 model, 1 task in all" in text
    assert "no time is known" in text


def test_the_run_page_leads_to_the_preview(administrator_client: Client) -> None:
    run = make_published_run(suite=make_suite(n_tasks=2))
    text = administrator_client.get(reverse("run-detail", args=[run.pk])).content.decode()
    assert f'action="{reverse("reruns")}"' in text
    assert 'name="task" value="task1"' in text
    text = administrator_client.get(reverse("task-detail", args=[run.suite.slug, "task1"])).content.decode()
    assert "Rerun every model on this task" in text


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"scope": "all"}, "Name either runs or a suite."),
        ({"suite": "nothing", "scope": "all"}, "There is no such suite"),
        ({"suite": "medheb-test", "scope": "some"}, "Select a valid choice"),
        ({"suite": "medheb-test", "scope": "tasks"}, "Choose at least one task"),
        ({"suite": "medheb-test", "scope": "tasks", "task": "nothing"}, "Select a valid choice"),
        ({"run": "00000000-0000-4000-8000-000000000000", "scope": "all"}, "There is no run"),
        ({"run": "x", "scope": "all"}, "is not a valid"),
    ],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_what_cannot_be_read_is_said_and_nothing_is_queued(
    method: str, wanted: dict[str, str], words: str, administrator_client: Client
) -> None:
    make_published_run(suite=make_suite())
    text = getattr(administrator_client, method)(reverse("reruns"), wanted).content.decode()
    assert words in text
    assert Run.objects.count() == 1


def test_the_preview_of_many_models_takes_few_queries(
    administrator_client: Client, django_assert_max_num_queries: Any
) -> None:
    suite = make_suite(n_tasks=2)
    for _ in range(12):
        make_published_run(suite=suite, revision=make_revision())
    with django_assert_max_num_queries(9 + 2 * 12):
        preview(administrator_client, suite=suite.slug, scope="all")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (119.4, "119 s"), (120, "2 min"), (3599, "1 h 0 min"), (4210, "1 h 10 min"), (200_000, "2 d 7 h")],
)
def test_spans_of_time_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_everything_that_a_worker_reports_of_a_task_is_carried_over() -> None:
    reported = {name for name in TaskOutcome.__slots__ if name not in NOT_COLUMNS}
    assert reported <= set(CARRIED_FIELDS)
