"""The log of administrative acts, as a page and as a CSV file."""

import csv
import json
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.forms.administration import ActsForm
from leaderboard.selectors.acts import ActFilter, ActRow, acts, acts_page
from leaderboard.views.access import staff_required
from leaderboard.views.paging import asked_page
from leaderboard.views.sheets import address_with, harmless

HEADER = ("at", "by", "what", "subject", "run", "repository", "reason", "details")


class _Lines:
    """A file that hands back what is written to it."""

    def write(self, line: str) -> str:
        return line


@require_safe
@never_cache
@staff_required
def acts_list(request: HttpRequest) -> HttpResponseBase:
    """The acts that the filters leave, a page at a time, or all of them as a file."""
    form = ActsForm(request.GET)
    if not form.is_valid():
        return render(request, "administration/acts.html", {"form": form, "section": "administration"}, status=400)
    wanted = ActFilter(**form.cleaned_data)
    if request.GET.get("format") == "csv":
        return StreamingHttpResponse(
            _csv_lines(acts(wanted)),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="medboard-acts.csv"'},
        )
    page = acts_page(wanted, page=asked_page(request))
    return render(
        request,
        "administration/acts.html",
        {
            "form": form,
            "acts": page,
            "csv_address": address_with(request.GET, format="csv", page=""),
            "before": address_with(request.GET, page=str(page.page - 1)),
            "after": address_with(request.GET, page=str(page.page + 1)),
            "section": "administration",
        },
    )


def _csv_lines(rows: Iterator[ActRow]) -> Iterator[str]:
    writer = csv.writer(_Lines())
    yield writer.writerow(HEADER)
    for row in rows:
        facts = (row.actor, row.kind, row.subject, str(row.run_id or ""), row.repo_id, row.reason)
        details = json.dumps(row.details, ensure_ascii=False, sort_keys=True) if row.details else ""
        yield writer.writerow([row.at.isoformat(), *(harmless(fact) for fact in facts), details])
