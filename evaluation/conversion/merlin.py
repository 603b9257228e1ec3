"""MERLIN and image encoders of its architecture.

Names stay as they are. Not taken over, because no vector needs them: the classifier of diagnoses, the pooler of the text
encoder and the temperature.
"""

from collections.abc import Mapping

import torch

from evaluation.conversion.checking import require_exact
from evaluation.conversion.conversion import Converted
from evaluation.embedders.merlin import (
    HEAD_PREFIX,
    IMAGE_PREFIX,
    MODEL_TYPE,
    TEXT_HEAD_PREFIX,
    TEXT_PREFIX,
    build_longformer,
)
from evaluation.embedders.networks.from_tensors import Tensors, below, extent
from evaluation.embedders.networks.inflated_resnet import build_inflated_resnet

_UNUSED = (
    f"{IMAGE_PREFIX}classifier.",
    f"{TEXT_PREFIX}pooler.",
    f"{TEXT_PREFIX}embeddings.position_ids",
    "logit_scale",
)


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of MERLIN.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    tensors = {name: tensor for name, tensor in state.items() if not name.startswith(_UNUSED)}
    dimension, width = extent(tensors, TEXT_HEAD_PREFIX + "weight", 0), extent(tensors, TEXT_HEAD_PREFIX + "weight", 1)
    with torch.device("meta"):
        text = build_longformer(below(tensors, TEXT_PREFIX)).state_dict()
    shapes = _image_shapes(tensors) | {TEXT_PREFIX + name: tuple(tensor.shape) for name, tensor in text.items()}
    shapes |= {
        HEAD_PREFIX + "weight": (dimension, extent(tensors, HEAD_PREFIX + "weight", 1), 1, 1, 1),
        HEAD_PREFIX + "bias": (dimension,),
        TEXT_HEAD_PREFIX + "weight": (dimension, width),
        TEXT_HEAD_PREFIX + "bias": (dimension,),
    }
    require_exact(tensors, shapes)
    return Converted(tensors, {"model_type": MODEL_TYPE})


def convert_image_encoder(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of an image encoder alone, which gives image features.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    tensors = {IMAGE_PREFIX + name: tensor for name, tensor in state.items()}
    require_exact(tensors, _image_shapes(tensors))
    return Converted(tensors, {"model_type": MODEL_TYPE})


def _image_shapes(tensors: Tensors) -> dict[str, tuple[int, ...]]:
    own = {name: tensor for name, tensor in below(tensors, IMAGE_PREFIX).items() if "contrastive_head" not in name}
    with torch.device("meta"):
        network = build_inflated_resnet(own)
    return {IMAGE_PREFIX + name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
