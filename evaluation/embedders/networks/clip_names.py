"""The names of a CLIP's tensors: OpenAI's, which open_clip keeps, and those of transformers.

OpenAI stores query, key and value as one matrix, one above the other, and projections the other way round.
Source: https://github.com/openai/CLIP and https://github.com/mlfoundations/open_clip.
"""

import re

import torch

from evaluation.embedders.networks.from_tensors import Tensors

ATTENTION_PARTS = ("q_proj", "k_proj", "v_proj")

_MATRIX = 2
_BLOCK = re.compile(r"transformer\.resblocks\.(\d+)\.(.+)")
_BLOCK_PARTS = {
    "attn.out_proj.weight": "self_attn.out_proj.weight",
    "attn.out_proj.bias": "self_attn.out_proj.bias",
    "ln_1.weight": "layer_norm1.weight",
    "ln_1.bias": "layer_norm1.bias",
    "ln_2.weight": "layer_norm2.weight",
    "ln_2.bias": "layer_norm2.bias",
    "mlp.c_fc.weight": "mlp.fc1.weight",
    "mlp.c_fc.bias": "mlp.fc1.bias",
    "mlp.c_proj.weight": "mlp.fc2.weight",
    "mlp.c_proj.bias": "mlp.fc2.bias",
}
_JOINED = {"attn.in_proj_weight": "weight", "attn.in_proj_bias": "bias"}
_IMAGE_NAMES = {
    "class_embedding": "embeddings.class_embedding",
    "conv1.weight": "embeddings.patch_embedding.weight",
    "positional_embedding": "embeddings.position_embedding.weight",
    "ln_pre.weight": "pre_layrnorm.weight",
    "ln_pre.bias": "pre_layrnorm.bias",
    "ln_post.weight": "post_layernorm.weight",
    "ln_post.bias": "post_layernorm.bias",
}
_TEXT_NAMES = {
    "token_embedding.weight": "embeddings.token_embedding.weight",
    "positional_embedding": "embeddings.position_embedding.weight",
    "ln_final.weight": "final_layer_norm.weight",
    "ln_final.bias": "final_layer_norm.bias",
}


def image_tensors(tensors: Tensors) -> dict[str, torch.Tensor]:
    """The tensors below `visual.` as transformers' CLIPVisionModelWithProjection names them.

    A tensor that the tower has not keeps its name, so that the check of the whole refuses it.
    """
    return _tower(tensors, "vision_model", _IMAGE_NAMES, ("proj", "visual_projection.weight"))


def text_tensors(tensors: Tensors) -> dict[str, torch.Tensor]:
    """The tensors of a text tower as transformers' CLIPTextModelWithProjection names them; others keep their names."""
    return _tower(tensors, "text_model", _TEXT_NAMES, ("text_projection", "text_projection.weight"))


def is_joined(tensor: torch.Tensor) -> bool:
    """Whether a tensor can be query, key and value, one above the other."""
    return tensor.dim() > 0 and tensor.shape[0] > 0 and tensor.shape[0] % len(ATTENTION_PARTS) == 0


def _tower(tensors: Tensors, tower: str, names: dict[str, str], projection: tuple[str, str]) -> dict[str, torch.Tensor]:
    found = {}
    for name, tensor in tensors.items():
        block = _BLOCK.fullmatch(name)
        if name == projection[0] and tensor.dim() == _MATRIX:
            found[projection[1]] = tensor.T
        elif name in names:
            found[f"{tower}.{names[name]}"] = tensor
        elif block and block[2] in _BLOCK_PARTS:
            found[f"{tower}.encoder.layers.{block[1]}.{_BLOCK_PARTS[block[2]]}"] = tensor
        elif block and block[2] in _JOINED and is_joined(tensor):
            for part, piece in zip(ATTENTION_PARTS, tensor.chunk(3), strict=True):
                found[f"{tower}.encoder.layers.{block[1]}.self_attn.{part}.{_JOINED[block[2]]}"] = piece
        else:
            found[name] = tensor
    return found
