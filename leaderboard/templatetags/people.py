"""What pages of models and tasks say of owners and of training data."""

from django import template

from leaderboard.models import EmbeddingModel, Task
from leaderboard.selectors.ownership import owners_shown
from leaderboard.selectors.training_data import TrainedOn, contaminated_models, trained_on

register = template.Library()


@register.simple_tag
def owners_of(repo_id: str) -> list[str]:
    """The names of those whom the page of a model names as its owners. One query."""
    return owners_shown(repo_id=repo_id)


@register.simple_tag
def training_data_of(model: EmbeddingModel, revision_id: int, suite_id: int) -> tuple[TrainedOn, ...]:
    """What a model's revision was trained on, with the number of tasks of a suite that this contaminates. Three queries."""
    return trained_on(revision_id=revision_id, model_id=model.pk, suite_id=suite_id)


@register.simple_tag
def models_trained_on_sources_of(task: Task) -> tuple[str, ...]:
    """The names of the models on a task that were trained on a source of it. Four queries."""
    return contaminated_models(task)
