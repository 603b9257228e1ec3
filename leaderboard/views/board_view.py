"""What an address asks of a board: which rows and columns, in which order, and which page of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict

from leaderboard.forms.boards import BoardFilterForm
from leaderboard.views import figures
from leaderboard.views.drawn import ALWAYS, Drawn, chosen_columns, drawn_sheet, ordered_rows
from leaderboard.views.files import FORMATS, RESPONSES
from leaderboard.views.sheets import Sheet, address_with, linked_sheet

ROWS_OF_A_PAGE = 50
RARE_FILTERS = ("max_dimension", "gated", "declared", "submitted_after")


@dataclass(frozen=True, slots=True)
class Choice:
    """A column that can be shown."""

    key: str
    title: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Link:
    """A page of a long board; without an address it is a gap, or the page that is shown."""

    text: str
    href: str
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board as its address asks for it; `matching` are the rows that pass the filters, in order."""

    form: BoardFilterForm
    is_valid: bool
    matching: tuple[Any, ...]
    columns: tuple[Drawn, ...]
    groups: tuple[tuple[str, tuple[Any, ...]], ...]
    page: Page
    sheet: Sheet
    choices: Mapping[str, Sequence[Choice]]
    kept: Sequence[tuple[str, str]]
    reference: str
    parameters: QueryDict

    @property
    def is_filtered(self) -> bool:
        """Whether the filters can leave a row out."""
        return self.is_valid and self.form.filter.is_set

    @property
    def has_rare_filters(self) -> bool:
        """Whether a filter is set that is folded away otherwise."""
        return any(self.parameters.get(name) for name in RARE_FILTERS)

    @property
    def kept_columns(self) -> list[str]:
        """The columns that the address names, for the form of the filters to keep."""
        return self.parameters.getlist("columns")

    @property
    def downloads(self) -> list[tuple[str, str]]:
        """The formats in which this view can be had, with their addresses."""
        return [(words, address_with(self.parameters, format=name, page="")) for name, words in FORMATS.items()]

    @property
    def default_columns_address(self) -> str:
        """The same view with the columns that are shown if nothing is chosen."""
        return address_with(self.parameters, columns="", page="")

    @property
    def pages(self) -> list[Link]:
        """The pages of a long board."""
        if self.page.paginator.num_pages == 1:
            return []
        return [
            Link(
                str(number),
                "" if number == self.page.number else address_with(self.parameters, page=str(number)),
                number == self.page.number,
            )
            if isinstance(number, int)
            else Link("…", "")
            for number in self.page.paginator.get_elided_page_range(self.page.number, on_each_side=2, on_ends=1)
        ]


def board_view(
    request: HttpRequest,
    *,
    rows: Sequence[Any],
    drawn: Sequence[Drawn],
    caption: str,
    order: str,
    group_of: Callable[[Any], str] = lambda _: "",
    reference: str = "",
) -> BoardView:
    """The view of a board that an address asks for.

    `order` is the column by which rows stand if the address names none, `group_of` the title of the rows' part of the
    table, and `reference` that of the rows of what guessing gives.

    Raises:
        BadRequest: the address names a column that the board lacks, or a page that is no number.
        Http404: the board has no such page.
    """
    form = BoardFilterForm(request.GET)
    form.offer(rows, kind_titles=figures.KIND_TITLES)
    is_valid = form.is_valid()
    matching = [row for row in rows if form.filter.accepts(row)] if is_valid else []
    columns = chosen_columns(drawn, request.GET.getlist("columns"))
    sort = request.GET.get("sort") or order
    titles = list(dict.fromkeys(group_of(row) for row in rows))
    groups = tuple(
        (title, tuple(ordered_rows(drawn, [row for row in matching if group_of(row) == title], sort)))
        for title in titles
    )
    everything = [(title, row) for title, members in groups for row in members]
    page = _page(request, everything)
    shown = [(title, [row for found, row in page.object_list if found == title]) for title in titles]
    return BoardView(
        form=form,
        is_valid=is_valid,
        matching=tuple(row for _, row in everything),
        columns=columns,
        groups=groups,
        page=page,
        sheet=linked_sheet(
            drawn_sheet(caption, columns, shown, reference=reference), parameters=request.GET, order=sort
        ),
        choices=_choices(drawn, columns),
        kept=[
            (name, value)
            for name, values in request.GET.lists()
            for value in values
            if value and name not in {"columns", "page", "format"}
        ],
        reference=reference,
        parameters=request.GET,
    )


def file_of(view: BoardView, request: HttpRequest, *, stem: str) -> HttpResponse | None:
    """The view as a file, every page of it, if the address asks for a file.

    Raises:
        BadRequest: there is no such format, or the filters make no sense.
    """
    wanted = request.GET.get("format")
    if not wanted:
        return None
    if wanted not in RESPONSES:
        raise BadRequest(f"There is no format {wanted!r}; there are {', '.join(RESPONSES)}.")
    if not view.is_valid:
        raise BadRequest("These filters make no sense.")
    sheet = drawn_sheet(view.sheet.caption, view.columns, view.groups, reference=view.reference)
    return RESPONSES[wanted](sheet, file_name=stem)


def _page(request: HttpRequest, rows: Sequence[Any]) -> Page:
    wanted = request.GET.get("page") or "1"
    if not (wanted.isascii() and wanted.isdigit() and int(wanted)):
        raise BadRequest("A page is a number from 1.")
    paginator = Paginator(rows, ROWS_OF_A_PAGE)
    if int(wanted) > paginator.num_pages:
        raise Http404("This board has no such page.")
    return paginator.page(int(wanted))


def _choices(drawn: Sequence[Drawn], shown: Sequence[Drawn]) -> dict[str, list[Choice]]:
    found: dict[str, list[Choice]] = {}
    keys = {one.column.key for one in shown}
    for one in drawn:
        if one.column.key != ALWAYS:
            found.setdefault(one.heading, []).append(Choice(one.column.key, one.column.title, one.column.key in keys))
    return found
