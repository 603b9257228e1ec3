"""What the systems need that are converted to a folder of open_clip's layout, their tensors under open_clip's names."""

from collections.abc import Mapping
from typing import Any

import torch

from evaluation.conversion.checking import require_exact
from evaluation.conversion.conversion import Converted
from evaluation.embedders.open_clip import OpenClipImageNetwork, OpenClipTextNetwork, open_clip_tensors
from evaluation.embedders.open_clip_layout import layout_of
from evaluation.embedders.safety.repository import OPEN_CLIP_CONFIG
from evaluation.embedders.squares import CLIP_DEVIATION, CLIP_MEAN

_PREPROCESSING = {"mean": list(CLIP_MEAN), "std": list(CLIP_DEVIATION)}


def open_clip_folder(tensors: Mapping[str, torch.Tensor], *, model_type: str, model: Mapping[str, Any]) -> Converted:
    """A folder of open_clip's layout.

    Args:
        tensors: under open_clip's names.
        model_type: of config.json.
        model: the part `model_cfg` of open_clip_config.json.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
        ModelInvalid: a tensor that gives a size is missing.
    """
    document = {"model_cfg": model, "preprocess_cfg": _PREPROCESSING}
    layout = layout_of(document)
    image, text = open_clip_tensors(tensors, layout)
    with torch.device("meta"):
        image_network, text_network = OpenClipImageNetwork(image, layout), OpenClipTextNetwork(text, layout)
    for found, network in ((image, image_network), (text, text_network)):
        require_exact(found, {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()})
    return Converted(tensors, {"model_type": model_type}, {OPEN_CLIP_CONFIG: document})
