"""When waiting runs are expected to start."""

from datetime import timedelta

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Run
from leaderboard.models.vocabulary import RunState
from leaderboard.selectors.queue_times import Ratios, Waiting, expected_starts, play
from leaderboard.services import leases
from leaderboard.services.administration import worker_report, worker_takes
from tests.factories import make_run, make_suite, make_user


def waiting(seconds: float, worker_class: str = "cpu", ratios: tuple[float, ...] = (1.0, 2.0)) -> Waiting:
    return Waiting(worker_class, seconds, np.array(ratios))


def test_runs_go_to_the_worker_that_is_free_first() -> None:
    # two workers, free after 0 and 5 seconds; in the second play everything takes twice as long
    starts = play(
        [waiting(10), waiting(10), waiting(10)], classes=["cpu", "cpu"], free=np.array([[0.0, 0.0], [5.0, 5.0]])
    )
    assert [list(start) for start in starts] == [[0, 0], [5, 5], [10, 20]]


def test_a_run_waits_for_a_worker_that_can_hold_it() -> None:
    starts = play(
        [waiting(10, "gpu-24"), waiting(10, "gpu-80"), waiting(10)],
        classes=["cpu", "gpu-48"],
        free=np.array([[0.0, 0.0], [7.0, 7.0]]),
    )
    assert list(starts[0]) == [7, 7]
    assert starts[1] is None
    assert list(starts[2]) == [0, 0]


def test_ratios_are_those_of_the_suite_where_enough_runs_ended_else_of_all_else_unknown() -> None:
    ratios = Ratios({1: [2.0] * 5, 2: [8.0]})
    assert set(ratios.drawn(1)) == {2.0}
    assert set(ratios.drawn(2)) == {2.0, 8.0}
    assert np.median(Ratios({2: [8.0]}).drawn(2)) == pytest.approx(1)


def past_runs(expected: float, actual: float) -> Run:
    suite = make_suite(n_tasks=2)
    now = timezone.now()
    for _ in range(5):
        run = make_run(suite=suite, state=RunState.SUCCEEDED)
        Run.objects.filter(pk=run.pk).update(
            expected_seconds=expected, started_at=now - timedelta(seconds=actual), finished_at=now
        )
    return run


def until(start: object) -> float:
    return (start.median - timezone.now()).total_seconds()


@pytest.mark.django_db
def test_starts_follow_from_past_timings_and_from_what_is_in_hand() -> None:
    """Past runs took half of what was expected of them: 100 seconds of 200."""
    suite = past_runs(200, 100).suite
    in_hand, first, second = (make_run(suite=suite) for _ in range(3))
    Run.objects.update(expected_seconds=200)
    worker_report(name="w1", device="cpu", versions={})
    leases.run_next_claim(worker="w1")
    worker_takes(name="w1", run_id=in_hand.pk)
    starts = expected_starts()
    assert list(starts) == [first.pk, second.pk]
    assert until(starts[first.pk]) == pytest.approx(100, abs=5)
    assert until(starts[second.pk]) == pytest.approx(200, abs=5)
    assert starts[second.pk].earliest <= starts[second.pk].median <= starts[second.pk].latest


@pytest.mark.django_db
def test_without_a_worker_that_can_hold_it_no_start_is_promised(client: Client) -> None:
    run = make_run()
    assert expected_starts() == {run.pk: None}
    assert "when a worker of class cpu or larger is up" in client.get(reverse("queue")).content.decode()


@pytest.mark.django_db
def test_the_queue_is_shown_in_pages(client: Client) -> None:
    suite, user = make_suite(n_tasks=1), make_user()
    for _ in range(51):
        make_run(suite=suite, user=user)
    first, second, beyond, odd = (
        client.get(reverse("queue"), {"page": page}).content.decode() for page in ("1", "2", "99", "x²")
    )
    assert "<td>50</td>" in first
    assert "<td>51</td>" not in first
    assert "<td>51</td>" in second
    assert "<td>51</td>" in beyond
    assert "<td>50</td>" in odd
