"""The names of a ResNet's tensors: torchvision's, which most checkpoints have, and those of transformers."""

import re

_STEM = {"conv1": "embedder.embedder.convolution", "bn1": "embedder.embedder.normalization"}
_PARTS = {"conv": "convolution", "bn": "normalization"}
_SHORTCUT = {"0": "convolution", "1": "normalization"}
_LAYER = re.compile(r"layer(\d)\.(\d+)\.(?:(conv|bn)([123])|downsample\.([01]))\.(\w+)")


def resnet_name(name: str) -> str:
    """The name in transformers' ResNetModel of a tensor that torchvision's ResNet calls `name`.

    A name that no ResNet has is given back as it is, so that the check of the whole refuses it.
    """
    stem, _, kind = name.rpartition(".")
    if stem in _STEM:
        return f"{_STEM[stem]}.{kind}"
    found = _LAYER.fullmatch(name)
    if found is None:
        return name
    stage, layer, part, number, shortcut, kind = found.groups()
    place = f"encoder.stages.{int(stage) - 1}.layers.{layer}"
    if part is None:
        return f"{place}.shortcut.{_SHORTCUT[shortcut]}.{kind}"
    return f"{place}.layer.{int(number) - 1}.{_PARTS[part]}.{kind}"
