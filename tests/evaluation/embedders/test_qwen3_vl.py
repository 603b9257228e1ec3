"""Qwen3-VL-Embedding against the generating model, with prompt and patches written out here."""

import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoTokenizer, Qwen3VLForConditionalGeneration

from evaluation.decoding import DecodedInput, decode
from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.qwen3_vl import (
    Qwen3VlEmbedder,
    last_token_states,
    pixel_limit,
    system_instruction,
)
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import InputUnsupported, ModelInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily

CONFIG = encode_config(EmbedderFamily.QWEN3_VL)
MAX_TEXT_TOKENS = 8_192
TOLERANCE = 2e-5


def patches(path: Path) -> tuple[torch.Tensor, list[int]]:
    """Rows of 3 x 2 x 16 x 16 numbers, in blocks of 2 x 2 patches; the image between 4,096 and 1,843,200 pixels."""
    image = Image.open(path).convert("RGB")
    width, height = (round(side / 32) * 32 for side in image.size)
    if width * height < 4096:
        scale = math.sqrt(4096 / (image.width * image.height))
        width, height = (math.ceil(side * scale / 32) * 32 for side in image.size)
    resized = np.asarray(image.resize((width, height), Image.Resampling.BICUBIC), dtype=np.float64) / 255 * 2 - 1
    rows = []
    for top in range(0, height, 32):
        for left in range(0, width, 32):
            for down, right in ((0, 0), (0, 16), (16, 0), (16, 16)):
                patch = resized[top + down : top + down + 16, left + right : left + right + 16].transpose(2, 0, 1)
                rows.append(np.stack([patch, patch], axis=1).ravel())
    return torch.tensor(np.array(rows), dtype=torch.float32), [1, height // 16, width // 16]


@torch.inference_mode()
def reference(folder: Path, source: EmbeddingInput) -> np.ndarray:
    model = Qwen3VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    pieces = [patches(path) for path in source.images]
    system = source.instruction or "Represent the user's input."
    prompt = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n"
    for _, (_, rows, columns) in pieces:
        prompt += "<|vision_start|>" + "<|image_pad|>" * (rows * columns // 4) + "<|vision_end|>"
    prompt += f"{source.text}<|im_end|>\n<|im_start|>assistant\n"
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    inputs: dict[str, torch.Tensor] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if pieces:
        inputs["pixel_values"] = torch.cat([rows for rows, _ in pieces])
        inputs["image_grid_thw"] = torch.tensor([grid for _, grid in pieces])
        inputs["mm_token_type_ids"] = (ids == tokenizer.convert_tokens_to_ids("<|image_pad|>")).int()
    state = model(**inputs, output_hidden_states=True).hidden_states[-1][0, -1].numpy()
    return state / np.linalg.norm(state)


def test_every_kind_of_input_equals_the_generating_models_last_state(
    qwen_folder: Path, mixed_inputs: list[EmbeddingInput]
) -> None:
    sources = [source for source in mixed_inputs if source.instruction in {"", "Answer the question."}]
    rows = embed_inputs(load_embedder(qwen_folder), sources, batch_size=len(sources))
    assert len(rows) == 5
    for row, source in zip(rows, sources, strict=True):
        assert np.abs(row - reference(qwen_folder, source)).max() < TOLERANCE


def test_neither_torchvision_nor_a_processor_is_needed(qwen_folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embed_inputs(load_embedder(qwen_folder), mixed_inputs, batch_size=2)
    assert "torchvision" not in sys.modules


def test_the_order_of_images_and_the_instruction_matter(qwen_folder: Path, image_files: list[Path]) -> None:
    embedder = load_embedder(qwen_folder)
    first, second = image_files[:2]
    rows = embed_inputs(
        embedder,
        [
            EmbeddingInput(images=(first, second)),
            EmbeddingInput(images=(second, first)),
            EmbeddingInput(images=(first, second), instruction="Find it."),
        ],
        batch_size=3,
    )
    assert (rows @ rows.T)[np.triu_indices(3, 1)].max() < 0.9999


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_on_either_side_gives_the_same_rows(
    qwen_folder: Path, tmp_path: Path, mixed_inputs: list[EmbeddingInput], side: str
) -> None:
    folder = shutil.copytree(qwen_folder, tmp_path / side)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "padding_side": side}))
    embedder = load_embedder(folder)
    many = embed_inputs(embedder, mixed_inputs, batch_size=len(mixed_inputs))
    one = embed_inputs(load_embedder(qwen_folder), mixed_inputs, batch_size=1)
    assert np.abs(many - one).max() < TOLERANCE


def test_the_last_unmasked_position_is_found_on_either_side() -> None:
    states = torch.arange(8.0).reshape(2, 4, 1)
    mask = torch.tensor([[1, 1, 0, 0], [0, 0, 1, 1]])
    assert last_token_states(states, mask).tolist() == [[1.0], [7.0]]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", "Represent the user's input."),
        ("  \n", "Represent the user's input."),
        (" Find it ", "Find it."),
        ("Find it.", "Find it."),
        ("Find it?", "Find it?"),
        ("请找到。", "请找到。"),
        ("Find 3", "Find 3."),
        ("Find $", "Find $."),
    ],
)
def test_instructions_end_in_punctuation(given: str, expected: str) -> None:
    assert system_instruction(given, default="Represent the user's input.") == expected


@pytest.mark.parametrize(
    ("count", "is_volume", "expected"),
    [
        (1, False, 1_843_200),
        (4, False, 1_843_200),
        (8, False, 983_040),
        (1, True, 786_432),
        (10, True, 786_432),
        (64, True, 122_880),
        (5_000, False, 4_096),
    ],
)
def test_images_share_a_pixel_budget(count: int, expected: int, *, is_volume: bool) -> None:
    assert pixel_limit(count, is_volume=is_volume, config=CONFIG) == expected


def test_large_images_and_slices_are_reduced(qwen_folder: Path) -> None:
    embedder = load_embedder(qwen_folder)
    assert isinstance(embedder, Qwen3VlEmbedder)
    big = Image.new("RGB", (2_000, 1_600))
    for is_volume, limit in ((False, 1_843_200), (True, 786_432)):
        inputs = embedder._image_inputs(DecodedInput(EmbeddingInput(images=(Path("x"),), is_volume=is_volume), (big,)))
        pixels = int(inputs["image_grid_thw"].prod()) * 256
        assert 0.9 * limit < pixels <= limit


def test_long_texts_are_cut_and_still_end_in_the_answers_opening(qwen_folder: Path) -> None:
    embedder = load_embedder(qwen_folder)
    assert isinstance(embedder, Qwen3VlEmbedder)
    word = "é"  # two bytes, so two tokens of the tiny tokenizer
    long = embedder._prompt(DecodedInput(EmbeddingInput(text=word * MAX_TEXT_TOKENS))).text
    assert long.count(word) == MAX_TEXT_TOKENS // 2
    assert long.endswith("<|im_end|>\n<|im_start|>assistant\n")


def test_marks_of_the_model_in_a_text_and_slivers_are_refused(qwen_folder: Path) -> None:
    embedder = load_embedder(qwen_folder)
    with pytest.raises(InputUnsupported, match=r"image_pad"):
        embedder.embed([decode(EmbeddingInput(text="look: <|image_pad|>"))])
    sliver = DecodedInput(EmbeddingInput(images=(Path("sliver.png"),)), (Image.new("RGB", (2_010, 10)),))
    with pytest.raises(InputUnsupported, match=r"sliver\.png"):
        embedder.embed([sliver])


def test_a_tokenizer_of_another_model_is_refused(qwen_folder: Path, clip_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(qwen_folder, tmp_path / "mixed")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(clip_folder / name, folder)
    with pytest.raises(ModelInvalid, match="image mark"):
        load_embedder(folder)
