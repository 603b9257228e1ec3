"""What an embedder says that an input costs, against what its model is given."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tokenizers import Tokenizer

from evaluation.decoding import DecodedInput, decode
from evaluation.embedders.chance import ChanceEmbedder
from evaluation.embedders.dual_encoder import DualEncoder
from evaluation.embedders.lite_towers import load_pretrained_towers
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.registry import load_embedder
from evaluation.errors import InputUnsupported
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix, ModelDescription

TEXTS = ["a nodule", "no", "the heart is not enlarged " * 80]


def decoded(texts: Sequence[str]) -> list[DecodedInput]:
    return [DecodedInput(EmbeddingInput(text=text, instruction="Find a longer text than that.")) for text in texts]


def minilm_lengths(texts: Sequence[str]) -> list[int]:
    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return [min(256, len(tokenizer.encode(text).ids)) for text in texts]


def test_minilm_counts_word_pieces_up_to_its_limit() -> None:
    assert load_embedder(minilm_folder()).token_counts(decoded(TEXTS)) == minilm_lengths(TEXTS)
    assert minilm_lengths(TEXTS)[-1] == 256


def test_lite_dual_counts_texts_of_any_number() -> None:
    texts = TEXTS * 50
    assert load_pretrained_towers().token_counts(texts) == minilm_lengths(texts)


def test_clip_counts_bytes_and_marks_up_to_its_positions(clip_folder: Path) -> None:
    # the tiny tokenizer has one token a byte and a mark at each end
    assert load_embedder(clip_folder).token_counts(decoded(TEXTS)) == [10, 4, 77]


def test_siglip_counts_its_full_length_for_every_text(siglip_folder: Path) -> None:
    assert load_embedder(siglip_folder).token_counts(decoded(TEXTS)) == [64, 64, 64]


def test_towers_count_no_tokens_for_images(clip_folder: Path, image_files: list[Path]) -> None:
    source = EmbeddingInput(images=tuple(image_files), instruction="Find it.")
    assert load_embedder(clip_folder).token_counts([decode(source)]) == [0]


def test_qwen_counts_what_its_model_is_given(qwen_folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(qwen_folder)
    batch = [decode(source) for source in mixed_inputs]
    given: list[torch.Tensor] = []
    embedder._model.register_forward_pre_hook(
        lambda _model, _arguments, named: given.append(named["attention_mask"]), with_kwargs=True
    )
    embedder.embed(batch)
    (mask,) = given
    assert embedder.token_counts(batch) == mask.sum(dim=1).tolist()
    assert embedder.token_counts(batch)[3] > embedder.token_counts(batch)[0]


def test_an_image_that_is_too_long_is_refused_while_counting(qwen_folder: Path) -> None:
    long = DecodedInput(EmbeddingInput(images=(Path("long.png"),)), (Image.new("RGB", (4020, 20)),))
    with pytest.raises(InputUnsupported, match=r"long\.png"):
        load_embedder(qwen_folder).token_counts([long])


def test_chance_pads_nothing() -> None:
    assert ChanceEmbedder(dimension=4, seed=1).token_counts(decoded(TEXTS)) == [0, 0, 0]


def test_short_instructions_are_not_padded_to_the_length_of_texts() -> None:
    class Noting:
        description = ModelDescription(family="clip", architecture="Noting", dimension=1, parameters=0, kinds=("text",))
        calls: list[list[str]] = []

        def text_features(self, texts: Sequence[str]) -> FloatMatrix:
            self.calls.append(list(texts))
            return np.array([[len(text)] for text in texts], dtype=np.float32)

        def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
            raise NotImplementedError

        def token_counts(self, texts: Sequence[str]) -> list[int]:
            return [len(text) for text in texts]

    towers = Noting()
    sources = [EmbeddingInput(text="x" * 10, instruction="ab"), EmbeddingInput(text="y" * 20, instruction="ab")]
    rows = DualEncoder(towers).embed([DecodedInput(source) for source in sources])
    assert towers.calls == [["x" * 10, "y" * 20], ["ab"]]
    assert rows.tolist() == [[6], [11]]
