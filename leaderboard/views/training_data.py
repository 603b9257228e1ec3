"""What administrators found about training data."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.training_data import TrainingDataMarkForm
from leaderboard.models import TrainingDataMark
from leaderboard.selectors.training_data import standing_marks
from leaderboard.services.training_data import training_data_mark, training_data_mark_lift
from leaderboard.views.access import staff_required


@require_http_methods(["GET", "HEAD", "POST"])
@staff_required
def training_data_page(request: HttpRequest) -> HttpResponse:
    """The findings that stand, and the form for another one."""
    initial = {"model": request.GET.get("model", "")[:200], "dataset": request.GET.get("dataset", "")[:64]}
    form = TrainingDataMarkForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        training_data_mark(
            model_id=values["model"].pk,
            dataset=values["dataset"],
            verdict=values["verdict"],
            reason=values["reason"],
            actor=request.user,
        )
        messages.success(request, "Recorded. Scores on tasks made from this data set are marked by it from now on.")
        return redirect("training-data")
    return render(request, "people/training_data.html", {"form": form, "marks": standing_marks()})


@require_POST
@staff_required
def training_data_lift(request: HttpRequest, mark_id: int) -> HttpResponse:
    """Let a finding stand no more."""
    try:
        training_data_mark_lift(mark_id=mark_id, actor=request.user)
    except TrainingDataMark.DoesNotExist as error:
        raise Http404("There is no such finding.") from error
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Lifted. What submitters declared holds again.")
    return redirect("training-data")
