"""MedImageInsight: a small checkpoint in the official layout against the forward pass written out from the papers."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from torch.nn import functional

from evaluation.decoding import decode
from evaluation.embedders.medimageinsight import medimageinsight_pixels
from evaluation.embedders.registry import load_embedder
from evaluation.errors import ConversionRefused, ModelInvalid
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.official_medimageinsight import (
    DEPTHS,
    END,
    HEAD,
    KERNELS,
    LAYERS,
    POSITIONS,
    START,
    STRIDES,
    WIDTH,
    WINDOW,
    WORDS,
    convert_medimageinsight,
    official_state,
)
from tests.evaluation.embedders.official_networks import State, convert_tiny
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone


class Davit:
    """DaViT on maps (1, channels, height, width), from the official names."""

    def __init__(self, state: State) -> None:
        self._state = {name.removeprefix("image_encoder."): tensor for name, tensor in state.items()}

    def _linear(self, values: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(values, self._state[f"{name}.weight"], self._state[f"{name}.bias"])

    def _norm(self, values: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(
            values, values.shape[-1:], self._state[f"{name}.weight"], self._state[f"{name}.bias"], 1e-5
        )

    def _depthwise(self, maps: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self._state[f"{name}.weight"], self._state[f"{name}.bias"]
        return maps + functional.conv2d(maps, weight, bias, padding=1, groups=len(weight))

    def _windows(self, grid: torch.Tensor, name: str) -> torch.Tensor:
        """Attention inside windows of 12 x 12 over a grid (height, width, channels), padded at the right and below."""
        height, width, channels = grid.shape
        padded = functional.pad(grid, (0, 0, 0, -width % WINDOW, 0, -height % WINDOW))
        result = torch.empty_like(padded)
        for top in range(0, padded.shape[0], WINDOW):
            for left in range(0, padded.shape[1], WINDOW):
                window = padded[top : top + WINDOW, left : left + WINDOW].reshape(WINDOW**2, channels)
                queries, keys, values = self._linear(window, f"{name}.fn.qkv").reshape(WINDOW**2, 3, -1, HEAD).unbind(1)
                heads = []
                for head in range(channels // HEAD):
                    scores = (queries[:, head] @ keys[:, head].T / HEAD**0.5).softmax(dim=-1)
                    heads.append(scores @ values[:, head])
                mixed = self._linear(torch.cat(heads, dim=-1), f"{name}.fn.proj")
                result[top : top + WINDOW, left : left + WINDOW] = mixed.reshape(WINDOW, WINDOW, channels)
        return result[:height, :width]

    def _channels(self, tokens: torch.Tensor, name: str) -> torch.Tensor:
        """Attention between channels of a group of 32, scaled by the number of places."""
        count, channels = tokens.shape
        queries, keys, values = self._linear(tokens, f"{name}.fn.qkv").reshape(count, 3, -1, HEAD).unbind(1)
        groups = []
        for group in range(channels // HEAD):
            scores = (queries[:, group].T @ keys[:, group] / count**0.5).softmax(dim=-1)
            groups.append(values[:, group] @ scores.T)
        return self._linear(torch.cat(groups, dim=-1), f"{name}.fn.proj")

    def _block(self, maps: torch.Tensor, name: str, attention: str) -> torch.Tensor:
        maps = self._depthwise(maps, f"{name}.conv1.fn.dw")
        grid = maps[0].permute(1, 2, 0)
        normed = self._norm(grid, f"{name}.{attention}.norm")
        if attention == "window_attn":
            grid = grid + self._windows(normed, f"{name}.{attention}")
        else:
            grid = grid + self._channels(normed.flatten(0, 1), f"{name}.{attention}").view_as(grid)
        maps = self._depthwise(grid.permute(2, 0, 1)[None], f"{name}.conv2.fn.dw")
        grid = maps[0].permute(1, 2, 0)
        inner = functional.gelu(self._linear(self._norm(grid, f"{name}.ffn.norm"), f"{name}.ffn.fn.net.fc1"))
        return (grid + self._linear(inner, f"{name}.ffn.fn.net.fc2")).permute(2, 0, 1)[None]

    def __call__(self, maps: torch.Tensor) -> torch.Tensor:
        for stage in range(4):
            name = f"convs.{stage}"
            if stage:
                maps = self._norm(maps.permute(0, 2, 3, 1), f"{name}.norm").permute(0, 3, 1, 2)
            weight, bias = self._state[f"{name}.proj.weight"], self._state[f"{name}.proj.bias"]
            maps = functional.conv2d(maps, weight, bias, stride=STRIDES[stage], padding=KERNELS[stage] // 2)
            if not stage:
                maps = self._norm(maps.permute(0, 2, 3, 1), f"{name}.norm").permute(0, 3, 1, 2)
            for block in range(DEPTHS[stage]):
                maps = self._block(maps, f"blocks.{stage}.{block}.spatial_block", "window_attn")
                maps = self._block(maps, f"blocks.{stage}.{block}.channel_block", "channel_attn")
        return self._norm(maps.mean(dim=(2, 3)), "norms")


@torch.inference_mode()
def image_vector(state: State, path: Path) -> np.ndarray:
    resized = np.asarray(Image.open(path).convert("RGB").resize((480, 480), Image.Resampling.BICUBIC), dtype=float)
    pixels = (resized / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    pooled = Davit(state)(torch.tensor(pixels.transpose(2, 0, 1)[None], dtype=torch.float32))
    return functional.normalize(pooled @ state["image_projection"], dim=1)[0].numpy()


@torch.inference_mode()
def text_vector(state: State, tokens: list[int]) -> np.ndarray:
    """Padded to 77 with the end mark, as the authors do; read at the highest number's first place, the end mark."""
    padded = torch.tensor(tokens + [WORDS - 1] * (POSITIONS - len(tokens)))
    mask = torch.arange(POSITIONS) < len(tokens)
    named = {name.removeprefix("lang_encoder."): tensor for name, tensor in state.items()}

    def norm(values: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(values, (WIDTH,), named[f"{name}.weight"], named[f"{name}.bias"], 1e-12)

    def linear(values: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(values, named[f"{name}.weight"], named[f"{name}.bias"])

    states = named["token_embedding.weight"][padded] + named["positional_embedding"]
    for layer in range(LAYERS):
        name = f"resblocks.{layer}"
        mixed = functional.linear(
            norm(states, f"{name}.ln_1"), named[f"{name}.attn.in_proj_weight"], named[f"{name}.attn.in_proj_bias"]
        )
        queries, keys, values = mixed.reshape(POSITIONS, 3, 2, 64).permute(1, 2, 0, 3)
        scores = (queries @ keys.transpose(1, 2) / 8).masked_fill(~mask, -torch.inf).softmax(dim=-1)
        states = states + linear((scores @ values).transpose(0, 1).reshape(POSITIONS, WIDTH), f"{name}.attn.out_proj")
        inner = linear(norm(states, f"{name}.ln_2"), f"{name}.mlp.c_fc")
        states = states + linear(inner * torch.sigmoid(1.702 * inner), f"{name}.mlp.c_proj")
    end = int(padded.tolist().index(int(padded.max())))
    return functional.normalize(norm(states, "ln_final")[end] @ state["lang_projection"], dim=0).numpy()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return convert_medimageinsight(tmp_path_factory.mktemp("medimageinsight"))


def tokens_of(folder: Path, word: str) -> list[int]:
    """One word of letters: each its own token, the last with the mark of the word's end."""
    numbers = json.loads((folder / "vocab.json").read_text())
    return [numbers[START], *(numbers[letter] for letter in word[:-1]), numbers[word[-1] + "</w>"], numbers[END]]


def test_images_equal_the_published_description(folder: Path, image_files: list[Path]) -> None:
    embedder = load_embedder(folder)
    for path in image_files[:2]:
        row = embedder.embed([decode(EmbeddingInput(images=(path,)))])[0]
        assert row @ image_vector(official_state(), path) > 1 - 1e-5
        assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


def test_texts_equal_the_published_description(folder: Path) -> None:
    embedder = load_embedder(folder)
    for text, tokens in (
        ("Effusion", tokens_of(folder, "effusion")),
        ("no", tokens_of(folder, "no")),
        ("x" * 90, [*tokens_of(folder, "x" * 90)[:76], WORDS - 1]),
    ):
        row = embedder.embed([decode(EmbeddingInput(text=text))])[0]
        assert row @ text_vector(official_state(), tokens) > 1 - 1e-5


def test_pictures_are_resized_without_a_crop() -> None:
    wide = Image.new("RGB", (900, 300), (124, 116, 104))  # ImageNet's mean
    pixels = medimageinsight_pixels(wide)
    assert pixels.shape == (3, 480, 480)
    assert pixels.dtype == np.float32
    assert np.abs(pixels).max() < 0.01


def test_a_batch_of_one_equals_a_batch_of_many(folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    batch = [decode(source) for source in mixed_inputs]
    many, alone = load_embedder(folder).embed(batch), load_embedder(folder)
    assert np.abs(many - np.concatenate([alone.embed([decoded]) for decoded in batch])).max() < 1e-5


def test_texts_are_cut_at_77_tokens_and_that_is_told(folder: Path) -> None:
    embedder = load_embedder(folder)
    assert embedder.cuts(["x" * 75, "x" * 76]) == [False, True]
    assert embedder.token_counts([decode(EmbeddingInput(text="x" * length)) for length in (3, 76)]) == [5, 77]


def test_a_checkpoint_with_other_tensors_is_refused(folder: Path, tmp_path: Path) -> None:
    for number, (change, message) in enumerate(
        (
            (("image_encoder.blocks.2.1.channel_block.ffn.norm.bias", None), "lacks image.encoder.blocks.2.1"),
            (("lang_encoder.resblocks.1.attn.bias_k", torch.ones(4)), "holds lang_encoder.resblocks.1.attn.bias_k"),
            (("lang_projection", torch.ones(WIDTH, 3, 1)), "lang_projection|text.projection"),
        )
    ):
        name, tensor = change
        state = {key: value for key, value in official_state().items() if key != name}
        if tensor is not None:
            state[name] = tensor
        with pytest.raises(ConversionRefused, match=message):
            convert_tiny("medimageinsight", state, tmp_path / str(number), tokenizer=folder)


def test_a_folder_with_fewer_tensors_is_refused(folder: Path, tmp_path: Path) -> None:

    broken = shutil.copytree(folder, tmp_path / "broken")
    tensors = load_file(broken / "model.safetensors")
    del tensors["text.encoder.norm.bias"]
    save_file(tensors, broken / "model.safetensors")
    with pytest.raises(ModelInvalid, match=r"broken: .*encoder\.norm\.bias"):
        load_embedder(broken)
    tensors["text.encoder.norm.bias"] = torch.ones((0, 10**9))
    save_file(tensors, broken / "model.safetensors")
    with pytest.raises(ModelInvalid, match="holds no numbers"):
        load_embedder(broken)


def test_the_vector_of_an_image_depends_on_nothing_else(folder: Path, image_files: list[Path]) -> None:
    assert_images_stand_alone(load_embedder(folder), image_files)
