"""Merging a LoRA adapter into a base model, with every weight accounted for.

An adapter may have been trained on the model inside another wrapper, so the fronts of its keys differ from the names
here; one saved as its running model names it has `default` near their ends. peft loads such an adapter with a warning
and leaves the model as it was. Here keys are matched by their tail, and anything left over is an error.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig
from peft.tuners.lora import LoraModel
from safetensors.torch import load_file

from evaluation.embedders.loading import loading_faults
from evaluation.errors import AdapterMismatch, ModelUnsupported

_ADAPTER = "default"
_KEY = re.compile(
    r"(?:^|(?<!visual)\.)(?:visual\.(?P<block>blocks\.\d+\..+)|(?P<layer>layers\.\d+\..+))\."
    r"(?:(?P<matrix>lora_[AB])(?:\.default)?\.weight|(?P<lengths>lora_magnitude_vector)(?:\.default\.weight)?)$"
)
_PLAIN_STARTS = frozenset({True, False, "gaussian", "orthogonal"})


def merge_adapter(model: Any, folder: Path) -> Any:
    """The model with the adapter in `folder` added to its weights.

    Args:
        model: a transformers model with `language_model.layers` and, for adapters of the image tower, `visual.blocks`.
        folder: adapter_config.json and adapter_model.safetensors, already checked for safety.

    Raises:
        AdapterMismatch: a key finds no place, a place gets no weight, shapes differ, or nothing changes.
        ModelUnsupported: the adapter uses options that cannot be checked (patterns, starts that alter the base).
    """
    with loading_faults(folder):
        config = LoraConfig.from_pretrained(str(folder))
        tensors = load_file(folder / "adapter_model.safetensors")
    _require_plain(config, folder)
    placed = _placed(model, tensors, folder)
    targets = sorted({module for module, _ in placed})
    before = {target: _fingerprint(model.get_submodule(target)) for target in targets}
    with loading_faults(folder):
        adapted = LoraModel(model, _for_targets(config, targets), _ADAPTER)
        weights = {f"{module}.{part}": tensor for (module, part), tensor in placed.items()}
        _load_exactly(model, weights, folder)
        merged = adapted.merge_and_unload(safe_merge=True)
    if all(torch.equal(before[target], _fingerprint(merged.get_submodule(target))) for target in targets):
        raise AdapterMismatch(f"{folder.name}: the adapter changes no weight of the base model; it may be untrained.")
    return merged


def _require_plain(config: Any, folder: Path) -> None:
    for option in ("rank_pattern", "alpha_pattern", "target_parameters", "layer_replication"):
        if getattr(config, option, None):
            raise ModelUnsupported(
                f"{folder.name}: adapter_config.json uses {option}; merge the adapter and submit that."
            )
    if config.init_lora_weights not in _PLAIN_STARTS:
        start = config.init_lora_weights
        raise ModelUnsupported(
            f"{folder.name}: init_lora_weights {start!r} alters the base model; submit merged weights."
        )


def _placed(model: Any, tensors: Mapping[str, torch.Tensor], folder: Path) -> dict[tuple[str, str], torch.Tensor]:
    """Each tensor under (module of the model, part of the adapter)."""
    linear = {name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    placed: dict[tuple[str, str], torch.Tensor] = {}
    for key, tensor in tensors.items():
        match = _KEY.search(key)
        if match is None:
            raise AdapterMismatch(f"{folder.name}: {key} has no place in the base model.")
        module = f"visual.{match['block']}" if match["block"] else f"language_model.{match['layer']}"
        place = (module, f"{match['matrix'] or match['lengths']}.{_ADAPTER}.weight")
        if module not in linear:
            raise AdapterMismatch(f"{folder.name}: {key} has no place in the base model; is it the right base?")
        if place in placed:
            raise AdapterMismatch(f"{folder.name}: {key} and another key have the same place in the base model.")
        placed[place] = tensor
    if not placed:
        raise AdapterMismatch(f"{folder.name}: adapter_model.safetensors holds no weights.")
    return placed


def _for_targets(config: Any, targets: list[str]) -> Any:
    """The adapter's own settings, aimed at exactly the modules that have weights."""
    config.target_modules = targets
    config.exclude_modules = None
    config.layers_to_transform = None
    config.layers_pattern = None
    config.modules_to_save = None
    config.inference_mode = True
    return config


def _load_exactly(model: Any, weights: Mapping[str, torch.Tensor], folder: Path) -> None:
    wanted = {name: tensor.shape for name, tensor in model.state_dict().items() if "lora_" in name}
    unfilled = sorted(wanted.keys() - weights.keys())
    if unfilled:
        raise AdapterMismatch(f"{folder.name}: the adapter lacks a weight for {unfilled[0]}.")
    for name, tensor in weights.items():
        if wanted.get(name) != tensor.shape:
            raise AdapterMismatch(
                f"{folder.name}: {name} has the shape {tuple(tensor.shape)}, "
                f"which does not fit the base model; is it the right base?"
            )
    model.load_state_dict(dict(weights), strict=False)


def _fingerprint(module: Any) -> torch.Tensor:
    """The sum of each row of a weight: enough to see that it changed, without a copy of the model."""
    sums: torch.Tensor = module.weight.detach().sum(dim=1, dtype=torch.float64)
    return sums
