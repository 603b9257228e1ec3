"""MedImageInsight: the official file, which is safetensors under the name of a pickle."""

import re
from collections.abc import Mapping

import torch

from evaluation.conversion.checking import require_exact
from evaluation.conversion.conversion import Converted
from evaluation.embedders.medimageinsight import (
    MODEL_TYPE,
    MedImageInsightImageNetwork,
    MedImageInsightTextNetwork,
)
from evaluation.embedders.networks.from_tensors import Tensors, below

_UNUSED = frozenset({"logit_scale"})
_WHOLE_NAMES = {
    "image_projection": "image.projection",
    "image_encoder.norms.weight": "image.norm.weight",
    "image_encoder.norms.bias": "image.norm.bias",
    "lang_projection": "text.projection",
    "lang_encoder.token_embedding.weight": "text.tokens.weight",
    "lang_encoder.positional_embedding": "text.positions",
    "lang_encoder.ln_final.weight": "text.encoder.norm.weight",
    "lang_encoder.ln_final.bias": "text.encoder.norm.bias",
}
_TEXT_PARTS = {
    "attn.in_proj_weight": "self_attn.in_proj_weight",
    "attn.in_proj_bias": "self_attn.in_proj_bias",
    "attn.out_proj.weight": "self_attn.out_proj.weight",
    "attn.out_proj.bias": "self_attn.out_proj.bias",
    "ln_1.weight": "norm1.weight",
    "ln_1.bias": "norm1.bias",
    "ln_2.weight": "norm2.weight",
    "ln_2.bias": "norm2.bias",
    "mlp.c_fc.weight": "linear1.weight",
    "mlp.c_fc.bias": "linear1.bias",
    "mlp.c_proj.weight": "linear2.weight",
    "mlp.c_proj.bias": "linear2.bias",
}
_BLOCK_PARTS = {
    "conv1.fn.dw": "conv1",
    "conv2.fn.dw": "conv2",
    "window_attn.norm": "norm1",
    "channel_attn.norm": "norm1",
    "window_attn.fn.qkv": "window_attn.qkv",
    "window_attn.fn.proj": "window_attn.proj",
    "channel_attn.fn.qkv": "channel_attn.qkv",
    "channel_attn.fn.proj": "channel_attn.proj",
    "ffn.norm": "norm2",
    "ffn.fn.net.fc1": "ffn.fc1",
    "ffn.fn.net.fc2": "ffn.fc2",
}
_TEXT_BLOCK = re.compile(r"lang_encoder\.resblocks\.(\d+)\.(.+)")
_EMBEDDING = re.compile(r"image_encoder\.convs\.(\d)\.(proj|norm)\.(\w+)")
_BLOCK = re.compile(r"image_encoder\.(blocks\.\d\.\d+\.(?:spatial|channel)_block)\.(.+)\.(weight|bias)")


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of MedImageInsight.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    tensors = {_renamed(name): tensor for name, tensor in state.items() if name not in _UNUSED}
    expected = _shapes(MedImageInsightImageNetwork, "image.", tensors)
    require_exact(tensors, expected | _shapes(MedImageInsightTextNetwork, "text.", tensors))
    return Converted(tensors, {"model_type": MODEL_TYPE})


def _shapes(
    network_class: type[MedImageInsightImageNetwork] | type[MedImageInsightTextNetwork], prefix: str, tensors: Tensors
) -> dict[str, tuple[int, ...]]:
    with torch.device("meta"):
        network = network_class(below(tensors, prefix))
    return {prefix + name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


def _renamed(name: str) -> str:
    """The name in our folder; a name that the system has not stays, so that the check of the whole refuses it."""
    if name in _WHOLE_NAMES:
        return _WHOLE_NAMES[name]
    if (text := _TEXT_BLOCK.fullmatch(name)) and text[2] in _TEXT_PARTS:
        return f"text.encoder.layers.{text[1]}.{_TEXT_PARTS[text[2]]}"
    if embedding := _EMBEDDING.fullmatch(name):
        part = "conv" if embedding[2] == "proj" else "norm"
        return f"image.encoder.convs.{embedding[1]}.{part}.{embedding[3]}"
    if (block := _BLOCK.fullmatch(name)) and block[2] in _BLOCK_PARTS:
        return f"image.encoder.{block[1]}.{_BLOCK_PARTS[block[2]]}.{block[3]}"
    return name
