"""ResNets with bottlenecks built from their tensors, for systems that use one as their image tower."""

from pathlib import Path

from transformers import ResNetConfig, ResNetModel

from evaluation.embedders.loading import loading_faults
from evaluation.embedders.networks.from_tensors import Tensors, count_numbered, extent

_STAGES = 4


def build_resnet(tensors: Tensors) -> ResNetModel:
    """The network that these tensors fill, with names as in transformers' ResNetModel; strides on the 3 x 3 layers.

    Raises:
        ModelInvalid: a stage is missing.
    """
    stages = [f"encoder.stages.{number}.layers." for number in range(_STAGES)]
    config = ResNetConfig(
        embedding_size=extent(tensors, "embedder.embedder.convolution.weight", 0),
        hidden_sizes=[extent(tensors, f"{stage}0.layer.2.convolution.weight", 0) for stage in stages],
        depths=[count_numbered(tensors, stage) for stage in stages],
        layer_type="bottleneck",
        downsample_in_bottleneck=False,
    )
    with loading_faults(Path("the image encoder")):
        return ResNetModel(config)
