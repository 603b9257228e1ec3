"""The two towers of CLIP built from their tensors, for systems that pair one of them with another kind of tower."""

from pathlib import Path
from typing import Any

from transformers import CLIPTextConfig, CLIPTextModelWithProjection, CLIPVisionConfig, CLIPVisionModelWithProjection

from evaluation.embedders.loading import loading_faults
from evaluation.embedders.networks.from_tensors import Tensors, count_numbered, extent

_LAYER = "encoder.layers."


def build_clip_image_tower(tensors: Tensors, *, activation: str, head_width: int) -> CLIPVisionModelWithProjection:
    """The image tower that these tensors fill, with names as in transformers.

    Args:
        tensors: by name.
        activation: `quick_gelu` for OpenAI's, `gelu` for most others.
        head_width: numbers a head; 64 in nearly all.

    Raises:
        ModelInvalid: a tensor is missing.
    """
    patch = extent(tensors, "vision_model.embeddings.patch_embedding.weight", 2)
    patches = extent(tensors, "vision_model.embeddings.position_embedding.weight", 0) - 1
    config = CLIPVisionConfig(
        **_sizes(tensors, "vision_model", activation),
        num_attention_heads=max(1, extent(tensors, _inner("vision_model"), 1) // head_width),
        patch_size=patch,
        image_size=patch * round(max(patches, 0) ** 0.5),
        projection_dim=extent(tensors, "visual_projection.weight", 0),
    )
    with loading_faults(Path("the image encoder")):
        return CLIPVisionModelWithProjection(config)


def build_clip_text_tower(tensors: Tensors, *, activation: str, heads: int) -> CLIPTextModelWithProjection:
    """The text tower that these tensors fill; the end mark is the last word of the vocabulary.

    Raises:
        ModelInvalid: a tensor is missing.
    """
    words = extent(tensors, "text_model.embeddings.token_embedding.weight", 0)
    config = CLIPTextConfig(
        **_sizes(tensors, "text_model", activation),
        num_attention_heads=heads,
        vocab_size=words,
        max_position_embeddings=extent(tensors, "text_model.embeddings.position_embedding.weight", 0),
        projection_dim=extent(tensors, "text_projection.weight", 0),
        bos_token_id=max(0, words - 2),
        eos_token_id=words - 1,
        pad_token_id=words - 1,
    )
    with loading_faults(Path("the text encoder")):
        return CLIPTextModelWithProjection(config)


def _sizes(tensors: Tensors, tower: str, activation: str) -> dict[str, Any]:
    inner = _inner(tower)
    return {
        "hidden_size": extent(tensors, inner, 1),
        "intermediate_size": extent(tensors, inner, 0),
        "num_hidden_layers": count_numbered(tensors, f"{tower}.{_LAYER}"),
        "hidden_act": activation,
    }


def _inner(tower: str) -> str:
    return f"{tower}.{_LAYER}0.mlp.fc1.weight"
