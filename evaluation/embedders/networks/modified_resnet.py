"""CLIP's ResNet, with the names that OpenAI gave its tensors, built from them.

It differs from the usual one: three convolutions before the first stage, means in place of strides, and attention from
the mean over all places in place of a mean. Source: Radford et al. 2021, section 2.4; https://github.com/openai/CLIP.
"""

import torch
from torch import nn
from torch.nn import functional

from evaluation.embedders.networks.from_tensors import Tensors, below, count_numbered, extent

_HEAD_WIDTH = 64
_STAGES = 4
_EXPANSION = 4


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3, mean over `stride`, 1 x 1; beside it the input, brought to the same shape where it has another."""

    def __init__(self, channels: int, width: int, *, stride: int, has_shortcut: bool) -> None:
        super().__init__()
        out = width * _EXPANSION
        self.conv1, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out)
        self.pool = nn.AvgPool2d(stride)
        self.downsample: nn.Sequential | None = None
        if has_shortcut:
            self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, bias=False), nn.BatchNorm2d(out))

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """(n, channels, side, side) to (n, 4 width, side / stride, side / stride)."""
        inner = functional.relu(self.bn1(self.conv1(maps)))
        inner = functional.relu(self.bn2(self.conv2(inner)))
        inner = self.bn3(self.conv3(self.pool(inner)))
        beside = maps if self.downsample is None else self.downsample(self.pool(maps))
        return functional.relu(inner + beside)


class AttentionPool(nn.Module):
    """What the mean over all places attends to, among itself and all places."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        places, width = extent(tensors, "positional_embedding", 0), extent(tensors, "positional_embedding", 1)
        self.positional_embedding = nn.Parameter(torch.zeros(places, width))
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))
        self.c_proj = nn.Linear(width, extent(tensors, "c_proj.weight", 0))

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """(n, width, side, side) to (n, dimension)."""
        places = maps.flatten(2).transpose(1, 2)
        places = torch.cat([places.mean(dim=1, keepdim=True), places], dim=1) + self.positional_embedding
        query, key, value = (
            self._heads(projection(states))
            for projection, states in ((self.q_proj, places[:, :1]), (self.k_proj, places), (self.v_proj, places))
        )
        attended = functional.scaled_dot_product_attention(query, key, value)
        vectors: torch.Tensor = self.c_proj(attended.transpose(1, 2).flatten(1))
        return vectors

    def _heads(self, states: torch.Tensor) -> torch.Tensor:
        count, places, width = states.shape
        return states.reshape(count, places, max(1, width // _HEAD_WIDTH), -1).transpose(1, 2)


class ModifiedResNet(nn.Module):
    """Pictures (n, 3, side, side) to vectors (n, dimension)."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        half, width = extent(tensors, "conv1.weight", 0), extent(tensors, "conv3.weight", 0)
        self.conv1, self.bn1 = nn.Conv2d(3, half, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(half)
        self.conv2, self.bn2 = nn.Conv2d(half, half, 3, padding=1, bias=False), nn.BatchNorm2d(half)
        self.conv3, self.bn3 = nn.Conv2d(half, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.layer1, self.layer2, self.layer3, self.layer4 = (
            _stage(below(tensors, f"layer{number}."), stride=1 if number == 1 else 2)
            for number in range(1, _STAGES + 1)
        )
        self.attnpool = AttentionPool(below(tensors, "attnpool."))

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """The vectors of the pictures."""
        maps = functional.relu(self.bn1(self.conv1(pixels)))
        maps = functional.relu(self.bn2(self.conv2(maps)))
        maps = functional.avg_pool2d(functional.relu(self.bn3(self.conv3(maps))), 2)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            maps = stage(maps)
        vectors: torch.Tensor = self.attnpool(maps)
        return vectors


def _stage(tensors: Tensors, *, stride: int) -> nn.Sequential:
    blocks = [
        Bottleneck(
            extent(tensors, f"{number}.conv1.weight", 1),
            extent(tensors, f"{number}.conv1.weight", 0),
            stride=stride if number == 0 else 1,
            has_shortcut=f"{number}.downsample.0.weight" in tensors,
        )
        for number in range(count_numbered(tensors, ""))
    ]
    return nn.Sequential(*blocks)
