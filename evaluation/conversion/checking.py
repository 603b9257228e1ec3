"""Checks of a checkpoint's names and shapes, so that nothing is converted in part."""

from collections.abc import Mapping
from typing import Any

import torch

from evaluation.errors import ConversionRefused

_NAMED = 3

Shape = tuple[int, ...]


def model_shapes(model_class: Any, config: Any) -> dict[str, Shape]:
    """Names and shapes of the parameters and buffers of a network, made without memory for them."""
    with torch.device("meta"):
        model = model_class(config)
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def require_exact(found: Mapping[str, torch.Tensor], expected: Mapping[str, Shape]) -> None:
    """Refuse tensors that are not exactly the expected ones.

    Raises:
        ConversionRefused: naming what is missing, what has no place, or what has another shape.
    """
    if missing := sorted(expected.keys() - found.keys()):
        raise ConversionRefused(f"The checkpoint lacks {_some(missing)}; is it the official file?")
    if surplus := sorted(found.keys() - expected.keys()):
        raise ConversionRefused(f"The checkpoint holds {_some(surplus)}, which the system has not.")
    require_shapes(found, expected)


def require_shapes(found: Mapping[str, torch.Tensor], expected: Mapping[str, Shape]) -> None:
    """Refuse tensors that lack one of the expected names or have another shape there.

    Raises:
        ConversionRefused: naming the first such tensor and both shapes.
    """
    for name, shape in expected.items():
        if name not in found:
            raise ConversionRefused(f"The checkpoint lacks {name}; is it the official file?")
        if tuple(found[name].shape) != shape:
            raise ConversionRefused(f"{name} has the shape {tuple(found[name].shape)}; {shape} is needed.")


def size(found: Mapping[str, torch.Tensor], name: str, dimension: int) -> int:
    """One size of a named tensor.

    Raises:
        ConversionRefused: there is no such tensor, or it has fewer dimensions.
    """
    if name not in found or found[name].dim() <= dimension:
        raise ConversionRefused(f"The checkpoint lacks {name} as the system has it; is it the official file?")
    return int(found[name].shape[dimension])


def layers(found: Mapping[str, torch.Tensor], prefix: str) -> int:
    """How many numbered layers follow a prefix such as `text_model.encoder.layers.`: the highest number and one."""
    numbers = [name.removeprefix(prefix).partition(".")[0] for name in found if name.startswith(prefix)]
    return max((int(number) for number in numbers if number.isdecimal()), default=-1) + 1


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
