"""Chooses tasks of a suite by name."""

from collections.abc import Sequence
from typing import TypeVar

from evaluation.errors import TaskUnknown
from evaluation.probe_types import ProbeTaskSpec
from evaluation.types import TaskSpec

_Spec = TypeVar("_Spec", TaskSpec, ProbeTaskSpec)


def tasks_named(tasks: Sequence[_Spec], names: Sequence[str], *, suite: str) -> tuple[_Spec, ...]:
    """The tasks of these names in the suite's order; all tasks if no name is given. `suite` names it in messages.

    Raises:
        TaskUnknown: the suite has no task of a name.
    """
    known = {spec.name for spec in tasks}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise TaskUnknown(f"{suite} has no task called {', '.join(unknown)}; list them with 'tasks'.")
    return tuple(spec for spec in tasks if not names or spec.name in set(names))
