"""The profiles of published runs over the families of a board."""

from collections.abc import Mapping, Sequence

from leaderboard.models.vocabulary import AggregateScope, Family
from leaderboard.selectors.board_rows import Board
from leaderboard.selectors.embedding_models import PublishedRun
from leaderboard.views.profile_chart import ProfileChart, ProfileScore, profile_chart


def run_profile(run: PublishedRun, board: Board) -> ProfileChart | None:
    """The profile of a run with the chance level of each family; None where it has no family's mean."""
    found = run.groups[AggregateScope.FAMILY.value]
    scores = {key: ProfileScore(score.value, score.lower, score.upper) for key, score in found.items()}
    title = f"Hit@1 of {run.model.repo_id} by family"
    return families_chart([(run.model.name, scores)], board.group_chance, title=title) if scores else None


def families_chart(
    models: Sequence[tuple[str, Mapping[str, ProfileScore]]], chance: Mapping[str, float], *, title: str
) -> ProfileChart:
    """Profiles over the families that any of the models has a score in, or that the board has tasks of."""
    has_tasks = {key for _, scores in models for key in scores} | set(chance)
    spokes = {family.value: family.label for family in Family if family.value in has_tasks}
    return profile_chart(spokes, models, title=title, chance=chance)
