"""Whether a configuration describes a network about as large as the weights beside it.

Libraries build the network that a configuration describes before they look at the weights, and make up what the weights
lack. A few bytes that declare a thousand million layers would so take a machine down.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.embedders.safety.weight_headers import StoredWeights
from evaluation.errors import SizesImplausible

MAX_LAYERS_WITHOUT_QUESTION = 1_000
DIMENSION_WITHOUT_QUESTION = 1_000_000
SLACK = 8  # a layer whose weights are shared is declared many times and stored once
PARAMETERS_WITHOUT_QUESTION = 50_000_000

_LAYERS = re.compile(r"(?:num|n)_(?:\w+_)?layers?|(?:encoder|decoder)_layers|layers|depths?")
_DIMENSION = re.compile(
    r"d_model|d_ff|n_embd|n_ctx|n_positions|width|(?:num|n)_\w+|(?:\w+_)?(?:size|dim|dims|width|heads|channels|experts|features)"
)
_WIDTHS = ("hidden_size", "d_model", "n_embd", "embed_dim", "width", "dim")
_LAYER_KEYS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "layers", "depth")
_INNER = ("intermediate_size", "d_ff", "ffn_dim")
_ROWS = ("vocab_size", "num_position_embeddings")


def size_problems(name: str, document: Mapping[str, Any], stored: StoredWeights) -> list[tuple[str, str]]:
    """What in one parsed configuration file declares more than the weight files can hold, as (code, message).

    Args:
        name: of the file, for messages.
        document: its content.
        stored: what the headers of all weight files say.
    """
    layers = max(stored.tensors, MAX_LAYERS_WITHOUT_QUESTION)
    dimension = max(stored.parameters, DIMENSION_WITHOUT_QUESTION)
    for key, number in _numbers(document):
        if _LAYERS.fullmatch(key) and number > layers:
            return [_problem(name, f"{key} is {number:,}, and the weights are {stored.tensors:,} tensors")]
        if _DIMENSION.fullmatch(key) and number > dimension:
            return [_problem(name, f"{key} is {number:,}, and the weights are {stored.parameters:,} numbers")]
    declared = sum(_parameters_at_least(part) for part in _objects(document))
    if declared > SLACK * stored.parameters + PARAMETERS_WITHOUT_QUESTION:
        return [
            _problem(name, f"it describes at least {declared:,} numbers, and the weights are {stored.parameters:,}")
        ]
    return []


def _problem(name: str, reason: str) -> tuple[str, str]:
    return SizesImplausible.code, f"{name} does not fit the weights: {reason}; correct it."


def _parameters_at_least(part: Mapping[str, Any]) -> int:
    """A lower bound of what the network that one object describes holds: an attention layer has width x width."""
    width, layers, inner, rows = (_largest(part, keys) for keys in (_WIDTHS, _LAYER_KEYS, _INNER, _ROWS))
    return width * (rows + layers * (width + inner))


def _largest(part: Mapping[str, Any], keys: tuple[str, ...]) -> int:
    return max((number for key in keys for number in _whole(part.get(key))), default=0)


def _objects(document: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _numbers(document: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for part in _objects(document):
        for key, value in part.items():
            for number in _whole(value):
                yield key, number


def _whole(value: Any) -> Iterator[int]:
    """A whole number, or those in a list."""
    for number in value if isinstance(value, list) else (value,):
        if type(number) is int:
            yield number
        elif isinstance(number, float) and number.is_integer():
            yield int(number)
