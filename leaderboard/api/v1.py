"""Version 1 of the API: what it consists of."""

from ninja import NinjaAPI

from leaderboard.api import boards, embedding_models, queue, runs, scores, submissions, tasks
from leaderboard.api.errors import add_handlers

DESCRIPTION = (
    "Results of medical embedding models, and a way to submit one. Everything that is published can be read without"
    " an account, at fewer requests a minute; a token or a session adds what is yours. Every refusal has the same form:"
    " a stable code, a sentence, and the field that it is about."
)


def build_api() -> NinjaAPI:
    """The API with all of its operations."""
    api = NinjaAPI(title="MedBoard", version="1", description=DESCRIPTION, docs_url=None, urls_namespace="api-v1")
    add_handlers(api)
    for part in (boards, embedding_models, runs, scores, tasks, queue, submissions):
        api.add_router("", part.router)
    return api
