"""RzenEmbed against Qwen2-VL's parts called by hand: embedded tokens with images put in their places."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoTokenizer, Qwen2VLForConditionalGeneration

from evaluation.decoding import DecodedInput, decode
from evaluation.embedders.qwen_vl import QwenVlEmbedder
from evaluation.embedders.registry import detect_family, family_of_config, load_embedder
from evaluation.embedders.rzen_embed import rounded_size
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.layouts import write_adapter, write_qwen2_vl
from tests.evaluation.embedders.qwen_by_hand import Cutter, opened, unit

TOLERANCE = 2e-5
CUTTER = Cutter(14, (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "RzenEmbed"
    write_qwen2_vl(path, 9, name="qihoo360/RzenEmbed", tied=False)
    return path


def rounded(image: Image.Image) -> Image.Image:
    """Sides of 28, 56, 84 ... pixels, the nearest; the tests' images lie within the wide limits of this first step."""
    return image.resize(tuple(max(28, round(side / 28) * 28) for side in image.size), Image.Resampling.BICUBIC)


@torch.inference_mode()
def reference(folder: Path, source: EmbeddingInput) -> np.ndarray:
    model = Qwen2VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    fewest, most = (256, 1_280) if len(source.images) == 1 and not source.is_volume else (160, 180)
    cut = [CUTTER.cut([rounded(image)], fewest=fewest * 784, most=most * 784) for image in opened(source.images)]
    marks = "".join(
        "<|vision_start|>" + "<|image_pad|>" * (rows * columns // 4) + "<|vision_end|>" for _, (_, rows, columns) in cut
    )
    ids = torch.tensor(
        [
            tokenizer(
                "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
                f"{marks}{source.instruction}{source.text}<|im_end|>\n<|im_start|>assistant\n<|endoftext|>"
            )["input_ids"]
        ]
    )
    embedded = model.get_input_embeddings()(ids)
    if cut:
        seen = model.model.visual(
            torch.cat([rows for rows, _ in cut]), grid_thw=torch.tensor([grid for _, grid in cut])
        ).pooler_output
        embedded[ids == tokenizer.convert_tokens_to_ids("<|image_pad|>")] = seen
    # without positions the language model numbers what it is given one after the other
    return unit(model.model.language_model(inputs_embeds=embedded).last_hidden_state[0, -1])


def test_every_kind_of_input_equals_the_parts_called_by_hand(folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(folder)
    assert embedder.description.family is EmbedderFamily.RZEN_EMBED
    rows = embed_inputs(embedder, mixed_inputs, batch_size=len(mixed_inputs))
    for row, source in zip(rows, mixed_inputs, strict=True):
        expected = reference(folder, source)
        assert row @ expected >= 1 - 1e-5
        assert np.abs(row - expected).max() < TOLERANCE


def test_a_batch_of_one_equals_a_batch_of_many(folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(folder)
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < TOLERANCE


def test_other_positions_or_another_end_would_be_another_vector(
    folder: Path, tmp_path: Path, image_files: list[Path]
) -> None:
    plain = tmp_path / "unnamed"
    write_qwen2_vl(plain, 9, tied=False)
    source = EmbeddingInput(images=(image_files[1],), text="a nodule")
    rows = [embed_inputs(load_embedder(path), [source], batch_size=1)[0] for path in (folder, plain)]
    assert rows[0] @ rows[1] < 0.999


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qihoo360/RzenEmbed", EmbedderFamily.RZEN_EMBED),
        ("RzenAI/RzenEmbed-v2-7B", EmbedderFamily.RZEN_EMBED),
        ("/models/rzenembed", EmbedderFamily.RZEN_EMBED),
        ("Qwen/Qwen2-VL-7B-Instruct", EmbedderFamily.QWEN2_VL),
        (None, EmbedderFamily.QWEN2_VL),
        (["rzenembed"], EmbedderFamily.QWEN2_VL),
    ],
)
def test_it_is_known_by_the_name_in_its_config(name: object, expected: EmbedderFamily) -> None:
    assert family_of_config({"model_type": "qwen2_vl", "_name_or_path": name}, [], None) is expected


def test_a_folder_under_any_name_is_known(folder: Path) -> None:
    assert detect_family(folder) is EmbedderFamily.RZEN_EMBED


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [
        (64, 64, (56, 56)),  # 64 / 28 = 2.29
        (90, 130, (84, 140)),  # 3.2 and 4.6
        (10, 10, (56, 56)),  # one side of 28 each is too little, so twice 28
        (5_000, 4_000, (4_004, 3_192)),  # over 12,845,056 pixels
        (4_000, 3_000, (4_004, 2_996)),  # 11,995,984 pixels, under the limit
    ],
)
def test_images_are_first_brought_to_multiples_of_28(height: int, width: int, expected: tuple[int, int]) -> None:
    rows, columns = rounded_size(height, width)
    assert (rows, columns) == expected
    assert 3_136 <= rows * columns <= 12_845_056
    if height * width > 12_845_056:
        shrink = math.sqrt(height * width / 12_845_056)
        assert (rows, columns) == tuple(int(side / shrink // 28) * 28 for side in (height, width))


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        (EmbeddingInput(images=(Path("x"),)), (256, 1_280)),
        (EmbeddingInput(images=(Path("x"), Path("y"))), (160, 180)),
        (EmbeddingInput(images=(Path("x"),), is_volume=True), (160, 180)),
    ],
)
@pytest.mark.parametrize("size", [(40, 60), (3_000, 2_000)])
def test_visual_tokens_stay_within_the_limits(
    folder: Path, source: EmbeddingInput, tokens: tuple[int, int], size: tuple[int, int]
) -> None:
    embedder = load_embedder(folder)
    assert isinstance(embedder, QwenVlEmbedder)
    counts = embedder._picture_tokens(DecodedInput(source, tuple(Image.new("RGB", size) for _ in source.images)))
    assert len(counts) == len(source.images)
    assert all(tokens[0] <= count <= tokens[1] for count in counts)


def test_long_texts_are_cut_and_the_end_stays(folder: Path) -> None:
    embedder = load_embedder(folder)
    assert isinstance(embedder, QwenVlEmbedder)
    prompt = embedder._prompt(DecodedInput(EmbeddingInput(text="x" * 5_000, instruction="Find it: ")), [])
    assert f"Find it: {'x' * 2_000}<|im_end|>" in prompt
    assert prompt.endswith("x<|im_end|>\n<|im_start|>assistant\n<|endoftext|>")


def test_counts_are_those_that_the_model_is_given(folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(folder)
    batch = [decode(source) for source in mixed_inputs]
    given: list[torch.Tensor] = []
    embedder._model.register_forward_pre_hook(
        lambda _model, _arguments, named: given.append(named["attention_mask"]), with_kwargs=True
    )
    embedder.embed(batch)
    assert embedder.token_counts(batch) == given[0].sum(dim=1).tolist()


def test_it_takes_an_adapter(folder: Path, tmp_path: Path) -> None:
    write_adapter(tmp_path / "adapter", folder, 1, dora=False)
    batch = [decode(EmbeddingInput(text="a nodule"))]
    plain, adapted = load_embedder(folder), load_embedder(folder, adapter_folder=tmp_path / "adapter")
    assert adapted.description.encode_config["adapter"] is True
    assert float((plain.embed(batch) @ adapted.embed(batch).T)[0, 0]) < 0.999


def test_a_text_of_2001_tokens_is_said_to_be_cut(folder: Path) -> None:
    assert load_embedder(folder).cuts(["x" * 2_000, "x" * 2_001]) == [False, True]
