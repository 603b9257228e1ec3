"""UniMed-CLIP: checkpoints of a fork of open_clip, whose text tower has another name."""

from collections.abc import Mapping
from typing import Any

import torch

from evaluation.conversion.checking import size
from evaluation.conversion.conversion import Converted
from evaluation.conversion.open_clip_folder import open_clip_folder
from evaluation.embedders.unimed_clip import MODEL_TYPE

_OFFICIAL, _OURS = "text_encoder.", "text."


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of UniMed-CLIP: the image's size is read from its patches (224 px, or 336 of the larger sibling).

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    tensors = {
        _OURS + name.removeprefix(_OFFICIAL) if name.startswith(_OFFICIAL) else name: tensor
        for name, tensor in state.items()
    }
    patch = size(state, "visual.conv1.weight", 2)
    patches = size(state, "visual.positional_embedding", 0) - 1
    model: dict[str, Any] = {
        "quick_gelu": True,
        "vision_cfg": {"image_size": patch * round(max(patches, 0) ** 0.5)},
        "text_cfg": {
            "hf_model_name": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
            "hf_proj_type": "mlp",
            "hf_pooler_type": "cls_last_hidden_state_pooler",
            "context_length": 256,
        },
    }
    return open_clip_folder(tensors, model_type=MODEL_TYPE, model=model)
