"""Every address of the site as the resolver knows it."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver


@dataclass(frozen=True, slots=True)
class Route:
    """One pattern. `name` is that of `reverse`; a pattern without one is called by its text."""

    name: str
    text: str
    parameters: tuple[str, ...]

    def path(self, values: dict[str, str]) -> str:
        """An address of this pattern, with a value for each parameter."""
        path = self.text
        for parameter in self.parameters:
            for opening in (f"(?P<{parameter}>", f"<{parameter}>", f":{parameter}>"):
                path = _filled(path, opening, str(values[parameter]))
        return "/" + path.replace("^", "").replace("$", "")


def _filled(path: str, opening: str, value: str) -> str:
    """The path with the group that has this opening replaced; unchanged where there is none."""
    start = path.find(opening)
    if start < 0:
        return path
    if opening.startswith("("):
        depth, end = 1, start + len(opening)
        while depth:
            depth += {"(": 1, ")": -1}.get(path[end], 0)
            end += 1
        return path[:start] + value + path[end:]
    return path[: path.rindex("<", 0, start + 1)] + value + path[start + len(opening) :]


def all_routes() -> list[Route]:
    """Every pattern, those of included packages too, in the order in which they are tried."""
    return list(_walk(get_resolver()))


def _walk(resolver: URLResolver, namespace: str = "", prefix: str = "") -> Iterator[Route]:
    for pattern in resolver.url_patterns:
        text = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from _walk(pattern, inner, text)
        elif isinstance(pattern, URLPattern):
            name = f"{namespace}{pattern.name}" if pattern.name else text
            yield Route(name, text, tuple(pattern.pattern.regex.groupindex))
