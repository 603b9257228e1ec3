"""When each stage and each task of a run was done, as geometry for an SVG that needs no script."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.models.vocabulary import FINAL_RUN_STATES, TaskRunState
from leaderboard.selectors.runs import EventRow, RunDetail, TaskRow

WIDTH, LEFT, ROW, BAR, TOP = 720, 150, 24, 14, 6
SMALLEST = 1.5
"""The width of the shortest bar, so that it can be seen and pointed at."""
NAME_LETTERS = 22
DRAWN = (TaskRunState.SUCCEEDED, TaskRunState.FAILED, TaskRunState.CLAIMED)


@dataclass(frozen=True, slots=True)
class Span:
    """A stage of a run, from when until when."""

    state: str
    title: str
    start: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end - self.start).total_seconds()


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a row: `style` is a state, `title` what it says when pointed at."""

    x: float
    width: float
    style: str
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A row of bars under one name. `text_y` is the base line of its name."""

    name: str
    full_name: str
    y: int
    text_y: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A run from its first start on. `stages` also has what came before, in words alone, as waiting can take days."""

    stages: tuple[Span, ...]
    lanes: tuple[Lane, ...]
    seconds: float
    height: int
    description: str
    width: int = WIDTH
    left: int = LEFT
    bar: int = BAR


def run_timeline(detail: RunDetail, *, now: datetime) -> Timeline | None:
    """The timeline of a run with its events; None before it was first started."""
    start = detail.facts.started_at
    if start is None:
        return None
    end = max(detail.facts.finished_at or now, start)
    spans = stages(detail.events, end=end)
    scale = _Scale(start, end)
    rows = [
        (
            "Stages",
            "Stages",
            [scale.bar(span.start, span.end, span.state, span.title) for span in spans if span.end > start],
        )
    ]
    for worker, tasks in _by_worker(detail.tasks).items():
        rows.append((_short(worker), worker, _one_after_the_other(tasks, scale, end)))
    lanes = tuple(
        Lane(name, full_name, TOP + number * ROW, TOP + number * ROW + BAR - 3, tuple(bars))
        for number, (name, full_name, bars) in enumerate(rows)
    )
    n_tasks = sum(len(lane.bars) for lane in lanes[1:])
    words = f"{n_tasks} task{'' if n_tasks == 1 else 's'} on {len(lanes) - 1} worker{'' if len(lanes) == 2 else 's'}"  # noqa: PLR2004 - the stages' lane and one worker's
    return Timeline(spans, lanes, (end - start).total_seconds(), 2 * TOP + ROW * len(lanes), words)


def stages(events: Sequence[EventRow], *, end: datetime) -> tuple[Span, ...]:
    """The stages that a run's events tell of, in their order; one that was entered again stands again."""
    entered = [event for event in events if event.is_transition and event.to_state]
    found = []
    for event, after in zip(entered, [*entered[1:], None], strict=True):
        if event.to_state not in FINAL_RUN_STATES:
            found.append(Span(event.to_state, event.to_title, event.at, after.at if after else max(end, event.at)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Scale:
    start: datetime
    end: datetime

    def bar(self, since: datetime, until: datetime, style: str, title: str) -> Bar:
        whole = max((self.end - self.start).total_seconds(), 0.001)
        room = WIDTH - LEFT - SMALLEST
        first = min(max((since - self.start).total_seconds() / whole, 0.0), 1.0)
        last = min(max((until - self.start).total_seconds() / whole, first), 1.0)
        return Bar(
            x=round(LEFT + room * first, 1),
            width=round(max(room * (last - first), SMALLEST), 1),
            style=style,
            title=f"{title}, {_seconds((until - since).total_seconds())}",
        )


def _by_worker(tasks: Sequence[TaskRow]) -> dict[str, list[TaskRow]]:
    """The tasks that were worked on in this run, by worker, in the order in which they ended."""
    found: dict[str, list[TaskRow]] = {}
    own = [task for task in tasks if task.state in DRAWN and task.started_at and task.worker and not task.is_carried]
    for task in sorted(own, key=lambda task: (task.finished_at is None, task.finished_at or task.started_at)):
        found.setdefault(task.worker, []).append(task)
    return dict(sorted(found.items()))


def _one_after_the_other(tasks: Sequence[TaskRow], scale: _Scale, end: datetime) -> list[Bar]:
    """A group of tasks is taken at once and done in turn, so a task begins when the one before it has ended."""
    bars, free = [], scale.start
    for task in tasks:
        if task.started_at is None:
            continue
        since = max(task.started_at, free)
        until = max(task.finished_at or end, since)
        bars.append(scale.bar(since, until, task.state, f"{task.title}: {task.state_title.lower()}"))
        free = until
        if task.finished_at is None:
            break
    return bars


def _short(name: str) -> str:
    return name if len(name) <= NAME_LETTERS else f"…{name[1 - NAME_LETTERS :]}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"  # noqa: PLR2004 - where a decimal stops to matter
