"""What runs cost: speed, memory, and the device that both were measured on."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from django.db.models import Max, Sum
from django.db.models.fields.json import KT

from leaderboard.models import Run, TaskRun
from leaderboard.models.vocabulary import TaskRunState
from leaderboard.selectors.board_rows import Cost


def runs_with_devices(run_ids: Collection[UUID]) -> list[Run]:
    """Runs with their models and, as `device`, what the first worker recorded; by name. One query."""
    return list(
        Run.objects.filter(pk__in=run_ids)
        .select_related("revision__model")
        .defer("environment", "model_description")
        .annotate(device=KT("environment__device"))
        .order_by("revision__model__repo_id", "revision_id")
    )


def run_costs(runs: Sequence[Run]) -> dict[UUID, Cost]:
    """The costs of runs of `runs_with_devices`, over the tasks that each evaluated itself. One query."""
    recorded = {
        row["run_id"]: row
        for row in TaskRun.objects.filter(
            run__in=[run.pk for run in runs], state=TaskRunState.SUCCEEDED, carried_from__isnull=True
        )
        .order_by()
        .values("run_id")
        .annotate(inputs=Sum("inputs_total"), seconds=Sum("seconds_embedding"), peak=Max("peak_memory_bytes"))
    }
    found = {}
    for run in runs:
        row = recorded.get(run.pk, {})
        inputs, seconds = row.get("inputs"), row.get("seconds")
        found[run.pk] = Cost(
            inputs_per_second=inputs / seconds if inputs and seconds else None,
            peak_memory_bytes=row.get("peak"),
            device=device_name(run.device or ""),
        )
    return found


def device_name(recorded: str) -> str:
    """The kind of a recorded device, without its number on its machine: "cuda:0 (NVIDIA H200)" is "NVIDIA H200"."""
    _, _, name = recorded.partition("(")
    return name.removesuffix(")") or recorded.partition(":")[0]


def usual_device(costs: Iterable[Cost]) -> str:
    """What most runs ran on; empty where nothing is known."""
    counted = Counter(cost.device for cost in costs if cost.device)
    return max(counted, key=lambda device: (counted[device], device), default="")
