"""ResNet with bottlenecks in three dimensions, as MERLIN inflates it from two.

Names and shapes are those of the official checkpoint. The depth of a volume goes along the first of the three axes.
Source: Blankemeier et al. 2024 (Merlin); Carreira & Zisserman 2017 for the inflation.
"""

import torch
from torch import nn

from evaluation.embedders.networks.from_tensors import Tensors, count_numbered, extent
from evaluation.errors import ModelInvalid

_STAGES = 4
_EXPANSION = 4


class InflatedBottleneck(nn.Module):
    """1 x 1 x 1, 3 x 3 x 3 (strided), 1 x 1 x 1, and the shortcut."""

    def __init__(self, channels: int, width: int, *, stride: int, has_projection: bool) -> None:
        super().__init__()
        out = _EXPANSION * width
        self.conv1 = nn.Conv3d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm3d(width)
        self.conv2 = nn.Conv3d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm3d(width)
        self.conv3 = nn.Conv3d(width, out, 1, bias=False)
        self.bn3 = nn.BatchNorm3d(out)
        if has_projection:
            self.downsample = nn.Sequential(nn.Conv3d(channels, out, 1, stride=stride, bias=False), nn.BatchNorm3d(out))
        else:
            self.downsample = nn.Sequential()

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """Maps (n, channels, depth, height, width) to maps of four times `width` channels."""
        inner = torch.relu(self.bn1(self.conv1(maps)))
        inner = torch.relu(self.bn2(self.conv2(inner)))
        return torch.relu(self.bn3(self.conv3(inner)) + self.downsample(maps))


class InflatedResNet(nn.Module):
    """Volumes (n, right, front, head), 0..1, to the mean of the last maps, (n, features)."""

    def __init__(self, *, stem: int, widths: tuple[int, ...], depths: tuple[int, ...]) -> None:
        super().__init__()
        self.conv1 = nn.Conv3d(3, stem, (3, 7, 7), stride=(1, 2, 2), padding=(1, 3, 3), bias=False)
        self.bn1 = nn.BatchNorm3d(stem)
        self.maxpool = nn.MaxPool3d(3, stride=2, padding=1)
        channels = stem
        for number, (width, depth) in enumerate(zip(widths, depths, strict=True)):
            first = InflatedBottleneck(channels, width, stride=1 if number == 0 else 2, has_projection=True)
            channels = _EXPANSION * width
            others = [InflatedBottleneck(channels, width, stride=1, has_projection=False) for _ in range(depth - 1)]
            self.add_module(f"layer{number + 1}", nn.Sequential(first, *others))
        self.features = channels

    def forward(self, volumes: torch.Tensor) -> torch.Tensor:
        """The three channels of the stem all get the one grey volume."""
        maps = volumes.permute(0, 3, 1, 2).unsqueeze(1).expand(-1, 3, -1, -1, -1)
        maps = self.maxpool(torch.relu(self.bn1(self.conv1(maps))))
        for number in range(_STAGES):
            maps = self.get_submodule(f"layer{number + 1}")(maps)
        features: torch.Tensor = maps.mean(dim=(2, 3, 4))
        return features


def build_inflated_resnet(tensors: Tensors) -> InflatedResNet:
    """The network that these tensors fill, with their names as in the official image encoder.

    Raises:
        ModelInvalid: a stage is missing.
    """
    depths = tuple(count_numbered(tensors, f"layer{number + 1}.") for number in range(_STAGES))
    if not all(depths):
        raise ModelInvalid("The weights lack a stage of the image encoder; convert the official file.")
    widths = tuple(extent(tensors, f"layer{number + 1}.0.conv1.weight", 0) for number in range(_STAGES))
    return InflatedResNet(stem=extent(tensors, "conv1.weight", 0), widths=widths, depths=depths)
