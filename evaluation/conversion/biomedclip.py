"""BiomedCLIP: its official repository is in open_clip's layout, with its weights as a pickle only."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import torch

from evaluation.conversion.conversion import Converted
from evaluation.conversion.open_clip_folder import open_clip_folder
from evaluation.embedders.open_clip import MODEL_TYPE

_MODEL: Mapping[str, Any] = MappingProxyType(
    {
        "embed_dim": 512,
        "vision_cfg": {
            "timm_model_name": "vit_base_patch16_224",
            "timm_pool": "",
            "timm_proj": "linear",
            "image_size": 224,
        },
        "text_cfg": {
            "hf_model_name": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
            "hf_proj_type": "mlp",
            "hf_pooler_type": "cls_last_hidden_state_pooler",
            "context_length": 256,
        },
    }
)


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of BiomedCLIP.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    return open_clip_folder(state, model_type=MODEL_TYPE, model=dict(_MODEL))
