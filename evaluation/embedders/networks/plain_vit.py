"""A plain vision transformer as timm names and computes it, built from its tensors: `vit_base_patch16_224` and its like.

transformers holds the same network. timm joins query, key and value in one matrix, and its norms add 1e-6.
Source: https://github.com/huggingface/pytorch-image-models, `vision_transformer.py`.
"""

import re
from pathlib import Path

import torch
from transformers import ViTConfig, ViTModel

from evaluation.embedders.loading import loading_faults
from evaluation.embedders.networks.clip_names import ATTENTION_PARTS, is_joined
from evaluation.embedders.networks.from_tensors import Tensors, count_numbered, extent

_HEAD_WIDTH = 64
_EPSILON = 1e-6
_BLOCK = re.compile(r"blocks\.(\d+)\.(.+)\.(weight|bias)")
_BLOCK_PARTS = {
    "norm1": "layernorm_before",
    "attn.proj": "attention.o_proj",
    "norm2": "layernorm_after",
    "mlp.fc1": "mlp.fc1",
    "mlp.fc2": "mlp.fc2",
}
_NAMES = {
    "cls_token": "embeddings.cls_token",
    "pos_embed": "embeddings.position_embeddings",
    "patch_embed.proj.weight": "embeddings.patch_embeddings.projection.weight",
    "patch_embed.proj.bias": "embeddings.patch_embeddings.projection.bias",
    "norm.weight": "layernorm.weight",
    "norm.bias": "layernorm.bias",
}


def vit_tensors(tensors: Tensors) -> dict[str, torch.Tensor]:
    """Timm's tensors as transformers' ViTModel names them; one that the network has not keeps its name."""
    found = {}
    for name, tensor in tensors.items():
        block = _BLOCK.fullmatch(name)
        if name in _NAMES:
            found[_NAMES[name]] = tensor
        elif block and block[2] in _BLOCK_PARTS:
            found[f"layers.{block[1]}.{_BLOCK_PARTS[block[2]]}.{block[3]}"] = tensor
        elif block and block[2] == "attn.qkv" and is_joined(tensor):
            for part, piece in zip(ATTENTION_PARTS, tensor.chunk(3), strict=True):
                found[f"layers.{block[1]}.attention.{part}.{block[3]}"] = piece
        else:
            found[name] = tensor
    return found


def build_vit(tensors: Tensors) -> ViTModel:
    """The network that these tensors fill, with names as in transformers; its vector is the first state after the norm.

    Raises:
        ModelInvalid: a tensor is missing.
    """
    patch = extent(tensors, "embeddings.patch_embeddings.projection.weight", 2)
    patches = extent(tensors, "embeddings.position_embeddings", 1) - 1
    width = extent(tensors, "layers.0.mlp.fc1.weight", 1)
    config = ViTConfig(
        hidden_size=width,
        intermediate_size=extent(tensors, "layers.0.mlp.fc1.weight", 0),
        num_hidden_layers=count_numbered(tensors, "layers."),
        num_attention_heads=max(1, width // _HEAD_WIDTH),
        patch_size=patch,
        image_size=patch * round(max(patches, 0) ** 0.5),
        layer_norm_eps=_EPSILON,
    )
    with loading_faults(Path("the image encoder")):
        return ViTModel(config, add_pooling_layer=False)
