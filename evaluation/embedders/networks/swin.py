"""Swin transformers built from their tensors."""

from math import isqrt
from pathlib import Path

from transformers import SwinConfig, SwinModel

from evaluation.embedders.loading import loading_faults
from evaluation.embedders.networks.from_tensors import Tensors, count_numbered, extent

_TABLE = "blocks.0.attention.relative_position_bias.relative_position_bias_table"


def build_swin(tensors: Tensors) -> SwinModel:
    """The network that these tensors fill, with names as in transformers' SwinModel; its vector is the mean of all places.

    Raises:
        ModelInvalid: a tensor is missing.
    """
    stages = [f"encoder.layers.{number}." for number in range(count_numbered(tensors, "encoder.layers."))]
    width = extent(tensors, "embeddings.patch_embeddings.projection.weight", 0)
    # A window of w x w has (2w - 1) x (2w - 1) relative places.
    places = extent(tensors, f"encoder.layers.0.{_TABLE}", 0)
    config = SwinConfig(
        embed_dim=width,
        patch_size=extent(tensors, "embeddings.patch_embeddings.projection.weight", 2),
        depths=[count_numbered(tensors, f"{stage}blocks.") for stage in stages],
        num_heads=[extent(tensors, f"{stage}{_TABLE}", 1) for stage in stages],
        window_size=(isqrt(places) + 1) // 2,
        mlp_ratio=extent(tensors, "encoder.layers.0.blocks.0.mlp.fc1.weight", 0) / width,
    )
    with loading_faults(Path("the image encoder")):
        return SwinModel(config)
