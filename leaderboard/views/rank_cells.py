"""Ranks with their intervals, and the groups of models that cannot be told apart."""

from collections.abc import Iterable, Mapping

from leaderboard.selectors.snapshots import Standing
from leaderboard.views import figures
from leaderboard.views.drawn import nothing
from leaderboard.views.sheets import Cell, Column

HEADERS = ("rank", "rank_lower_95", "rank_upper_95", "tie_group")
TIE_STYLES = ("tie-a", "tie-b")
UNRANKED = Cell(text=figures.NOTHING, sort=None, data=(None,) * len(HEADERS), style="rank none")


def rank_column(what: str) -> Column:
    """The column of ranks; `what` says among which models."""
    return Column(
        key="rank",
        title="Rank",
        explanation=f"95% interval of the place among {what}. A coloured edge joins models that cannot be told apart"
        " from the best of their group; equal means share a rank",
        headers=HEADERS,
        is_text=True,
    )


def place_cell(rank: int | None) -> Cell:
    """A place that has no interval, or that a row has none."""
    if rank is None:
        return nothing(style="rank none")
    return Cell(text=str(rank), sort=rank, data=(rank,), style="rank")


def rank_cell(rank: int, standing: Standing | None, styles: Mapping[int, str]) -> Cell:
    """The interval of a rank, or the rank itself where statistics do not have it yet; `styles` is by tie group."""
    if standing is None or standing.rank is None:
        return Cell(text=str(rank), sort=rank, data=(rank, None, None, None), style="rank")
    ends = (standing.rank_lower, standing.rank_upper)
    words = f"{figures.rank_interval(*ends)}, {standing.rank} by value"
    if standing.tie_group in styles:
        is_best = standing.tie_group == standing.rank
        words += (
            "; the best of its tie group" if is_best else f"; cannot be told apart from number {standing.tie_group}"
        )
    return Cell(
        text=figures.rank_interval(*ends),
        sort=standing.rank,
        data=(standing.rank, *ends, standing.tie_group),
        style=f"rank {styles.get(standing.tie_group, '')}".rstrip(),
        title=f"95% interval of the rank: {words}",
    )


def tie_styles(standings: Iterable[Standing | None]) -> dict[int, str]:
    """The edge of each tie group with more than one model, in turns, so that neighbours differ."""
    sizes: dict[int, int] = {}
    for standing in standings:
        if standing is not None and standing.tie_group is not None:
            sizes[standing.tie_group] = sizes.get(standing.tie_group, 0) + 1
    joined = [group for group in sorted(sizes) if sizes[group] > 1]
    return {group: TIE_STYLES[number % len(TIE_STYLES)] for number, group in enumerate(joined)}
