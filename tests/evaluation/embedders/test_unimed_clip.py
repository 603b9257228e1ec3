"""UniMed-CLIP: a small checkpoint as its trainer writes it, against the forward pass written out from the papers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional
from transformers import BertTokenizer

from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import ConversionRefused, ModelInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.official_networks import Random, State, convert_tiny, write_word_pieces
from tests.evaluation.embedders.open_clip_layouts import (
    CLIP_DEVIATION,
    CLIP_MEAN,
    clip_image_forward,
    clip_image_state,
)
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone
from tests.evaluation.embedders.tiny_bert import BERT_WIDTH, bert, bert_state, tokens_of

PIXELS, DIMENSION, HIDDEN = 96, 24, 40
WORDS = ("opacity", "no", "effusion")
VOCABULARY = 5 + 2 * (94 - 26) + len(WORDS)


def official_state() -> State:
    random = Random(5)
    return {
        **clip_image_state(random, pixels=PIXELS, patch=16, dimension=DIMENSION),
        **bert_state(bert(VOCABULARY), "text_encoder.transformer."),
        "text_encoder.proj.0.weight": random.weight(HIDDEN, BERT_WIDTH),
        "text_encoder.proj.2.weight": random.weight(DIMENSION, HIDDEN),
        "logit_scale": torch.tensor(4.6),
    }


def as_trained(state: State) -> dict[str, Any]:
    wrapped = {f"module.{name}": tensor for name, tensor in state.items()}
    return {"epoch": 10, "name": "unimed", "state_dict": wrapped, "optimizer": {"state": {}, "param_groups": []}}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_word_pieces(tmp_path_factory.mktemp("unimed") / "tokenizer", WORDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: Path) -> Path:
    base = tmp_path_factory.mktemp("unimed")
    return convert_tiny("unimed-clip", as_trained(official_state()), base / "official", tokenizer=tokenizer)


def unit(row: torch.Tensor) -> np.ndarray[Any, Any]:
    return functional.normalize(row.double(), dim=0).numpy()


@torch.inference_mode()
def test_images_go_through_clips_transformer_with_its_own_activation(folder: Path, image_files: list[Path]) -> None:
    path = image_files[0]  # a square, so that nothing is cut
    image = Image.open(path).convert("RGB").resize((PIXELS, PIXELS), Image.Resampling.BICUBIC)
    values = (np.asarray(image) / 255 - CLIP_MEAN) / CLIP_DEVIATION
    pixels = torch.tensor(values.transpose(2, 0, 1), dtype=torch.float32)
    row = embed_inputs(load_embedder(folder), [EmbeddingInput(images=(path,))], batch_size=1)[0]
    assert row @ unit(clip_image_forward(official_state(), pixels, quick=True)) > 1 - 1e-5
    assert row @ unit(clip_image_forward(official_state(), pixels, quick=False)) < 1 - 1e-5


@pytest.mark.parametrize("text", ["no opacity", "effusion " * 300, "p &lt; 1\n no"])
@torch.inference_mode()
def test_texts_are_read_by_bert_up_to_256_tokens(folder: Path, tokenizer: Path, text: str) -> None:
    state = official_state()
    tokens = tokens_of(BertTokenizer.from_pretrained(tokenizer), text.replace("&lt;", "<"), 256)
    first = bert(VOCABULARY)(input_ids=torch.tensor([tokens])).last_hidden_state[0, 0]
    expected = state["text_encoder.proj.2.weight"] @ functional.gelu(state["text_encoder.proj.0.weight"] @ first)
    embedder = load_embedder(folder)
    assert embed_inputs(embedder, [EmbeddingInput(text=text)], batch_size=1)[0] @ unit(expected) > 1 - 1e-5
    assert embedder.cuts([text]) == [len(text) > 1_000]


def test_a_batch_of_one_equals_a_batch_of_many(folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(folder)
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < 1e-6


def test_weights_alone_convert_to_the_same_folder(folder: Path, tokenizer: Path, tmp_path: Path) -> None:
    other = convert_tiny("unimed-clip", official_state(), tmp_path / "official", tokenizer=tokenizer)
    assert (other / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    description = load_embedder(folder).description
    assert (description.family, description.dimension) == (EmbedderFamily.UNIMED_CLIP, DIMENSION)
    assert (description.encode_config["image_pixels"], description.encode_config["max_text_tokens"]) == (PIXELS, 256)


@pytest.mark.parametrize("name", ["visual.proj", "text_encoder.proj.2.weight", "visual.conv1.weight"])
def test_incomplete_checkpoints_are_not_converted(tokenizer: Path, tmp_path: Path, name: str) -> None:
    state = official_state()
    del state[name]
    with pytest.raises(ConversionRefused):
        convert_tiny("unimed-clip", as_trained(state), tmp_path / "official", tokenizer=tokenizer)


def test_a_folder_whose_config_was_lost_is_refused(folder: Path, tmp_path: Path) -> None:
    import shutil

    damaged = shutil.copytree(folder, tmp_path / "damaged")
    (damaged / "open_clip_config.json").unlink()
    with pytest.raises(ModelInvalid, match="open_clip_config"):
        load_embedder(damaged)


def test_what_a_gpu_computes_in_is_close_to_float32(
    folder: Path, mixed_inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = embed_inputs(load_embedder(folder), mixed_inputs, batch_size=3)
    monkeypatch.setattr("evaluation.embedders.open_clip.compute_dtype", lambda _device, _config: torch.bfloat16)
    embedder = load_embedder(folder)
    assert embedder.description.encode_config["dtype"] == "bfloat16"
    rows = embed_inputs(embedder, mixed_inputs, batch_size=3)
    assert np.einsum("ij,ij->i", exact, rows).min() > 0.99
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6


def test_the_vector_of_an_image_depends_on_nothing_else(folder: Path, image_files: list[Path]) -> None:
    assert_images_stand_alone(load_embedder(folder), image_files)
