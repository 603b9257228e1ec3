"""The answer first: which model is best for something, in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.forms.finder import Limits, Question
from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope
from leaderboard.selectors.board_rows import Board, BoardRow
from leaderboard.views.axes import board_address
from leaderboard.views.board_sheet import model_address
from leaderboard.views.training_cells import CLEAN


@dataclass(frozen=True, slots=True)
class Answer:
    """The best model that fits a question and the next one; both None where nothing fits.

    `lead` is the difference of their means in points, `is_open` whether either may be the better one, None where no
    intervals say so: without training data there are none.
    """

    subject: str
    n_tasks: int
    n_fitting: int
    best: BoardRow | None
    best_address: str
    next: BoardRow | None
    lead: float
    is_open: bool | None
    address: str


def answer(question: Question, board: Board, *, suite: str, is_clean: bool) -> Answer:
    """The answer to a question that asks of this board. `is_clean`: it is one of `selectors.clean_boards`."""
    fitting = [row for row in board.rows if question.fits(row)]
    best, second = (*fitting[:2], None, None)[:2]
    return Answer(
        subject=_subject(question),
        n_tasks=best.n_tasks if best else 0,
        n_fitting=len(fitting),
        best=best,
        best_address=model_address(best.model) if best else "",
        next=second,
        lead=100 * (best.mean.value - second.mean.value) if best and second else 0.0,
        is_open=_is_open(best, second) if best and second and not is_clean else None,
        address=_address(question, suite, is_clean=is_clean),
    )


def _is_open(one: BoardRow, other: BoardRow) -> bool:
    """Whether two rows cannot be told apart, query by query where the board compared them so.

    Every row was compared with the best of a group of level ones. Two others are told apart if their 95% intervals do not
    overlap, which asks for more than is needed.
    """
    if one.standing and other.standing and one.standing.tie_group == one.standing.rank:
        return other.standing.tie_group == one.standing.tie_group
    return one.mean.lower <= other.mean.upper


def _subject(question: Question) -> str:
    if question.scope == AggregateScope.OVERALL:
        return ""
    return CHOICES_OF[question.scope](question.key).label


def _address(question: Question, suite: str, *, is_clean: bool) -> str:
    """The board that was asked, with the same limits as filters."""
    overall = f"{reverse('board-overall')}?suite={suite}"
    is_overall = question.scope == AggregateScope.OVERALL
    board = overall if is_overall else board_address(question.scope.value, question.key, suite=suite)
    return limited_address(board, question.limits, is_clean=is_clean)


def limited_address(board: str, limits: Limits, *, is_clean: bool) -> str:
    """The address of a board with limits as its filters."""
    chosen = limits.filters | ({"ranks": CLEAN} if is_clean else {})
    return f"{board}&{urlencode(chosen)}" if chosen else board


@dataclass(frozen=True, slots=True)
class Preset:
    """A view that a field of medicine starts from."""

    title: str
    href: str
    explanation: str


RADIOLOGY_DOMAINS = ("thoracic", "abdominal", "neuro", "musculoskeletal")


def presets(suite: str) -> Sequence[Preset]:
    """The views that are offered on the front page."""
    columns = urlencode(
        [("columns", key) for key in ("rank", "mean", *RADIOLOGY_DOMAINS, "parameters", "licence")]
        + [("sort", f"-{RADIOLOGY_DOMAINS[0]}")]
    )
    boards = (
        ("Pathology", AggregateScope.DOMAIN, "microscopy", "Tasks on microscopy"),
        ("Dermatology", AggregateScope.DOMAIN, "dermatology", "Tasks on the skin"),
        ("Ophthalmology", AggregateScope.DOMAIN, "ophthalmology", "Tasks on the eye"),
        ("3D", AggregateScope.EVIDENCE_FORM, "volume_3d", "Tasks whose evidence is a volume"),
        ("Text", AggregateScope.EVIDENCE_FORM, "text", "Tasks whose evidence is text alone"),
    )
    return (
        Preset(
            "Radiology",
            f"{reverse('board-overall')}?suite={suite}&{columns}",
            "Chest, abdomen, brain and bones side by side, sorted by the chest",
        ),
        *(
            Preset(title, board_address(scope.value, key, suite=suite), explanation)
            for title, scope, key, explanation in boards
        ),
    )
