"""PubMedCLIP: a CLIP ViT-B/32 whose official repository holds its weights as a pickle, named as transformers does."""

from collections.abc import Mapping

import torch

from evaluation.conversion.clip_folder import clip_folder
from evaluation.conversion.conversion import Converted


def convert(state: Mapping[str, torch.Tensor]) -> Converted:
    """The folder of the CLIP family.

    Raises:
        ConversionRefused: tensors are missing or surplus, or shapes do not fit together.
    """
    return clip_folder(state)
