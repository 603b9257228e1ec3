"""What pages of models say of owners."""

from django import template

from leaderboard.selectors.ownership import owners_shown

register = template.Library()


@register.simple_tag
def owners_of(repo_id: str) -> list[str]:
    """The names of those whom the page of a model names as its owners. One query."""
    return owners_shown(repo_id=repo_id)
