"""What monitoring reads, in the text format of Prometheus. All of it comes from the database, so any site answers."""

from collections.abc import Iterator, Sequence

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from leaderboard.models import Priority
from leaderboard.models.vocabulary import WorkerClass
from leaderboard.selectors import metrics

PRIORITIES = {value: Priority(value).name.lower() for value in Priority.values}


@require_safe
@never_cache
def metrics_page(request: HttpRequest) -> HttpResponse:
    """The metrics, for whoever has the token. Without a token in the settings there is no such page."""
    if not settings.METRICS_TOKEN:
        raise Http404("There is no such page.")
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
        answer = HttpResponse("Send the header Authorization: Bearer TOKEN.\n", status=401, content_type="text/plain")
        answer["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return answer
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Board())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Board(Collector):
    """Reads everything anew at each scrape."""

    def describe(self) -> list[Metric]:
        """Nothing: names need not be known before the first scrape."""
        return []

    def collect(self) -> Iterator[Metric]:
        yield from _queue()
        yield from _workers()
        yield from _work()


def _queue() -> Iterator[Metric]:
    runs = GaugeMetricFamily("medboard_runs", "Runs.", labels=["suite", "priority", "state"])
    for row in metrics.runs_by_state():
        runs.add_metric([row["suite__slug"], PRIORITIES[row["priority"]], row["state"]], row["n"])
    yield runs
    tasks = GaugeMetricFamily("medboard_task_runs", "Tasks of runs.", labels=["state"])
    for row in metrics.task_runs_by_state():
        tasks.add_metric([row["state"]], row["n"])
    yield tasks
    oldest = GaugeMetricFamily(
        "medboard_queue_oldest_seconds", "Age of the run that has waited longest.", labels=["priority"]
    )
    for row in metrics.oldest_waits():
        oldest.add_metric([PRIORITIES[row["priority"]]], float(row["seconds"]))
    yield oldest
    yield from _waiting_work()
    yield GaugeMetricFamily(
        "medboard_leases_expired", "Leases that ran out and were not taken back yet.", value=metrics.expired_leases()
    )
    deliveries = GaugeMetricFamily("medboard_deliveries", "Messages to people.", labels=["channel", "state"])
    for row in metrics.deliveries_by_state():
        deliveries.add_metric([row["channel"], row["state"]], row["n"])
    yield deliveries


def _waiting_work() -> Iterator[Metric]:
    """What decides how many workers there should be. Every class is there, so that none of it means none."""
    runs = GaugeMetricFamily("medboard_waiting_runs", "Runs that wait for a worker.", labels=["worker_class"])
    seconds = GaugeMetricFamily(
        "medboard_waiting_work_seconds", "Expected seconds of the runs that wait.", labels=["worker_class"]
    )
    found = {row["worker_class"]: row for row in metrics.waiting_work()}
    for worker_class in WorkerClass.values:
        row = found.get(worker_class, {"n": 0, "seconds": 0})
        runs.add_metric([worker_class], row["n"])
        seconds.add_metric([worker_class], float(row["seconds"]))
    yield from (runs, seconds)


def _workers() -> Iterator[Metric]:
    labels = ["worker", "device"]
    age = GaugeMetricFamily("medboard_worker_heartbeat_age_seconds", "Since a worker was last seen.", labels=labels)
    memory = GaugeMetricFamily("medboard_worker_memory_bytes", "Resident, with its child.", labels=labels)
    for row in metrics.heartbeats():
        names = [row["name"], row["device"]]
        age.add_metric(names, float(row["age"]))
        if row["memory_bytes"] is not None:
            memory.add_metric(names, row["memory_bytes"])
    yield from (age, memory)


def _work() -> Iterator[Metric]:
    failed = GaugeMetricFamily("medboard_runs_failed", "Runs that failed.", labels=["kind", "code"])
    for row in metrics.failures():
        failed.add_metric([row["error_kind"], row["error_code"]], row["n"])
    yield failed
    done = CounterMetricFamily("medboard_tasks_done", "Tasks that succeeded.", labels=["suite"])
    inputs = CounterMetricFamily("medboard_inputs_embedded", "Inputs of tasks that succeeded.", labels=["suite"])
    seconds = CounterMetricFamily("medboard_task_seconds", "Time in tasks that succeeded.", labels=["suite", "stage"])
    for row in metrics.task_work():
        suite = row["task__suite__slug"]
        done.add_metric([suite], row["tasks"])
        inputs.add_metric([suite], row["inputs"])
        seconds.add_metric([suite, "embedding"], row["embedding"] or 0.0)
        seconds.add_metric([suite, "ranking"], row["ranking"] or 0.0)
    yield from (done, inputs, seconds)
    yield _histogram(
        "medboard_run_duration_seconds", "Of runs, from start to end.", ["suite", "state"], metrics.run_durations()
    )
    waits = [
        metrics.Durations((PRIORITIES[int(found.labels[0])],), found.counts, found.total, found.seconds)
        for found in metrics.run_waits()
    ]
    yield _histogram("medboard_run_wait_seconds", "Of runs, from queue to start.", ["priority"], waits)


def _histogram(name: str, words: str, labels: list[str], found: Sequence[metrics.Durations]) -> HistogramMetricFamily:
    family = HistogramMetricFamily(name, words, labels=labels)
    for durations in found:
        bounds = [str(float(bound)) for bound in metrics.DURATION_BOUNDS]
        buckets = [*zip(bounds, durations.counts, strict=True), ("+Inf", durations.total)]
        family.add_metric(durations.labels, buckets, durations.seconds)
    return family
