"""The columns that every board has: size, speed, memory, and what is known of a model."""

from collections.abc import Callable
from typing import Any

from leaderboard.selectors.board_rows import Cost
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.drawn import Drawn, nothing
from leaderboard.views.sheets import Cell, Column

HEADING = "Model and cost"
GIBIBYTE = 1024**3


def model_columns(device: str) -> tuple[Drawn, ...]:
    """Columns over rows that have a `model`, a `cost` and a `submitted_at`. `device` is what most runs ran on."""
    where = f" on {device}" if device else ""
    return (
        _fact("parameters", "Size", "Number of parameters", lambda model: model.parameters, figures.quantity),
        _fact("dimension", "Dim.", "Length of an embedding", lambda model: model.dimension, str),
        _cost(
            Column(
                "speed",
                "Inputs/s",
                f"Inputs embedded a second over the whole run{where}; ‡ marks another device",
                ("inputs_per_second", "inputs_per_second_device"),
            ),
            value_of=lambda cost: cost.inputs_per_second,
            words=figures.rate,
            device=device,
        ),
        _cost(
            Column(
                "memory",
                "Peak GiB",
                f"Greatest memory of the evaluating process{where}; ‡ marks another device",
                ("peak_memory_gib", "peak_memory_gib_device"),
            ),
            value_of=lambda cost: None if cost.peak_memory_bytes is None else cost.peak_memory_bytes / GIBIBYTE,
            words=lambda value: f"{value:.1f}",
            device=device,
        ),
        _words("licence", "Licence", "Licence that the repository states", lambda row: row.model.licence),
        _words("gated", "Access", "Whether the hub asks for consent before a download", _access, is_default=False),
        _words("device", "Device", "What the run was made on", lambda row: row.cost.device, is_default=False),
        _words("submitted", "Submitted", "When the revision first came to this site", _submitted, is_default=False),
    )


def _fact(
    key: str,
    title: str,
    explanation: str,
    value_of: Callable[[PublishedModel], int | None],
    words: Callable[[int], str],
) -> Drawn:
    def cell(row: Any) -> Cell:
        value = value_of(row.model)
        return nothing() if value is None else Cell(text=words(value), sort=value, data=(value,))

    return Drawn(Column(key, title, explanation, (key,)), cell, heading=HEADING)


def _cost(
    column: Column, *, value_of: Callable[[Cost], float | None], words: Callable[[float], str], device: str
) -> Drawn:
    def cell(row: Any) -> Cell:
        value = value_of(row.cost)
        if value is None:
            return nothing(width=2)
        is_other = row.cost.device != device
        return Cell(
            text=words(value),
            sort=value,
            data=(figures.rounded(value), row.cost.device),
            style="aside" if is_other else "",
            mark="‡" if is_other else "",
            title=f"measured on {row.cost.device or 'an unknown device'}, not on {device}" if is_other else "",
        )

    return Drawn(column, cell, lambda: nothing(width=2), heading=HEADING)


def _words(key: str, title: str, explanation: str, text_of: Callable[[Any], str], *, is_default: bool = True) -> Drawn:
    def cell(row: Any) -> Cell:
        text = text_of(row)
        return Cell(
            text=text or figures.NOTHING,
            sort=text.lower() or None,
            data=(text,),
            style="left brief" if text else "left none",
        )

    column = Column(key, title, explanation, (key,), style="left", is_text=True)
    return Drawn(column, cell, lambda: nothing(style="left none"), heading=HEADING, is_default=is_default)


def _access(row: Any) -> str:
    return "gated" if row.model.gated else "open"


def _submitted(row: Any) -> str:
    return row.submitted_at.date().isoformat() if row.submitted_at else ""
