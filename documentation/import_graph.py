"""The page and picture of which part of the code imports which, read from the code itself.

The parts are the packages and modules directly below `evaluation` and `leaderboard`, and `workers` as a whole. The picture
leaves out an import that others imply (it is the transitive reduction); the page lists all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape

import grimp

PICTURE = "import-graph.svg"

_PARTED = ("leaderboard", "evaluation")
_WORKERS = "workers"
_BOX_HEIGHT, _ROW_HEIGHT, _GAP, _MARGIN, _TOP, _LETTER, _PADDING = 26, 58, 14, 24, 52, 8.2, 18
_STYLE = (
    "text{font:13px ui-monospace,monospace;fill:#15302d;text-anchor:middle}"
    ".package{font-weight:bold;fill:#2f7d74}"
    "rect{fill:#fff;stroke:#2f7d74;rx:5px}.ground{fill:#f3f7f6;stroke:none}"
    "path{fill:none;stroke:#6d8f8b;stroke-width:1.1;opacity:.65}.across{stroke:#b4632d}"
)

Edges = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Box:
    """A part with the middle of its upper edge, in pixels."""

    part: str
    x: float
    y: float
    width: float


@cache
def imports() -> Edges:
    """Which parts each part imports; every part is a key."""
    graph = grimp.build_graph(*_PARTED, _WORKERS, cache_dir=None)
    edges: dict[str, set[str]] = {}
    for module in sorted(graph.modules):
        edges.setdefault(_part(module), set()).update(map(_part, graph.find_modules_directly_imported_by(module)))
    return {part: frozenset(found - {part, *_PARTED}) for part, found in edges.items() if part not in _PARTED}


def import_graph_page() -> str:
    """The page as Markdown: the picture, then one row a part."""
    edges = imports()
    rows = [f"| `{part}` | {_listed(edges[part])} | {_listed(_importers(edges, part))} |" for part in sorted(edges)]
    return "\n".join(
        [
            "# Who imports whom",
            "",
            "Drawn from the code. Arrows go down, from what imports to what is imported; one that longer ways imply is left",
            "out. Orange arrows are those of the workers, the only code that imports both packages.",
            "",
            f"![Parts of the code and their imports; the table below says the same]({PICTURE})",
            "",
            "| Part | imports | is imported by |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def import_graph_picture() -> str:
    """The picture as SVG with a ground of its own, so that it can stand on light and dark pages."""
    edges = _reduced(imports())
    boxes, width, height = _placed(edges)
    lines = [_arrow(boxes[start], boxes[end]) for start in sorted(edges) for end in sorted(edges[start])]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
            "<title>Which part of the code imports which</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="ground" width="{width:.0f}" height="{height:.0f}"/>',
            *lines,
            *(_drawn(box) for box in boxes.values()),
            *(_heading(boxes, package) for package in _PARTED),
            "</svg>",
            "",
        ]
    )


def _part(module: str) -> str:
    package, *inner = module.split(".")
    return ".".join([package, *inner[:1]]) if package in _PARTED else package


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(f"`{part}`" for part in sorted(parts)) or "–"


def _importers(edges: Edges, part: str) -> list[str]:
    return [other for other, found in edges.items() if part in found]


def _reduced(edges: Edges) -> dict[str, frozenset[str]]:
    """Without the edges that longer ways imply."""
    return {
        part: frozenset(end for end in found if not any(end in _reached(edges, other) for other in found - {end}))
        for part, found in edges.items()
    }


def _reached(edges: Edges, start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = edges[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def _placed(edges: Edges) -> tuple[dict[str, _Box], float, float]:
    """Rows by the longest way down to a part that imports nothing; the two packages stand side by side."""
    heights: dict[str, int] = {}
    for part in edges:
        _height(edges, part, heights)
    top = max(heights.values())
    boxes: dict[str, _Box] = {}
    left: float = _MARGIN
    for package in _PARTED:
        rows = [sorted(_of(edges, package, heights, row)) for row in range(top, -1, -1)]
        widest = max(sum(map(_width, row)) + _GAP * (len(row) - 1) for row in rows if row)
        for number, row in enumerate(rows):
            x = left + (widest - sum(map(_width, row)) - _GAP * (len(row) - 1)) / 2
            for part in row:
                boxes[part] = _Box(part, x + _width(part) / 2, _TOP + number * _ROW_HEIGHT, _width(part))
                x += _width(part) + _GAP
        left += widest + 2 * _MARGIN
    boxes[_WORKERS] = _Box(_WORKERS, left / 2, _TOP, _width(_WORKERS))
    return boxes, left, _TOP + _MARGIN + top * _ROW_HEIGHT + _BOX_HEIGHT


def _of(edges: Edges, package: str, heights: Mapping[str, int], row: int) -> list[str]:
    return [part for part in edges if part.startswith(f"{package}.") and heights[part] == row]


def _height(edges: Edges, part: str, heights: dict[str, int]) -> int:
    if part not in heights:
        heights[part] = 1 + max((_height(edges, other, heights) for other in edges[part]), default=-1)
    return heights[part]


def _width(part: str) -> float:
    return len(_label(part)) * _LETTER + _PADDING


def _label(part: str) -> str:
    return part.rpartition(".")[2]


def _arrow(start: _Box, end: _Box) -> str:
    y, bend = start.y + _BOX_HEIGHT, _ROW_HEIGHT / 2
    kind = ' class="across"' if start.part == _WORKERS else ""
    return f'<path{kind} d="M{start.x:.0f} {y:.0f}C{start.x:.0f} {y + bend:.0f} {end.x:.0f} {end.y - bend:.0f} {end.x:.0f} {end.y:.0f}"/>'


def _heading(boxes: Mapping[str, _Box], package: str) -> str:
    middles = [box.x for part, box in boxes.items() if part.startswith(f"{package}.")]
    return f'<text class="package" x="{(min(middles) + max(middles)) / 2:.0f}" y="{_MARGIN + 4}">{package}</text>'


def _drawn(box: _Box) -> str:
    x, middle = box.x - box.width / 2, box.y + _BOX_HEIGHT / 2 + 4.5
    rectangle = f'<rect x="{x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{_BOX_HEIGHT}"/>'
    return f'{rectangle}<text x="{box.x:.0f}" y="{middle:.1f}">{escape(_label(box.part))}</text>'
