"""VLM2Vec-V2.0: an adapter of Qwen2-VL-2B whose official repository holds its weights as a pickle."""

import re
from collections import defaultdict
from collections.abc import Mapping

import torch

from evaluation.conversion.conversion import Converted
from evaluation.errors import ConversionRefused

_KEY = re.compile(
    r"base_model\.model\.model\.layers\.(?P<layer>\d+)\.(?P<module>[a-z_]+\.[a-z_]+)\."
    r"(?P<part>lora_A\.weight|lora_B\.weight|lora_magnitude_vector)"
)
_PARTS = frozenset({"lora_A.weight", "lora_B.weight", "lora_magnitude_vector"})


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The same tensors under the same names: directions and lengths of the same modules in every layer.

    Raises:
        ConversionRefused: a tensor has another name, a module lacks one, or shapes or layers do not fit together.
    """
    found: dict[tuple[int, str], dict[str, torch.Tensor]] = defaultdict(dict)
    for name, tensor in state.items():
        match = _KEY.fullmatch(name)
        if match is None:
            raise ConversionRefused(f"The checkpoint holds {name}, which the system has not.")
        found[int(match["layer"]), match["module"]][match["part"]] = tensor
    ranks = {_rank(f"layers.{layer}.{module}", parts) for (layer, module), parts in found.items()}
    layers = {layer for layer, _ in found}
    modules = {module for _, module in found}
    if len(ranks) != 1 or layers != set(range(len(layers))) or len(found) != len(layers) * len(modules):
        raise ConversionRefused("The checkpoint does not have the same modules of one rank in every layer.")
    return Converted(dict(state), {})


def _rank(place: str, parts: Mapping[str, torch.Tensor]) -> int:
    if missing := sorted(_PARTS - parts.keys()):
        raise ConversionRefused(f"The checkpoint lacks {place}.{missing[0]}; is it the official file?")
    down, up, lengths = parts["lora_A.weight"], parts["lora_B.weight"], parts["lora_magnitude_vector"]
    if down.dim() != 2 or up.dim() != 2 or len(down) != up.shape[1] or lengths.shape != (len(up),):  # noqa: PLR2004 - matrices
        raise ConversionRefused(f"{place}: directions and lengths do not fit together.")
    return len(down)
