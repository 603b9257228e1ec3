"""The list of known systems."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.selectors.systems import System, known_systems, repositories_on_boards
from leaderboard.views import figures
from leaderboard.views.sheets import Cell, Column, Group, Sheet, sorted_sheet, text_cell
from leaderboard.views.tables import download, table

COLUMNS = (
    Column(
        "system", "System", "Its name and its repository on the hub", ("system", "id"), is_text=True, is_row_head=True
    ),
    Column("kind", "Kind", "Architecture by which it is loaded", ("family",), "left", is_text=True),
    Column("config", "Encode config", "How it is encoded here", ("encode_config",), "left", is_text=True),
    Column("embeds", "Embeds", "What it can embed", ("embeds",), "left", is_text=True),
    Column("dimension", "Dimension", "Numbers in a vector", ("dimension",)),
    Column("parameters", "Parameters", "Numbers in its weights", ("parameters",)),
    Column("tokens", "Tokens", "The most tokens of a text", ("context_tokens",)),
    Column("pixels", "Pixels", "Side of the square that an image becomes", ("image_pixels",)),
    Column("weights", "Weights", "How its weights are published", ("weights", "conversion"), "left", is_text=True),
    Column("licence", "Licence", "Licence of its weights", ("licence", "gated"), "left", is_text=True),
    Column(
        "notes",
        "Notes",
        "What is special, and where the figures come from",
        ("notes", "source"),
        "text long",
        is_text=True,
    ),
)


def page(request: HttpRequest) -> HttpResponse:
    """Every known system, with a link to its page where it stands on a board."""
    on_boards = repositories_on_boards()
    systems = known_systems(settings.KNOWN_SYSTEMS)
    rows = tuple(_row(system, on_boards.get(system.id.lower(), "")) for system in systems)
    sheet = sorted_sheet(Sheet("Known systems", COLUMNS, (Group("", rows),)), request=request)
    shown = table("systems", sheet, request=request)
    if file := download(request, [shown], stem="medboard"):
        return file
    context = {
        "section": "methods",
        "table": shown,
        "n_on_boards": sum(system.id.lower() in on_boards for system in systems),
    }
    return render(request, "catalogue/systems.html", context)


def _row(system: System, on_board: str) -> tuple[Cell, ...]:
    href = reverse("model-detail", args=[on_board]) if on_board else ""
    conversion = f"convert {system.conversion}" if system.conversion else ""
    return (
        Cell(
            system.title, system.title.lower(), (system.title, system.id), note=system.id, href=href, is_row_head=True
        ),
        Cell(figures.kind_title(system.family), figures.kind_title(system.family).lower(), (system.family,), "left"),
        text_cell(system.encode_config),
        text_cell(", ".join(system.embeds)),
        _number(system.dimension),
        Cell(figures.quantity(system.parameters), system.parameters, (system.parameters,)),
        _number(system.context_tokens),
        _number(system.image_pixels),
        Cell(system.weights, system.weights, (system.weights, system.conversion), "left", note=conversion),
        _licence(system),
        Cell(
            system.notes,
            system.notes.lower(),
            (system.notes, system.source),
            "text long",
            note=f"Figures: {system.source}",
        ),
    )


def _number(number: int | None) -> Cell:
    return Cell(figures.NOTHING if number is None else f"{number:,}", number, (number,))


def _licence(system: System) -> Cell:
    gated = {True: "gated", False: "open", None: ""}[system.gated]
    return Cell(
        system.licence or figures.NOTHING,
        system.licence,
        (system.licence, gated),
        "left",
        note=gated if system.gated else "",
    )
