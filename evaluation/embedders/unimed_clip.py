"""UniMed-CLIP: CLIP's vision transformer and BiomedBERT, in a folder that conversion writes in open_clip's layout.

Source: Khattak et al. 2024; https://github.com/mbzuai-oryx/UniMed-CLIP, a fork of open_clip.
"""

from pathlib import Path

from evaluation.embedders.dual_encoder import DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.open_clip import OpenClipTowers
from evaluation.vocabulary import EmbedderFamily

MODEL_TYPE = "medboard-unimed-clip"


def load_unimed_clip(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a converted UniMed-CLIP.

    Raises:
        ModelInvalid, ModelUnsupported: as `load_open_clip`.
    """
    return DualEncoder(OpenClipTowers(folder, device=device, config=config, family=EmbedderFamily.UNIMED_CLIP))
