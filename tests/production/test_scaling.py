"""The metric by which workers are added and taken away."""

from datetime import timedelta

from django.test import Client
from django.utils import timezone

from leaderboard.models import Run
from tests.factories import make_run, make_suite


def test_the_waiting_work_of_each_class_is_known(client: Client, db: None, settings: object) -> None:
    settings.METRICS_TOKEN = "a-token"
    suite = make_suite(n_tasks=1)
    waits = {"cpu": 100, "gpu-24": 1000}
    for worker_class, seconds in waits.items():
        for _ in range(2):
            run = make_run(suite=suite)
            Run.objects.filter(pk=run.pk).update(worker_class=worker_class, expected_seconds=seconds)
    later = make_run(suite=suite)
    Run.objects.filter(pk=later.pk).update(retry_at=timezone.now() + timedelta(hours=1))
    make_run(suite=suite, state="running")
    text = client.get("/metrics", headers={"Authorization": "Bearer a-token"}).content.decode()
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("medboard_waiting_"))
    for worker_class in ("cpu", "gpu-16", "gpu-24", "gpu-48", "gpu-80", "gpu-141"):
        n = 2 if worker_class in waits else 0
        assert float(found[f'medboard_waiting_runs{{worker_class="{worker_class}"}}']) == n
        label = f'medboard_waiting_work_seconds{{worker_class="{worker_class}"}}'
        assert float(found[label]) == n * waits.get(worker_class, 0)
