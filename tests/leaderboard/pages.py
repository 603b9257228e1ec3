"""Reads pages as a visitor does: tables as rows of texts, and what the content security policy would block."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input", "rect", "path"}


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self._cell = []
        elif tag == "small" and self._cell is not None:
            self._cell.append("|")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"} and self._cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


class _Inline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []
        self.wrong_nesting: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        if tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(tag)
        self.found += [name for name in names if name == "style" or name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [name for name, _ in attrs if name == "style" or name.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong_nesting.append(tag)


def tables(html: str) -> list[list[list[str]]]:
    """Every table of a page: rows of cell texts; small print stands after a bar."""
    reader = _Tables()
    reader.feed(html)
    return reader.tables


def blocked_by_policy(html: str) -> list[str]:
    """Inline scripts, styles and handlers of a page."""
    reader = _Inline()
    reader.feed(html)
    return reader.found


def wrongly_nested(html: str) -> list[str]:
    """Tags that do not close what was opened last, and tags left open."""
    reader = _Inline()
    reader.feed(html)
    return reader.wrong_nesting + reader.open
