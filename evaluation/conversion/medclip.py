"""MedCLIP: one file with both towers, named as the transformers of its day named them."""

import re
from collections.abc import Mapping
from typing import Any

import torch

from evaluation.conversion.checking import require_exact
from evaluation.conversion.conversion import Converted
from evaluation.conversion.resnet_names import resnet_name
from evaluation.embedders.medclip import MODEL_TYPE, MedclipImageNetwork, MedclipTextNetwork
from evaluation.embedders.networks.from_tensors import below

_UNUSED = re.compile(
    r"logit_scale|text_model\.model\.(?:pooler\..+|embeddings\.position_ids)|vision_model\..+\.relative_position_index"
)
_PROJECTIONS = {
    "vision_model.projection_head.weight": "image.projection.weight",
    "vision_model.model.fc.weight": "image.projection.weight",  # of the ResNet, in the place of its classifier
    "text_model.projection_head.weight": "text.projection.weight",
}
_SWIN_PARTS = {
    "attention.self.query": "attention.q_proj",
    "attention.self.key": "attention.k_proj",
    "attention.self.value": "attention.v_proj",
    "attention.output.dense": "attention.o_proj",
    "attention.self": "attention.relative_position_bias",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
}
_SWIN_BLOCK = re.compile(r"(encoder\.layers\.\d+\.blocks\.\d+)\.(.+)\.(\w+)")


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of MedCLIP, with either image encoder.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    tensors = {_renamed(name): tensor for name, tensor in state.items() if not _UNUSED.fullmatch(name)}
    with torch.device("meta"):
        networks: dict[str, Any] = {
            "image.": MedclipImageNetwork(below(tensors, "image.")),
            "text.": MedclipTextNetwork(below(tensors, "text.")),
        }
    expected = {
        prefix + name: tuple(tensor.shape)
        for prefix, network in networks.items()
        for name, tensor in network.state_dict().items()
    }
    require_exact(tensors, expected)
    return Converted(tensors, {"model_type": MODEL_TYPE})


def _renamed(name: str) -> str:
    """The name in our folder; a name that the system has not stays, so that the check of the whole refuses it."""
    if name in _PROJECTIONS:
        return _PROJECTIONS[name]
    if name.startswith("text_model.model."):
        return f"text.encoder.{name.removeprefix('text_model.model.')}"
    if name.startswith("vision_model.model."):
        return f"image.encoder.{_swin_name(resnet_name(name.removeprefix('vision_model.model.')))}"
    return name


def _swin_name(name: str) -> str:
    block = _SWIN_BLOCK.fullmatch(name)
    if block is None or block[2] not in _SWIN_PARTS:
        return name
    return f"{block[1]}.{_SWIN_PARTS[block[2]]}.{block[3]}"
