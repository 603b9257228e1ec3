"""The models of a page that were trained on data of its suite, for pages that do not mark figures one by one."""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.selectors.published import PublishedModel
from leaderboard.selectors.training_data import contaminated_task_names
from leaderboard.views.board_sheet import model_address


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model with the number of the suite's tasks whose data it was trained on."""

    name: str
    address: str
    n_tasks: int


def trained_models(models: Iterable[PublishedModel], *, suite_id: int) -> tuple[TrainedModel, ...]:
    """Those of the models of which that is known, by name; of several revisions the one with most. Four queries."""
    shown = {model.revision_id: model for model in models}
    trained = contaminated_task_names(set(shown), suite_id=suite_id)
    least_first = sorted(shown.values(), key=lambda model: len(trained[model.revision_id]))
    most = {model.repo_id: model for model in least_first if trained[model.revision_id]}
    return tuple(
        TrainedModel(name, model_address(most[name]), len(trained[most[name].revision_id]))
        for name in sorted(most, key=str.lower)
    )
