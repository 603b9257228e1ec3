"""What pages of models and tasks say of owners and of training data."""

from typing import Any

from django import template

from leaderboard.models import ModelRevision, Task
from leaderboard.selectors.ownership import owners_shown
from leaderboard.selectors.training_data import TrainedOn, contaminated_models, trained_on

register = template.Library()


@register.simple_tag
def owners_of(repo_id: str) -> list[str]:
    """The names of those whom the page of a model names as its owners. One query."""
    return owners_shown(repo_id=repo_id)


@register.simple_tag
def training_data_of(revision_id: Any, suite_id: int) -> tuple[TrainedOn, ...]:
    """What a revision was trained on, with the number of tasks of a suite that this contaminates. Four queries."""
    return trained_on(ModelRevision.objects.get(pk=revision_id), suite_id=suite_id)


@register.simple_tag
def models_trained_on_sources_of(task: Task) -> tuple[str, ...]:
    """The names of the models on a task that were trained on a source of it. Four queries."""
    return contaminated_models(task)
