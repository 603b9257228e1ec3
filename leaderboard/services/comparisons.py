"""Stores how a finished rerun differs from what is published."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from leaderboard.models import RunComparison


def comparison_store(
    *,
    run_id: UUID,
    baseline_id: UUID,
    rows: Sequence[Mapping[str, Any]] = (),
    unpaired: Sequence[str] = (),
    trouble: str = "",
) -> None:
    """Store the paired differences of a run to the published one, or why there are none, in the place of earlier ones."""
    longest = RunComparison._meta.get_field("trouble").max_length  # noqa: SLF001 - public in spite of its name
    RunComparison.objects.update_or_create(
        run_id=run_id,
        defaults={
            "baseline_id": baseline_id,
            "rows": list(rows),
            "unpaired": list(unpaired),
            "trouble": trouble[:longest],
        },
    )
