"""Qwen3-VL-Embedding against the generating model, with prompt and patches written out here."""

import json
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
from evaluation.embedders.qwen3_vl import Qwen3VlFormat, system_instruction
from evaluation.embedders.qwen_vl import QwenVlEmbedder, last_token_states
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import InputUnsupported, ModelInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.qwen_by_hand import Cutter, frame_pairs, opened, unit

DEFAULT = encode_config(EmbedderFamily.QWEN3_VL)
SLICES_AS_IMAGES = encode_config(EmbedderFamily.QWEN3_VL, "slices-as-images")
MAX_TEXT_TOKENS = 8_192
TOLERANCE = 2e-5
CUTTER = Cutter(patch=16, mean=(0.5, 0.5, 0.5), spread=(0.5, 0.5, 0.5))


def pictures(source: EmbeddingInput) -> tuple[str, dict[str, torch.Tensor]]:
    """Marks and pixels: images one by one, a volume as steps of two frames a half second apart."""
    if not source.images:
        return "", {}
    if source.is_volume:
        cut = [CUTTER.cut(pair, fewest=131_072, most=786_432) for pair in frame_pairs(source.images)]
        times = ["<0.2 seconds>", "<1.2 seconds>", "<2.2 seconds>"][: len(cut)]
        mark = "<|video_pad|>"
    else:
        cut = [CUTTER.cut([image], fewest=4_096, most=1_843_200) for image in opened(source.images)]
        times = [""] * len(cut)
        mark = "<|image_pad|>"
    text = "".join(
        f"{time}<|vision_start|>{mark * (rows * columns // 4)}<|vision_end|>"
        for time, (_, (_, rows, columns)) in zip(times, cut, strict=True)
    )
    patches, grids = torch.cat([rows for rows, _ in cut]), torch.tensor([grid for _, grid in cut])
    if source.is_volume:
        grids = torch.tensor([[len(cut), *grids[0, 1:].tolist()]])
        return text, {"pixel_values_videos": patches, "video_grid_thw": grids}
    return text, {"pixel_values": patches, "image_grid_thw": grids}


@torch.inference_mode()
def reference(folder: Path, source: EmbeddingInput) -> np.ndarray:
    model = Qwen3VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    marks, pixels = pictures(source)
    system = source.instruction or "Represent the user's input."
    prompt = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{marks}{source.text}<|im_end|>\n"
    ids = torch.tensor([tokenizer(prompt + "<|im_start|>assistant\n")["input_ids"]])
    types = torch.zeros_like(ids, dtype=torch.int32)
    types[ids == tokenizer.convert_tokens_to_ids("<|image_pad|>")] = 1
    types[ids == tokenizer.convert_tokens_to_ids("<|video_pad|>")] = 2
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), **pixels}
    if pixels:
        inputs["mm_token_type_ids"] = types
    return unit(model(**inputs, output_hidden_states=True).hidden_states[-1][0, -1])


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
    ("config", "count", "is_volume", "expected"),
    [
        (DEFAULT, 1, False, (4_096, 1_843_200)),
        (DEFAULT, 4, False, (4_096, 1_843_200)),
        (DEFAULT, 8, False, (4_096, 983_040)),
        (DEFAULT, 5_000, False, (4_096, 4_096)),
        (DEFAULT, 2, True, (131_072, 786_432)),
        (DEFAULT, 20, True, (131_072, 786_432)),
        (DEFAULT, 64, True, (131_072, 245_760)),
        (SLICES_AS_IMAGES, 1, True, (4_096, 786_432)),
        (SLICES_AS_IMAGES, 10, True, (4_096, 786_432)),
        (SLICES_AS_IMAGES, 64, True, (4_096, 122_880)),
    ],
)
def test_images_share_a_pixel_budget(config: object, count: int, expected: tuple[int, int], *, is_volume: bool) -> None:
    assert Qwen3VlFormat(config).pixels(count, is_volume=is_volume) == expected


def test_large_images_and_slices_are_reduced(qwen_folder: Path) -> None:
    big = Image.new("RGB", (2_000, 1_600))
    for is_volume, name, limit in ((False, "", 1_843_200), (True, "", 786_432), (True, "slices-as-images", 786_432)):
        embedder = load_embedder(qwen_folder, encode_config=name)
        assert isinstance(embedder, QwenVlEmbedder)
        pictures = embedder._pictures(DecodedInput(EmbeddingInput(images=(Path("x"),), is_volume=is_volume), (big,)))
        assert pictures is not None
        assert pictures.is_video == (is_volume and not name)
        assert 0.9 * limit < int(pictures.grids[0].prod()) * 256 <= limit


@pytest.mark.parametrize("count", [1, 3, 5])
def test_the_last_of_an_odd_number_of_slices_is_shown_twice(
    qwen_folder: Path, image_files: list[Path], count: int
) -> None:
    source = EmbeddingInput(images=tuple((image_files * 2)[:count]), is_volume=True, text="a nodule")
    row = embed_inputs(load_embedder(qwen_folder), [source], batch_size=1)[0]
    assert np.abs(row - reference(qwen_folder, source)).max() < TOLERANCE


def test_slices_as_images_are_what_images_are(qwen_folder: Path, image_files: list[Path]) -> None:
    volume = EmbeddingInput(images=tuple(image_files), is_volume=True)
    images = EmbeddingInput(images=tuple(image_files))
    as_images = embed_inputs(
        load_embedder(qwen_folder, encode_config="slices-as-images"), [volume, images], batch_size=1
    )
    as_video = embed_inputs(load_embedder(qwen_folder), [volume, images], batch_size=1)
    assert np.abs(as_images[0] - as_images[1]).max() < TOLERANCE
    assert np.abs(as_images[1] - as_video[1]).max() < TOLERANCE
    assert as_video[0] @ as_video[1] < 0.9999


def test_long_texts_are_cut_and_still_end_in_the_answers_opening(qwen_folder: Path) -> None:
    embedder = load_embedder(qwen_folder)
    assert isinstance(embedder, QwenVlEmbedder)
    word = "é"  # two bytes, so two tokens of the tiny tokenizer
    long = embedder._prompt(DecodedInput(EmbeddingInput(text=word * MAX_TEXT_TOKENS)), [])
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
    with pytest.raises(ModelInvalid, match="marks"):
        load_embedder(folder)
