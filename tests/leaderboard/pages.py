"""Reads pages as a visitor does: tables as rows of texts, and what the content security policy would block."""

from collections import Counter
from html.parser import HTMLParser

import html5lib

VOID = {"meta", "link", "br", "hr", "img", "input"}


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


def by_model(board: list[list[str]]) -> dict[str, dict[str, str]]:
    """The rows of a board's table by model and title of the column; titles of its parts are no rows."""
    head, *rows = board
    named = [dict(zip(head, row, strict=True)) for row in rows if len(row) == len(head)]
    return {row["Model"].partition("|")[0].strip(): row for row in named}


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


class _Names(HTMLParser):
    """Ids, and what refers to one."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.wanted: set[str] = set()
        self.unlabelled: dict[str, str] = {}
        self.labelled: set[str] = set()
        self._labels_open = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        if facts.get("id"):
            self.ids[str(facts["id"])] += 1
        for name in ("aria-labelledby", "aria-describedby", "aria-controls"):
            self.wanted |= set(str(facts.get(name) or "").split())
        if tag == "label":
            self._labels_open += 1
            if facts.get("for"):
                self.labelled.add(str(facts["for"]))
        is_control = tag in {"select", "textarea"} or (tag == "input" and facts.get("type") not in UNSEEN_INPUTS)
        if is_control and not self._labels_open and "aria-label" not in facts and "aria-labelledby" not in facts:
            self.unlabelled[str(facts.get("id") or "")] = str(facts.get("name"))

    def handle_endtag(self, tag: str) -> None:
        self._labels_open -= tag == "label"


UNSEEN_INPUTS = {"hidden", "submit", "button", "image", "reset"}


def invalid(html: str) -> list[str]:
    """What a strict HTML parser objects to, ids that stand twice or are missing, and controls without a label."""
    parser = html5lib.HTMLParser()
    parser.parse(html)
    found = [f"line {place[0]}: {code} {facts}" for place, code, facts in parser.errors]
    names = _Names()
    names.feed(html)
    found += [f"id {name} stands {count} times" for name, count in names.ids.items() if count > 1]
    found += [f"id {name} is missing" for name in sorted(names.wanted - set(names.ids))]
    found += [f"{name} has no label" for id_, name in names.unlabelled.items() if id_ not in names.labelled]
    return found
