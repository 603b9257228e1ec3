"""Which model and which of its published results an address asks for."""

from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest

from leaderboard.models import EmbeddingModel
from leaderboard.models.vocabulary import SuiteKind
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.embedding_models import RunSummary, listed_model, run_history


@dataclass(frozen=True, slots=True)
class ModelResults:
    """A model with all its runs, those of them that stand on boards, and the one that is shown, if there is any."""

    model: EmbeddingModel
    history: tuple[RunSummary, ...]
    published: tuple[RunSummary, ...]
    chosen: RunSummary | None

    def suite(self) -> SuiteSummary:
        """The suite of the run that is shown. Two queries."""
        if self.chosen is None:
            raise ValueError(f"{self.model.repo_id} has no published result")
        return next(suite for suite in live_suites() if suite.slug == self.chosen.suite_slug)


def model_results(request: HttpRequest, repo_id: str) -> ModelResults:
    """The model of this name, opened at the published run that `suite` and `revision` in the address choose.

    Raises:
        Http404: there is no such model, or its owner does not want it listed.
        BadRequest: the revision is no number.
    """
    model = None if "\x00" in repo_id else listed_model(repo_id=repo_id)
    if model is None:
        raise Http404("There is no such model, or its owner does not want it listed.")
    history = run_history(model_id=model.pk)
    published = tuple(run for run in history if run.is_published and run.suite_is_live)
    return ModelResults(model, history, published, _chosen(published, request))


def _chosen(published: tuple[RunSummary, ...], request: HttpRequest) -> RunSummary | None:
    suite, revision = request.GET.get("suite", ""), request.GET.get("revision", "")
    if revision and not (revision.isascii() and revision.isdigit()):
        raise BadRequest("A revision is chosen by its number.")
    fitting = [
        run for run in published if suite in {"", run.suite_slug} and (not revision or run.revision.pk == int(revision))
    ]
    return max(fitting, key=_first_shown, default=None)


def _first_shown(run: RunSummary) -> tuple[bool, bool, datetime | None]:
    """Real data before synthetic ones, retrieval before probing, the newest first."""
    return (not run.suite_is_synthetic, run.suite_kind == SuiteKind.RETRIEVAL, run.published_at)
