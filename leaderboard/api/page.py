"""The API's OpenAPI document, and the page that is made from it without any script."""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe
from ninja import NinjaAPI
from ninja.responses import NinjaJSONEncoder

from leaderboard.api.errors import ErrorBody, error_response

REFERENCE = "#/components/schemas/"
SUCCESS = ("200", "201")


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter, or a field of a body or an answer."""

    name: str
    words: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Named:
    """A body or an answer: an object of this name, or a list of such."""

    name: str
    is_list: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a program can do."""

    key: str
    method: str
    path: str
    summary: str
    description: str
    needs_person: bool
    parameters: tuple[Value, ...]
    body: Named | None
    answer: Named
    statuses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """An object in bodies and answers."""

    name: str
    description: str
    fields: tuple[Value, ...]


@require_safe
@conditional_page
def openapi_document(request: HttpRequest, api: NinjaAPI) -> HttpResponse:
    """What the API is, for tools."""
    return HttpResponse(_document(api), content_type="application/json")


@require_safe
def api_page(request: HttpRequest, api: NinjaAPI) -> HttpResponse:
    """Every operation, by what it is about, and every object."""
    return render(request, "api.html", _context(api))


@functools.cache
def _document(api: NinjaAPI) -> bytes:
    """The document, which only changes with the code and takes a tenth of a second to make."""
    return json.dumps(api.get_openapi_schema(), cls=NinjaJSONEncoder).encode()


@functools.cache
def _context(api: NinjaAPI) -> dict[str, Any]:
    """What the page shows."""
    document = json.loads(_document(api))
    return {
        "section": "api",
        "groups": _groups(document),
        "shapes": [_shape(name, schema) for name, schema in _sent(document).items() if "properties" in schema],
        "enumerations": [(name, schema["enum"]) for name, schema in _sent(document).items() if "enum" in schema],
        "introduction": document["info"]["description"],
    }


def no_such_address(request: HttpRequest, rest: str = "") -> HttpResponse:
    """An address that the API does not have, told in its own form."""
    message = f"The API has nothing at /api/v1/{rest}. /api/v1/openapi.json lists what it has."
    return error_response(404, ErrorBody(code="not_found", message=message))


def _sent(document: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in bodies and answers, by name, with everything inside; what only describes addresses is left out."""
    schemas = document["components"]["schemas"]
    found: set[str] = set()
    new = _references(document["paths"])
    while new:
        found |= new
        new = set().union(*(_references(schemas[name]) for name in new)) - found
    return {name: schemas[name] for name in sorted(found)}


def _references(part: Any) -> set[str]:
    """The names of the objects that a part of the document refers to."""
    return set(re.findall(rf'"{REFERENCE}(\w+)"', json.dumps(part)))


def _groups(document: Mapping[str, Any]) -> list[tuple[str, list[Operation]]]:
    groups: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, details in methods.items():
            groups.setdefault(details["tags"][0], []).append(_operation(path, method, details))
    return list(groups.items())


def _operation(path: str, method: str, details: Mapping[str, Any]) -> Operation:
    body = details.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answer = next(details["responses"][status] for status in details["responses"] if status in SUCCESS)
    return Operation(
        key=details["operationId"],
        method=method.upper(),
        path=path,
        summary=details["summary"],
        description=details.get("description", ""),
        needs_person={} not in details["security"],
        parameters=tuple(_parameters(details["parameters"])),
        body=_named(body) if body else None,
        answer=_named(answer["content"]["application/json"]["schema"]),
        statuses=tuple(details["responses"]),
    )


def _named(schema: Mapping[str, Any]) -> Named:
    is_list = schema.get("type") == "array"
    return Named(_words(schema["items"] if is_list else schema), is_list)


def _parameters(parameters: list[Mapping[str, Any]]) -> Iterator[Value]:
    for parameter in parameters:
        schema = parameter["schema"]
        words = _words(schema)
        default = schema.get("default")
        yield Value(
            name=parameter["name"],
            words=words if default in {None, ""} else f"{words}, {default} if left out",
            required=parameter["required"],
            description=parameter.get("description", ""),
        )


def _shape(name: str, schema: Mapping[str, Any]) -> Shape:
    required = schema.get("required", [])
    fields = tuple(
        Value(field, _words(details), field in required, details.get("description", ""))
        for field, details in schema["properties"].items()
    )
    return Shape(name, schema.get("description", ""), fields)


def _words(schema: Mapping[str, Any]) -> str:
    """A schema in a few words, with the names of other objects. The framework's "all of" has a single part."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REFERENCE)
    for alternatives in ("anyOf", "allOf"):
        if alternatives in schema:
            return " or ".join(_words(one) for one in schema[alternatives])
    if "enum" in schema:
        return "one of " + ", ".join(str(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_words(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"map to {_words(schema['additionalProperties'])}"
    return {"date-time": "time", "uuid": "UUID"}.get(schema.get("format", ""), str(schema.get("type", "anything")))
