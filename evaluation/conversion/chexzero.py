"""CheXzero: a CLIP ViT-B/32 trained on chest radiographs, whose checkpoints name their tensors as OpenAI does."""

from collections.abc import Mapping

import torch

from evaluation.conversion.clip_folder import clip_folder
from evaluation.conversion.conversion import Converted
from evaluation.embedders.networks.clip_names import image_tensors, text_tensors
from evaluation.embedders.networks.from_tensors import below

_UNUSED = frozenset({"input_resolution", "context_length", "vocab_size"})  # numbers that some exports keep


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of the CLIP family.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    tensors = {name: tensor for name, tensor in state.items() if name not in _UNUSED}
    image = image_tensors(below(tensors, "visual."))
    text = text_tensors({name: tensor for name, tensor in tensors.items() if not name.startswith("visual.")})
    return clip_folder(image | text)
