"""PMC-CLIP: the whole checkpoint of its trainer. What joins both towers and predicts masked words is not taken over."""

from collections.abc import Mapping
from typing import Any

import torch

from evaluation.conversion.checking import require_exact
from evaluation.conversion.conversion import Converted
from evaluation.embedders.networks.from_tensors import below
from evaluation.embedders.networks.modified_resnet import ModifiedResNet
from evaluation.embedders.pmc_clip import MODEL_TYPE, PmcClipTextNetwork

_UNUSED = (
    "fusion_module.",
    "mlm_projection",
    "img_special_token",
    "logit_scale",
    "positional_embedding",
    "ln_final.",
    "text_encoder.pooler.",
    "text_encoder.embeddings.position_ids",
)
_NAMES = {"visual.": "image.", "text_encoder.": "text.encoder.", "text_projection": "text.projection"}


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of PMC-CLIP.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    tensors = {_renamed(name): tensor for name, tensor in state.items() if not name.startswith(_UNUSED)}
    with torch.device("meta"):
        networks: dict[str, Any] = {
            "image.": ModifiedResNet(below(tensors, "image.")),
            "text.": PmcClipTextNetwork(below(tensors, "text.")),
        }
    expected = {
        prefix + name: tuple(tensor.shape)
        for prefix, network in networks.items()
        for name, tensor in network.state_dict().items()
    }
    require_exact(tensors, expected)
    return Converted(tensors, {"model_type": MODEL_TYPE})


def _renamed(name: str) -> str:
    official = next((start for start in _NAMES if name.startswith(start)), "")
    return _NAMES[official] + name.removeprefix(official) if official else name
