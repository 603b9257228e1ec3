"""Profiles of models over the families as one round chart: 0 in the centre, a share of 1 at the rim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.views import figures
from leaderboard.views.charts import LINE_STYLES, Plane, Spoke, direction_of

WIDTH, HEIGHT = 460, 330
PLANE = Plane(WIDTH / 2, HEIGHT / 2, 120.0)
RINGS = (0.25, 0.5, 0.75, 1.0)
FEWEST_CORNERS = 3

LINES = (
    ("#0072b2", ""),
    ("#b35900", "7 3"),
    ("#00795b", "2 3"),
    ("#a8447d", "9 3 2 3"),
    ("#5b5b5b", ""),
    ("#2f8fc4", "7 3"),
    ("#8a6d00", "2 3"),
    ("#6a4fb3", "9 3 2 3"),
)
"""Colour and dashes of each line style for a file, which no style sheet reaches; the site's own are the same."""


@dataclass(frozen=True, slots=True)
class ProfileScore:
    """A share in [0, 1] with the ends of its interval, where it has one."""

    value: float
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A score on its spoke; the whisker runs from (x1, y1) to (x2, y2), a point where there is no interval."""

    x: float
    y: float
    x1: float
    y1: float
    x2: float
    y2: float
    words: str


@dataclass(frozen=True, slots=True)
class Profile:
    """One model's line. `points` is empty where fewer than three families have a score: they have no area."""

    number: int
    label: str
    style: int
    colour: str
    dashes: str
    points: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Ring:
    """A circle of equal scores and its figure in percent, which stands between the first two spokes."""

    radius: float
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class ProfileChart:
    """Everything that the drawing shows; `chance` is a closed line or empty."""

    title: str
    description: str
    spokes: tuple[Spoke, ...]
    rings: tuple[Ring, ...]
    profiles: tuple[Profile, ...]
    chance: str
    width: int = WIDTH
    height: int = HEIGHT
    centre_x: float = PLANE.centre_x
    centre_y: float = PLANE.centre_y


def profile_chart(
    spokes: Mapping[str, str],
    models: Sequence[tuple[str, Mapping[str, ProfileScore]]],
    *,
    title: str,
    chance: Mapping[str, float] | None = None,
) -> ProfileChart:
    """A line a model over named spokes (key to label); families that a model has no score in are left out of it."""
    directions = {key: direction_of(number, len(spokes)) for number, key in enumerate(spokes)}
    between = direction_of(1, 2 * max(1, len(spokes)))
    profiles = tuple(_profile(number, *model, spokes, directions) for number, model in enumerate(models))
    return ProfileChart(
        title=title,
        description=" ".join(_sentence(label, scores, spokes) for label, scores in models),
        spokes=tuple(PLANE.spoke(label, directions[key]) for key, label in spokes.items()),
        rings=tuple(Ring(PLANE.radius * share, f"{share:.0%}", *PLANE.point(between, share)) for share in RINGS),
        profiles=profiles,
        chance=_area({key: value for key, value in (chance or {}).items() if key in spokes}, directions),
    )


def _profile(
    number: int,
    label: str,
    scores: Mapping[str, ProfileScore],
    spokes: Mapping[str, str],
    directions: Mapping[str, tuple[float, float]],
) -> Profile:
    known = {key: scores[key] for key in spokes if key in scores}
    colour, dashes = LINES[number % LINE_STYLES]
    return Profile(
        number=number,
        label=label,
        style=number % LINE_STYLES,
        colour=colour,
        dashes=dashes,
        points=_area({key: score.value for key, score in known.items()}, directions),
        marks=tuple(_mark(label, spokes[key], score, directions[key]) for key, score in known.items()),
    )


def _mark(label: str, family: str, score: ProfileScore, direction: tuple[float, float]) -> Mark:
    low = score.value if score.lower is None else score.lower
    high = score.value if score.upper is None else score.upper
    return Mark(
        *PLANE.point(direction, score.value),
        *PLANE.point(direction, low),
        *PLANE.point(direction, high),
        words=f"{label}, {family}: {_score_words(score)}",
    )


def _area(values: Mapping[str, float], directions: Mapping[str, tuple[float, float]]) -> str:
    if len(values) < FEWEST_CORNERS:
        return ""
    corners = (PLANE.point(direction, values[key]) for key, direction in directions.items() if key in values)
    return " ".join(f"{x},{y}" for x, y in corners)


def _sentence(label: str, scores: Mapping[str, ProfileScore], spokes: Mapping[str, str]) -> str:
    parts = [
        f"{family} {_score_words(scores[key])}" if key in scores else f"{family} not evaluated"
        for key, family in spokes.items()
    ]
    return f"{label}: {'; '.join(parts)}."


def _score_words(score: ProfileScore) -> str:
    ends = figures.interval(score.lower, score.upper)
    return f"{figures.percent(score.value)} ({ends})" if ends else figures.percent(score.value)
