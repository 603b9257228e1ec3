"""Prompts byte for byte, against files written from what each system's authors document."""

from pathlib import Path

import pytest

from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.qwen3_vl import Qwen3VlFormat
from evaluation.embedders.qwen_vl import PromptFormat
from evaluation.embedders.rzen_embed import RzenEmbedFormat
from evaluation.embedders.vlm2vec import Vlm2VecFormat
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily

FOLDER = Path(__file__).parent / "prompts"
QWEN3 = Qwen3VlFormat(encode_config(EmbedderFamily.QWEN3_VL))
VLM2VEC = Vlm2VecFormat(encode_config(EmbedderFamily.QWEN2_VL))
VLM2VEC_RELEASE = Vlm2VecFormat(encode_config(EmbedderFamily.QWEN2_VL, "medheb-release"))
RZEN = RzenEmbedFormat(encode_config(EmbedderFamily.RZEN_EMBED))

ONE, TWO = (Path("one.png"),), (Path("one.png"), Path("two.png"))
FINDING, QUESTION = "a nodule in the left lung", "Is there an effusion?"
TO_REPORT = "Find the report that belongs to the image."

CASES: dict[str, tuple[PromptFormat, EmbeddingInput, list[int]]] = {
    "qwen3_vl_text": (QWEN3, EmbeddingInput(text=FINDING), []),
    "qwen3_vl_images_text_and_instruction": (
        QWEN3,
        EmbeddingInput(text=QUESTION, images=TWO, instruction=TO_REPORT.removesuffix(".")),
        [2, 1],
    ),
    "qwen3_vl_volume": (QWEN3, EmbeddingInput(images=TWO * 2, is_volume=True), [2, 2]),
    "vlm2vec_text_and_instruction": (
        VLM2VEC,
        EmbeddingInput(text=FINDING, instruction="Find the image that shows this:"),
        [],
    ),
    "vlm2vec_images_text_and_instruction": (
        VLM2VEC,
        EmbeddingInput(text=QUESTION, images=TWO, instruction=TO_REPORT),
        [2, 1],
    ),
    "vlm2vec_volume": (
        VLM2VEC,
        EmbeddingInput(images=TWO * 2, is_volume=True, instruction="Find its report."),
        [2, 2],
    ),
    "vlm2vec_medheb_release_images_text_and_instruction": (
        VLM2VEC_RELEASE,
        EmbeddingInput(text=QUESTION, images=TWO, instruction=TO_REPORT),
        [2, 1],
    ),
    "vlm2vec_medheb_release_volume": (
        VLM2VEC_RELEASE,
        EmbeddingInput(images=TWO * 2, is_volume=True, instruction="Find its report."),
        [2, 2],
    ),
    "rzen_embed_text_and_instruction": (
        RZEN,
        EmbeddingInput(text=FINDING, instruction="Find me a medical image that shows this: "),
        [],
    ),
    "rzen_embed_image_and_instruction": (
        RZEN,
        EmbeddingInput(images=ONE, instruction="Represent the given image."),
        [2],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_prompt_is_the_documented_one(name: str) -> None:
    prompt_format, source, tokens = CASES[name]
    prompt = prompt_format.prompt(source, tokens=tokens, text=source.text)
    assert prompt.encode() == (FOLDER / f"{name}.txt").read_bytes()


def test_every_file_belongs_to_a_case() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(CASES)
