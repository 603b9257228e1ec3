"""What every system needs that is converted to a folder of the CLIP family."""

from collections.abc import Mapping
from typing import Any

import torch
from transformers import CLIPConfig, CLIPModel

from evaluation.conversion.checking import layers, model_shapes, require_exact, size
from evaluation.conversion.conversion import Converted

_HEAD_WIDTH = 64  # of every published CLIP
_POSITION_IDS = ("text_model.embeddings.position_ids", "vision_model.embeddings.position_ids")
_PIXEL_MEAN = (0.48145466, 0.4578275, 0.40821073)
_PIXEL_DEVIATION = (0.26862954, 0.26130258, 0.27577711)


def clip_folder(state: Mapping[str, torch.Tensor]) -> Converted:
    """A CLIP folder of tensors named as transformers' CLIPModel names them; sizes are read from their shapes.

    The end mark is the last word of the vocabulary and the start mark the one before it, as in every published CLIP.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    tensors = {name: tensor for name, tensor in state.items() if name not in _POSITION_IDS}
    config = _config(tensors)
    shapes = model_shapes(CLIPModel, CLIPConfig(**config))
    require_exact(tensors, {name: shape for name, shape in shapes.items() if name not in _POSITION_IDS})
    pixels = config["vision_config"]["image_size"]
    document = {"model_type": "clip", "architectures": ["CLIPModel"], **config}
    return Converted(tensors, document, {"preprocessor_config.json": _preprocessor(pixels)})


def _config(tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    words = size(tensors, "text_model.embeddings.token_embedding.weight", 0)
    patch = size(tensors, "vision_model.embeddings.patch_embedding.weight", 2)
    patches = size(tensors, "vision_model.embeddings.position_embedding.weight", 0) - 1
    projection = size(tensors, "text_projection.weight", 0)
    text = {
        **_tower(tensors, "text_model"),
        "vocab_size": words,
        "max_position_embeddings": size(tensors, "text_model.embeddings.position_embedding.weight", 0),
        "projection_dim": projection,
        "bos_token_id": words - 2,
        "eos_token_id": words - 1,
        "pad_token_id": words - 1,
    }
    vision = {
        **_tower(tensors, "vision_model"),
        "patch_size": patch,
        "image_size": patch * round(max(patches, 0) ** 0.5),
        "projection_dim": projection,
    }
    return {"text_config": text, "vision_config": vision, "projection_dim": projection}


def _tower(tensors: Mapping[str, torch.Tensor], tower: str) -> dict[str, int]:
    width = size(tensors, f"{tower}.encoder.layers.0.mlp.fc1.weight", 1)
    return {
        "hidden_size": width,
        "intermediate_size": size(tensors, f"{tower}.encoder.layers.0.mlp.fc1.weight", 0),
        "num_hidden_layers": layers(tensors, f"{tower}.encoder.layers."),
        "num_attention_heads": max(1, width // _HEAD_WIDTH),
    }


def _preprocessor(pixels: int) -> dict[str, Any]:
    return {
        "image_processor_type": "CLIPImageProcessor",
        "do_resize": True,
        "size": {"shortest_edge": pixels},
        "resample": 3,
        "do_center_crop": True,
        "crop_size": {"height": pixels, "width": pixels},
        "do_normalize": True,
        "image_mean": list(_PIXEL_MEAN),
        "image_std": list(_PIXEL_DEVIATION),
        "do_convert_rgb": True,
    }
