"""DaViT built from its tensors.

transformers holds the network as the vision backbone of Florence-2, which needs neither timm nor torchvision; timm's
`davit_huge_fl` is the same network under other names.
"""

from pathlib import Path

from transformers import Florence2VisionConfig
from transformers.models.florence2.modeling_florence2 import Florence2VisionBackbone

from evaluation.embedders.loading import loading_faults
from evaluation.embedders.networks.from_tensors import Tensors, count_numbered, extent

_STAGES = 4
_HEAD_WIDTH = 32
_STRIDES = (4, 2, 2, 2)
_WINDOW = 12


def build_davit(tensors: Tensors) -> Florence2VisionBackbone:
    """The network that these tensors fill, with names as in transformers; heads and channel groups are 32 wide.

    Raises:
        ModelInvalid: a stage is missing.
    """
    widths = [extent(tensors, f"convs.{stage}.conv.weight", 0) for stage in range(_STAGES)]
    kernels = [extent(tensors, f"convs.{stage}.conv.weight", 2) for stage in range(_STAGES)]
    heads = [max(1, width // _HEAD_WIDTH) for width in widths]
    with loading_faults(Path("the image encoder")):
        return Florence2VisionBackbone(
            Florence2VisionConfig(
                embed_dim=widths,
                depths=[count_numbered(tensors, f"blocks.{stage}.") for stage in range(_STAGES)],
                patch_size=kernels,
                patch_stride=_STRIDES,
                patch_padding=[kernel // 2 for kernel in kernels],
                patch_prenorm=[stage > 0 for stage in range(_STAGES)],
                num_heads=heads,
                num_groups=heads,
                window_size=_WINDOW,
                mlp_ratio=extent(tensors, "blocks.0.0.spatial_block.ffn.fc1.weight", 0) / widths[0],
                attn_implementation="sdpa",
            )
        )
