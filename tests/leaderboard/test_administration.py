"""Administrators' pages: what is stuck, paused classes of workers, limits and costs."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard.exceptions import TransitionRefused
from leaderboard.models import Delivery, Run, TaskRun, User, Worker
from leaderboard.models.vocabulary import RunState, TaskRunState, WorkerClass
from leaderboard.selectors.costs import CostsBy, costs
from leaderboard.selectors.queue_times import expected_starts
from leaderboard.selectors.stuck import stuck_items
from leaderboard.services import leases
from leaderboard.services.administration import worker_class_pause, worker_class_resume, worker_report
from tests.factories import make_published_run, make_revision, make_run, make_suite, make_user

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(hours=3)


def page(client: Client, name: str, **query: str) -> str:
    answer = client.get(reverse(name), query)
    assert answer.status_code == 200
    return answer.content.decode()


class TestPausingAClass:
    @pytest.fixture
    def run(self) -> Run:
        return make_run(suite=make_suite(n_tasks=4))

    def test_its_workers_take_no_run_and_others_do(self, administrator: User, run: Run) -> None:
        worker_class_pause(actor=administrator, worker_class=WorkerClass.CPU, reason="repair")
        assert leases.run_next_claim(worker="small", worker_class=WorkerClass.CPU) is None
        assert leases.run_next_claim(worker="large", worker_class=WorkerClass.GPU_24) == run

    def test_its_workers_take_no_further_tasks_of_a_run_in_hand(self, administrator: User, run: Run) -> None:
        leases.run_next_claim(worker="w", worker_class=WorkerClass.CPU)
        leases.run_start(run_id=run.pk, worker="w")
        held = leases.task_group_claim(run_id=run.pk, worker="w", worker_class=WorkerClass.CPU)
        worker_class_pause(actor=administrator, worker_class=WorkerClass.CPU, reason="repair")
        assert leases.task_group_claim(run_id=run.pk, worker="w", worker_class=WorkerClass.CPU) == []
        leases.leases_renew(run_id=run.pk, worker="w")
        assert TaskRun.objects.filter(lease_owner="w").count() == len(held) == 2
        worker_class_resume(actor=administrator, worker_class=WorkerClass.CPU)
        assert len(leases.task_group_claim(run_id=run.pk, worker="w", worker_class=WorkerClass.CPU)) == 2

    def test_no_start_is_promised(self, administrator: User, run: Run) -> None:
        worker_report(name="w", device="cpu", versions={})
        assert expected_starts()[run.pk] is not None
        worker_class_pause(actor=administrator, worker_class=WorkerClass.CPU, reason="repair")
        assert expected_starts()[run.pk] is None

    def test_each_class_is_paused_once(self, administrator: User) -> None:
        worker_class_pause(actor=administrator, worker_class=WorkerClass.CPU, reason="repair")
        worker_class_pause(actor=administrator, worker_class=WorkerClass.GPU_16, reason="repair")
        with pytest.raises(TransitionRefused, match="paused already"):
            worker_class_pause(actor=administrator, worker_class=WorkerClass.CPU, reason="again")

    def test_everybody_is_told(self, client: Client, administrator_client: Client) -> None:
        wanted = {"worker_class": "gpu-48", "reason": "New <driver>."}
        administrator_client.post(reverse("class-pause"), wanted)
        worker_report(name="small", device="cpu", versions={})
        html = page(client, "queue")
        assert "Workers of class GPU, 48 GiB are paused." in html
        assert "New &lt;driver&gt;." in html
        assert "Up, paused" not in html
        worker_report(name="large", device="cuda:0", versions={}, worker_class="gpu-48")
        assert page(client, "queue").count("Up, paused") == 1
        assert "Let GPU, 48 GiB go on" in page(administrator_client, "administration")
        administrator_client.post(reverse("class-resume"), {"worker_class": "gpu-48"})
        assert "are paused" not in page(client, "queue")

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("class-pause", {"worker_class": "abacus", "reason": "x"}),
            ("class-pause", {"worker_class": "cpu", "reason": ""}),
            ("class-resume", {"worker_class": ""}),
            ("class-resume", {"worker_class": "cpu"}),
        ],
    )
    def test_what_cannot_be_done_is_said(self, administrator_client: Client, name: str, data: dict[str, str]) -> None:
        answer = administrator_client.post(reverse(name), data, follow=True)
        assert 'class="notice error"' in answer.content.decode()


class TestWhatIsStuck:
    def test_nothing_while_everything_works(self, administrator_client: Client) -> None:
        worker_report(name="w", device="cpu", versions={})
        make_run(suite=make_suite("one"))
        make_run(suite=make_suite("two"), state=RunState.FAILED)
        assert stuck_items() == []
        assert "Nothing is stuck" in page(administrator_client, "administration")

    def test_expired_leases_that_nobody_takes_back(self) -> None:
        run = make_run(suite=make_suite(n_tasks=2), state=RunState.RUNNING)
        run.task_runs.filter(task__position=0).update(
            state=TaskRunState.CLAIMED, lease_owner="gone", lease_expires_at=timezone.now() - LONG_AGO
        )
        (item,) = stuck_items()
        assert (item.subject, item.run_id, item.trouble) == ("Task number 0", run.pk, "held by gone, which is silent")

    def test_a_run_that_was_begun_and_left(self) -> None:
        run = make_run(state=RunState.RUNNING)
        Run.objects.update(started_at=timezone.now() - LONG_AGO)
        (item,) = stuck_items()
        assert (item.run_id, item.trouble) == (run.pk, "begun, and nobody works on it")
        run.task_runs.filter(task__position=0).update(
            state=TaskRunState.CLAIMED, lease_owner="w", lease_expires_at=timezone.now() + LONG_AGO
        )
        assert stuck_items() == []

    def test_a_run_without_a_worker_that_can_hold_it(self, administrator: User) -> None:
        run = make_run()
        Run.objects.update(worker_class="gpu-24", created_at=timezone.now() - LONG_AGO)
        worker_report(name="s", device="cuda:0", versions={}, worker_class="gpu-16")
        (item,) = stuck_items()
        assert item.run_id == run.pk
        assert "class GPU, 24 GiB" in item.trouble
        worker_report(name="l", device="cuda:0", versions={}, worker_class="gpu-80")
        assert stuck_items() == []
        worker_class_pause(actor=administrator, worker_class=WorkerClass.GPU_80, reason="repair")
        assert [item.run_id for item in stuck_items()] == [run.pk]
        Worker.objects.update(last_seen_at=timezone.now() - LONG_AGO)
        assert [item.run_id for item in stuck_items()] == [run.pk]

    def test_messages_that_nobody_sends(self) -> None:
        run = make_run(state=RunState.FAILED)
        Delivery.objects.create(
            run=run,
            recipient=run.requested_by,
            channel="email",
            outcome="failed",
            address="a@example.org",
            content={},
            next_attempt_at=timezone.now() - LONG_AGO,
            trouble="refused",
        )
        (item,) = stuck_items()
        assert item.trouble == "not sent yet; the last attempt: refused"

    def test_statistics_that_nobody_computes(self) -> None:
        make_published_run(suite=make_suite())
        assert stuck_items() == []
        Run.objects.update(published_at=timezone.now() - LONG_AGO)
        (item,) = stuck_items()
        assert item.trouble == "its statistics are older than its results"

    def test_a_rerun_that_nobody_compares(self) -> None:
        old = make_published_run(suite=make_suite())
        new = make_run(suite=old.suite, revision=old.revision, state=RunState.SUCCEEDED, attempt=2)
        Run.objects.filter(pk=new.pk).update(finished_at=timezone.now() - LONG_AGO, rerun_of=old)
        assert [item.run_id for item in stuck_items()] == [new.pk]


class TestLimits:
    def test_people_with_limits_of_their_own_and_people_found_by_name(self, administrator_client: Client) -> None:
        make_user("ada")
        User.objects.filter(pk=make_user("grace").pk).update(submissions_per_day=7)
        html = page(administrator_client, "limits")
        assert "grace" in html
        assert ">ada<" not in html
        assert ">ada<" in page(administrator_client, "limits", q="AD")
        assert "Nobody is named like this" in page(administrator_client, "limits", q="nobody%")

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"username": "nobody"}, "There is no account of this name."),
            ({"per_day": "-1"}, "greater than or equal to 0"),
            ({"per_day": "9999999999999999"}, "less than or equal to"),
            ({"at_once": "many"}, "Enter a whole number."),
            ({"reason": ""}, "Say why"),
        ],
    )
    def test_what_is_no_limit_is_refused(
        self, administrator_client: Client, submitter: User, changes: dict[str, str], words: str
    ) -> None:
        wanted = {"username": "submitter", "per_day": "5", "at_once": "5", "reason": "a workshop", **changes}
        assert words in administrator_client.post(reverse("limits"), wanted).content.decode()
        submitter.refresh_from_db()
        assert submitter.submissions_per_day is None


class TestCosts:
    @pytest.fixture(autouse=True)
    def work(self, db: None) -> None:
        """1 and 1 + 2 seconds of Ada on the CPU, the first three days ago; 10 and 10 + 20 of Grace on a GPU."""
        suite = make_suite(n_tasks=2)
        for name, repo_id, seconds, worker_class in (
            ("ada", "lab/a", 1.0, "cpu"),
            ("grace", "lab/b", 10.0, "gpu-24"),
        ):
            run = make_run(suite=suite, revision=make_revision(repo_id), user=make_user(name))
            Run.objects.filter(pk=run.pk).update(worker_class=worker_class)
            for task_run in run.task_runs.all():
                TaskRun.objects.filter(pk=task_run.pk).update(
                    seconds_embedding=seconds,
                    seconds_ranking=2 * seconds if task_run.task.position else None,
                    inputs_total=100,
                    finished_at=timezone.now(),
                )
        first = TaskRun.objects.filter(run__revision__model__repo_id="lab/a").order_by("pk")[0]
        TaskRun.objects.filter(pk=first.pk).update(finished_at=timezone.now() - timedelta(days=3))

    def test_by_person_and_class(self) -> None:
        found = costs(by=CostsBy.PERSON, days=30)
        assert [(row.subject, row.worker_class, row.seconds) for row in found.rows] == [
            ("grace", "gpu-24", 40.0),
            ("ada", "cpu", 4.0),
        ]
        assert (found.rows[0].n_inputs, found.rows[0].n_tasks, found.rows[0].n_runs) == (200, 2, 1)
        assert found.seconds == 44.0

    def test_by_model_within_a_day(self) -> None:
        assert [(row.subject, row.seconds) for row in costs(by=CostsBy.MODEL, days=1).rows] == [
            ("lab/b", 40.0),
            ("lab/a", 3.0),
        ]

    def test_by_day_the_newest_first(self) -> None:
        today = timezone.now().date()
        assert [(row.subject, row.worker_class, row.seconds) for row in costs(by=CostsBy.DAY, days=7).rows] == [
            (str(today), "cpu", 3.0),
            (str(today), "gpu-24", 40.0),
            (str(today - timedelta(days=3)), "cpu", 1.0),
        ]

    def test_what_was_carried_over_costs_nothing(self) -> None:
        one, other = TaskRun.objects.order_by("pk")[:2]
        TaskRun.objects.filter(pk=one.pk).update(carried_from=other)
        assert sum(row.n_tasks for row in costs(by=CostsBy.PERSON, days=30).rows) == 3

    def test_the_page(self, administrator_client: Client) -> None:
        assert "<td>40 s</td><td>40.0</td><td>200</td>" in page(administrator_client, "costs", by="model", days="7")
        assert administrator_client.get(reverse("costs"), {"days": "all"}).status_code == 400


@pytest.mark.parametrize("name", ["administration", "acts", "limits", "costs"])
def test_the_number_of_queries_does_not_grow(administrator_client: Client, name: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page(administrator_client, name)
        return len(captured)

    before = queries()
    suite = make_suite(n_tasks=1)
    for _ in range(4):
        make_run(suite=suite)
    Run.objects.update(created_at=timezone.now() - LONG_AGO)
    assert queries() == before
    assert before <= 20
