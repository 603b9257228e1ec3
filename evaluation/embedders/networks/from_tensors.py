"""Networks that are built here from the tensors of a converted folder.

Their sizes are read from the tensors, so that no configuration can ask for more memory than the file of weights holds.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from evaluation.embedders.loading import loading_faults
from evaluation.errors import ModelInvalid
from evaluation.types import FloatMatrix

Tensors = Mapping[str, torch.Tensor]

_MAX_NAMED_KEYS = 3


def read_tensors(folder: Path, *, names: tuple[str, ...] = ("model.safetensors",)) -> dict[str, torch.Tensor]:
    """All tensors of the first file among `names` that there is, by their own names.

    Raises:
        ModelInvalid: the file is missing or damaged, or a tensor is empty.
    """
    name = next((name for name in names if (folder / name).is_file()), names[0])
    with loading_faults(folder):
        tensors: dict[str, torch.Tensor] = load_file(folder / name)
    empty = sorted(name for name, tensor in tensors.items() if not tensor.numel())
    if empty:
        raise ModelInvalid(f"{folder.name}: {empty[0]} holds no numbers; convert the official file again.")
    return tensors


def extent(tensors: Tensors, name: str, axis: int) -> int:
    """The size of a named tensor along an axis.

    Raises:
        ModelInvalid: there is no such tensor, or it has fewer axes.
    """
    if name not in tensors or tensors[name].dim() <= axis:
        raise ModelInvalid(f"The weights lack {name} as the system has it; convert the official file.")
    return int(tensors[name].shape[axis])


def count_numbered(tensors: Tensors, prefix: str) -> int:
    """How many different numbers follow a prefix such as `encoder.layer.`."""
    numbers = {name.removeprefix(prefix).partition(".")[0] for name in tensors if name.startswith(prefix)}
    return sum(number.isdecimal() for number in numbers)


def below(tensors: Tensors, prefix: str) -> dict[str, torch.Tensor]:
    """The tensors whose names start with `prefix`, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def fill(network: Any, tensors: Tensors, *, folder: Path, dtype: torch.dtype, device: str) -> Any:
    """The network holding exactly these tensors, in evaluation mode.

    Raises:
        ModelInvalid: tensors are missing, surplus or of another shape.
    """
    own = network.state_dict()
    strange = sorted(own.keys() ^ tensors.keys())
    strange += sorted(name for name in own.keys() & tensors.keys() if own[name].shape != tensors[name].shape)
    if strange:
        more = f" and {len(strange) - _MAX_NAMED_KEYS} more" if len(strange) > _MAX_NAMED_KEYS else ""
        shown = ", ".join(strange[:_MAX_NAMED_KEYS])
        raise ModelInvalid(f"{folder.name}: weights are missing, surplus or of another shape: {shown}{more}.")
    network.load_state_dict(dict(tensors), strict=True)
    return network.eval().to(device=device, dtype=dtype)


def unit_rows(rows: torch.Tensor) -> FloatMatrix:
    """Rows of unit length as float32 on the CPU, whatever they were computed in."""
    unit: FloatMatrix = torch.nn.functional.normalize(rows.float(), dim=1).cpu().numpy()
    return unit
