"""BioViL and BioViL-T: the image encoder's file and CXR-BERT's, joined.

Not taken over, because no vector of a text or of one image needs them: the classifier of the image encoder's ResNet, the
temporal transformer and the embedding of an earlier image's place in BioViL-T, and what predicts masked words.
"""

from collections.abc import Mapping

import torch

from evaluation.conversion.checking import require_exact
from evaluation.conversion.conversion import Converted
from evaluation.conversion.resnet_names import resnet_name
from evaluation.embedders.biovil import MODEL_TYPE, BiovilImageNetwork, BiovilTextNetwork
from evaluation.embedders.networks.from_tensors import Tensors, below

_BIOVIL_PIXELS, _BIOVIL_T_PIXELS = 480, 448
_UNUSED = (
    "encoder.encoder.fc.",
    "encoder.vit_pooler.",
    "cls.predictions.",
    "bert.pooler.",
    "bert.embeddings.position_ids",
)
_HEAD = {"dense_to_hidden": "0", "LayerNorm": "2", "dense_to_output": "3"}
_EARLIER_IMAGE = {
    "encoder.backbone_to_vit.weight": "reduction.weight",
    "encoder.missing_previous_emb": "missing_earlier_image",
}


def convert_biovil(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of BioViL.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    return _convert(state, crop_pixels=_BIOVIL_PIXELS)


def convert_biovil_t(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of BioViL-T.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    return _convert(state, crop_pixels=_BIOVIL_T_PIXELS)


def _convert(state: Mapping[str, torch.Tensor], *, crop_pixels: int) -> Converted:
    tensors = {_renamed(name): tensor for name, tensor in state.items() if not name.startswith(_UNUSED)}
    image, text = below(tensors, "image."), below(tensors, "text.")
    expected = {f"image.{name}": shape for name, shape in _shapes(BiovilImageNetwork, image).items()}
    expected |= {f"text.{name}": shape for name, shape in _shapes(BiovilTextNetwork, text).items()}
    require_exact(tensors, expected)
    return Converted(tensors, {"model_type": MODEL_TYPE, "crop_pixels": crop_pixels})


def _shapes(
    network_class: type[BiovilImageNetwork] | type[BiovilTextNetwork], tensors: Tensors
) -> dict[str, tuple[int, ...]]:
    with torch.device("meta"):
        network = network_class(tensors)
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


def _renamed(name: str) -> str:
    if name in _EARLIER_IMAGE:
        return f"image.{_EARLIER_IMAGE[name]}"
    if name.startswith("encoder.encoder."):
        return f"image.encoder.{resnet_name(name.removeprefix('encoder.encoder.'))}"
    if name.startswith("projector.model."):
        return f"image.projector.{name.removeprefix('projector.model.')}"
    head, _, kind = name.removeprefix("cls_projection_head.").rpartition(".")
    if name.startswith("cls_projection_head.") and head in _HEAD:
        return f"text.head.{_HEAD[head]}.{kind}"
    return f"text.{name}" if name.startswith("bert.") else name
