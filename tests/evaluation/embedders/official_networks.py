"""Small random checkpoints in the layouts of official files, and their forward passes written out from the papers.

Each `*_state` gives tensors under the official names; each `*_forward` reads them by these names with plain functions.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from evaluation.conversion.registry import find_conversion
from evaluation.conversion.writing import OfficialFile, convert_file

State = dict[str, torch.Tensor]
RESNET_WIDTHS, RESNET_STEM = (4, 6, 8, 10), 5


class Random:
    """Tensors of a fixed stream; weights keep the size of what flows through them."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def weight(self, *shape: int) -> torch.Tensor:
        spread = (2 / max(1, torch.Size(shape[1:]).numel())) ** 0.5
        return torch.randn(shape, generator=self._generator) * spread

    def vector(self, *shape: int, middle: float = 0) -> torch.Tensor:
        return middle + 0.2 * torch.randn(shape, generator=self._generator)

    def linear(self, name: str, out: int, inner: int) -> State:
        return {f"{name}.weight": self.weight(out, inner), f"{name}.bias": self.vector(out)}

    def norm(self, name: str, width: int) -> State:
        return {f"{name}.weight": self.vector(width, middle=1), f"{name}.bias": self.vector(width)}

    def batch_norm(self, name: str, width: int) -> State:
        return {
            **self.norm(name, width),
            f"{name}.running_mean": self.vector(width),
            f"{name}.running_var": self.vector(width, middle=1).abs() + 0.1,
            f"{name}.num_batches_tracked": torch.tensor(7),
        }


def resnet_state(random: Random, *, depths: tuple[int, ...], volume: bool) -> State:
    """torchvision's names: bottlenecks of four times the width; `volume` adds a leading axis of depth to kernels."""

    def kernel(out: int, inner: int, size: int) -> torch.Tensor:
        depth = () if not volume else (min(size, 3),)
        return random.weight(out, inner, *depth, size, size)

    state = {"conv1.weight": kernel(RESNET_STEM, 3, 7), **random.batch_norm("bn1", RESNET_STEM)}
    channels = RESNET_STEM
    for stage, (width, depth) in enumerate(zip(RESNET_WIDTHS, depths, strict=True), start=1):
        for block in range(depth):
            name = f"layer{stage}.{block}"
            state |= {
                f"{name}.conv1.weight": kernel(width, channels, 1),
                **random.batch_norm(f"{name}.bn1", width),
                f"{name}.conv2.weight": kernel(width, width, 3),
                **random.batch_norm(f"{name}.bn2", width),
                f"{name}.conv3.weight": kernel(4 * width, width, 1),
                **random.batch_norm(f"{name}.bn3", 4 * width),
            }
            if block == 0:
                state[f"{name}.downsample.0.weight"] = kernel(4 * width, channels, 1)
                state |= random.batch_norm(f"{name}.downsample.1", 4 * width)
            channels = 4 * width
    return state


def resnet_forward(state: State, images: torch.Tensor, *, depths: tuple[int, ...]) -> torch.Tensor:
    """The last map. The stride is on the 3 x 3 layer; the first layer of a volume has no stride along its depth."""
    volume = images.dim() == 5
    convolve: Callable[..., torch.Tensor] = functional.conv3d if volume else functional.conv2d
    pool: Callable[..., torch.Tensor] = functional.max_pool3d if volume else functional.max_pool2d

    def norm(maps: torch.Tensor, name: str) -> torch.Tensor:
        kinds = ("running_mean", "running_var", "weight", "bias")
        return functional.batch_norm(maps, *(state[f"{name}.{kind}"] for kind in kinds))

    stem = {"stride": (1, 2, 2), "padding": (1, 3, 3)} if volume else {"stride": 2, "padding": 3}
    maps = norm(convolve(images, state["conv1.weight"], **stem), "bn1").relu()
    maps = pool(maps, 3, stride=2, padding=1)
    for stage, depth in enumerate(depths, start=1):
        for block in range(depth):
            name, stride = f"layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1
            inner = norm(convolve(maps, state[f"{name}.conv1.weight"]), f"{name}.bn1").relu()
            inner = convolve(inner, state[f"{name}.conv2.weight"], stride=stride, padding=1)
            inner = norm(inner, f"{name}.bn2").relu()
            inner = norm(convolve(inner, state[f"{name}.conv3.weight"]), f"{name}.bn3")
            if block == 0:
                maps = convolve(maps, state[f"{name}.downsample.0.weight"], stride=stride)
                maps = norm(maps, f"{name}.downsample.1")
            maps = (inner + maps).relu()
    return maps


def convert_tiny(
    system: str, state: State | dict[str, Any], folder: Path, *, tokenizer: Path | None, second: State | None = None
) -> Path:
    """Save `state` under the official file name, and convert it as the command does; shapes may be small."""
    conversion = replace(find_conversion(system), pinned={})
    folder.mkdir(parents=True, exist_ok=True)

    def saved(content: Any, name: str) -> OfficialFile:
        path = folder / name
        if conversion.file_format == "safetensors":
            from safetensors.torch import save_file

            save_file(content, path)
        else:
            torch.save(content, path)
        return OfficialFile(path, hashlib.sha256(path.read_bytes()).hexdigest())

    first = saved(state, conversion.file_names[0])
    other = saved(second, conversion.second_file_names[0]) if second is not None else None
    out = folder / "converted"
    convert_file(conversion, file=first.path, sha256=first.sha256, out=out, tokenizer=tokenizer, second=other)
    return out


def write_word_pieces(folder: Path, words: tuple[str, ...]) -> Path:
    """A BERT vocabulary: marks, single letters and the given words."""
    folder.mkdir(parents=True, exist_ok=True)
    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters), *words]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return folder


def write_byte_pairs(folder: Path, marks: tuple[str, ...], *, end_of_word: str = "") -> Path:
    """A byte-level vocabulary of single signs, without merges, with the marks where the system has them."""
    from tokenizers.pre_tokenizers import ByteLevel

    folder.mkdir(parents=True, exist_ok=True)
    alphabet = sorted(ByteLevel.alphabet())
    signs = [*alphabet, *(sign + end_of_word for sign in alphabet if end_of_word)]
    vocabulary = [*marks, *signs] if not end_of_word else [*signs, *marks]
    numbers = {sign: number for number, sign in enumerate(vocabulary)}
    (folder / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    return folder
