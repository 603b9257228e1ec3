"""The layout of stored boards, so that a table which older code has stored is made again instead of misread."""

import hashlib
from dataclasses import fields

from leaderboard.selectors.board_rows import BoardRow, BoardTask, Cost, GroupScore, Missing
from leaderboard.selectors.clean_means import CleanMean
from leaderboard.selectors.probe_board_rows import CellCount, ProbeBoardRow
from leaderboard.selectors.probe_boards import Place
from leaderboard.selectors.probe_rows import Ceiling, ProbeCell
from leaderboard.selectors.published import PublishedModel, TaskScore
from leaderboard.selectors.snapshots import Standing

VERSION = 1
"""To be raised when documents change in another way than by a field of the classes below."""
_CLASSES = (
    PublishedModel, BoardRow, BoardTask, Cost, GroupScore, Missing, TaskScore, Standing, Place, Ceiling, ProbeCell,
    CleanMean, ProbeBoardRow, CellCount,
)  # fmt: skip

LAYOUT = hashlib.sha256(
    repr([VERSION, *((kind.__name__, [one.name for one in fields(kind)]) for kind in _CLASSES)]).encode()
).hexdigest()[:16]
"""Changes with every field of what documents hold."""
