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
    found: dict[str, TrainedModel] = {}
    for revision, model in shown.items():
        one = TrainedModel(model.repo_id, model_address(model), len(trained[revision]))
        if one.n_tasks and one.n_tasks >= found.get(one.name, one).n_tasks:
            found[one.name] = one
    return tuple(sorted(found.values(), key=lambda one: one.name.lower()))
