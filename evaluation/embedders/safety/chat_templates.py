"""Chat templates of a repository, judged without running them.

A template is a program in Jinja's language. No loader here renders one that a repository brings, but libraries may, so
what could run for hours or fill the memory is refused: great length, long or nested counting loops, loops and
inclusions that call the template again, and powers. This finds what is plainly excessive, not every slow program; the
time limit of the evaluating process is for the rest.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from evaluation.errors import TemplateUnsafe

MAX_CHARACTERS = 100_000
MAX_STEPS = 10_000

_KEY = "chat_template"
_INCLUSIONS = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


class _GenerationMarks(Extension):
    """`{% generation %}` marks what a model answered in templates for training; it has no effect here."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The nodes within the marks."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def template_problems(name: str, document: Any) -> list[tuple[str, str]]:
    """What is wrong with the chat templates in one parsed configuration file, as (code, message)."""
    problems = []
    for template in _templates(document):
        problems += text_problems(name, template)
    return problems


def text_problems(name: str, template: str) -> list[tuple[str, str]]:
    """What is wrong with one chat template, as (code, message)."""
    if len(template) > MAX_CHARACTERS:
        return [_problem(name, f"is {len(template):,} characters long; {MAX_CHARACTERS:,} are taken")]
    # Nothing is rendered, so nothing needs to be escaped.
    environment = Environment(extensions=["jinja2.ext.loopcontrols", _GenerationMarks])  # noqa: S701
    try:
        tree = environment.parse(template)
    except (TemplateSyntaxError, RecursionError) as error:
        return [_problem(name, f"cannot be read ({type(error).__name__})")]
    reason = _excess(tree)
    return [_problem(name, reason)] if reason else []


def _problem(name: str, reason: str) -> tuple[str, str]:
    return TemplateUnsafe.code, f"The chat template in {name} {reason}; shorten or remove it."


def _templates(document: Any) -> Iterator[str]:
    """Every text under a key called chat_template, also where several templates are listed by name."""
    if isinstance(document, Mapping):
        for key, value in document.items():
            yield from _texts(value) if key == _KEY else _templates(value)
    elif isinstance(document, list):
        for value in document:
            yield from _templates(value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _excess(tree: nodes.Template) -> str:
    """Why a template may run for too long, "" where nothing says so."""
    if next(tree.find_all(_INCLUSIONS), None) is not None:
        return "includes other templates"
    if next(tree.find_all(nodes.Pow), None) is not None:
        return "computes powers"
    counting = [call for call in tree.find_all(nodes.Call) if _is_range(call)]
    if any(number > MAX_STEPS for node in (*counting, *tree.find_all(nodes.Mul)) for number in _numbers(node)):
        return f"counts or multiplies beyond {MAX_STEPS:,}"
    return next(filter(None, map(_loop_excess, tree.find_all(nodes.For))), "")


def _loop_excess(loop: nodes.For) -> str:
    if loop.recursive:
        return "has a loop that calls itself"
    if _counts(loop.iter) and any(_counts(inner.iter) for inner in _inner_loops(loop)):
        return "has counting loops within counting loops"
    return ""


def _inner_loops(loop: nodes.For) -> Iterator[nodes.For]:
    for child in (*loop.body, *loop.else_):
        if isinstance(child, nodes.For):
            yield child
        yield from child.find_all(nodes.For)


def _counts(iterated: nodes.Node) -> bool:
    return (isinstance(iterated, nodes.Call) and _is_range(iterated)) or any(
        map(_is_range, iterated.find_all(nodes.Call))
    )


def _is_range(call: nodes.Call) -> bool:
    return isinstance(call.node, nodes.Name) and call.node.name == "range"


def _numbers(node: nodes.Node) -> Iterator[int]:
    for constant in node.find_all(nodes.Const):
        if isinstance(constant.value, int):
            yield constant.value
