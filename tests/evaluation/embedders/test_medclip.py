"""MedCLIP: small checkpoints in the official layout, with either image encoder, against the authors' description."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional
from transformers import BertTokenizer, SwinConfig, SwinModel

from evaluation.embedders.medclip import medclip_pixels
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import ConversionRefused
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.official_networks import (
    RESNET_WIDTHS,
    Random,
    State,
    convert_tiny,
    resnet_forward,
    resnet_state,
    write_word_pieces,
)
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone
from tests.evaluation.embedders.tiny_bert import BERT_WIDTH, bert, bert_state, tokens_of

DIMENSION, DEPTHS = 24, (1, 2, 1, 1)
WORDS = ("opacity", "no", "effusion")
VOCABULARY = 5 + 2 * (94 - 26) + len(WORDS)
MEAN, DEVIATION = 0.5862785803043838, 0.27950088968644304
# From the names of today's transformers to those of the time of the checkpoint.
OLD_NAMES = {
    "attention.q_proj": "attention.self.query",
    "attention.k_proj": "attention.self.key",
    "attention.v_proj": "attention.self.value",
    "attention.o_proj": "attention.output.dense",
    "attention.relative_position_bias.": "attention.self.",
    "mlp.fc1": "intermediate.dense",
    "mlp.fc2": "output.dense",
}


def swin() -> SwinModel:
    torch.manual_seed(6)
    config = SwinConfig(embed_dim=12, depths=[2, 1, 2, 1], num_heads=[1, 2, 3, 6], mlp_ratio=2, initializer_range=0.3)
    return SwinModel(config).eval()


def swin_state() -> State:
    state: State = {}
    for name, tensor in swin().state_dict().items():
        for new, old in OLD_NAMES.items():
            name = name.replace(new, old)  # noqa: PLW2901 - one name, renamed in steps
        state[name] = tensor.clone()
    tables = [name for name in state if name.endswith("relative_position_bias_table")]
    # older releases stored which place of the table each pair of places reads
    return state | {name.replace("bias_table", "index"): torch.zeros(49, 49, dtype=torch.long) for name in tables}


def official_state(encoder: str) -> State:
    random = Random(13)
    if encoder == "swin":
        state = {f"vision_model.model.{name}": tensor for name, tensor in swin_state().items()}
        state["vision_model.projection_head.weight"] = random.weight(DIMENSION, 96)
    else:
        resnet = resnet_state(Random(14), depths=DEPTHS, volume=False)
        state = {f"vision_model.model.{name}": tensor for name, tensor in resnet.items()}
        state["vision_model.model.fc.weight"] = random.weight(DIMENSION, 4 * RESNET_WIDTHS[-1])
    state |= bert_state(bert(VOCABULARY), "text_model.model.", pooler=True)
    state["text_model.projection_head.weight"] = random.weight(DIMENSION, BERT_WIDTH)
    return state | {"logit_scale": torch.tensor(2.6)}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_word_pieces(tmp_path_factory.mktemp("medclip") / "tokenizer", WORDS)


@pytest.fixture(scope="module", params=["swin", "resnet"])
def encoder(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: Path, encoder: str) -> Path:
    base = tmp_path_factory.mktemp("medclip")
    return convert_tiny("medclip", official_state(encoder), base / "official", tokenizer=tokenizer)


def unit(row: torch.Tensor) -> np.ndarray[Any, Any]:
    return functional.normalize(row.double(), dim=0).numpy()


def expected_pixels(path: Path) -> np.ndarray[Any, Any]:
    """Black around the grey picture to a square of at least 224, then 224 x 224."""
    grey = np.asarray(Image.open(path).convert("L"))
    height, width = grey.shape
    side = max(224, height, width)
    square = np.zeros((side, side), dtype=np.uint8)
    top, left = int((side - height) / 2), int((side - width) / 2)
    square[top : top + height, left : left + width] = grey
    resized = Image.fromarray(square).resize((224, 224), Image.Resampling.BICUBIC)
    return (np.asarray(resized) / 255 - MEAN) / DEVIATION


@torch.inference_mode()
def test_images_are_grey_squares_through_the_encoder(folder: Path, encoder: str, image_files: list[Path]) -> None:
    state = official_state(encoder)
    embedder = load_embedder(folder)
    for path in image_files:
        pixels = torch.tensor(expected_pixels(path), dtype=torch.float32)[None, None].repeat(1, 3, 1, 1)
        if encoder == "swin":
            pooled = swin()(pixels).last_hidden_state.mean(dim=1)[0]
            expected = state["vision_model.projection_head.weight"] @ pooled
        else:
            network = {name.removeprefix("vision_model.model."): tensor for name, tensor in state.items()}
            expected = network["fc.weight"] @ resnet_forward(network, pixels, depths=DEPTHS).mean(dim=(2, 3))[0]
        row = embed_inputs(embedder, [EmbeddingInput(images=(path,))], batch_size=1)[0]
        assert row @ unit(expected) > 1 - 1e-5


@pytest.mark.parametrize("size", [(64, 200), (300, 251), (224, 224), (225, 10)])
def test_pictures_are_squared(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "picture.png"
    values = np.random.default_rng(5).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(values).save(path)
    found = medclip_pixels(Image.open(path).convert("RGB"))
    assert np.abs(found - expected_pixels(path)).max() < 1e-5


@pytest.mark.parametrize("text", ["no opacity", "effusion " * 100])
@torch.inference_mode()
def test_texts_are_the_mean_of_layers_one_two_and_the_last_over_their_tokens(
    folder: Path, encoder: str, tokenizer: Path, text: str
) -> None:
    tokens = tokens_of(BertTokenizer.from_pretrained(tokenizer), text, 77)
    states = bert(VOCABULARY)(input_ids=torch.tensor([tokens]), output_hidden_states=True).hidden_states
    mean = torch.stack([states[1][0], states[2][0], states[-1][0]]).mean(dim=(0, 1))
    expected = official_state(encoder)["text_model.projection_head.weight"] @ mean
    embedder = load_embedder(folder)
    assert embed_inputs(embedder, [EmbeddingInput(text=text)], batch_size=1)[0] @ unit(expected) > 1 - 1e-5
    assert embedder._towers.token_counts([text]) == [len(tokens)]
    assert embedder.cuts([text]) == [len(tokens) == 77]


@torch.inference_mode()
def test_padding_has_no_part_in_a_texts_vector(folder: Path, encoder: str, tokenizer: Path) -> None:
    """In the authors' code it has: the vector of a short text would move with the longest text of its batch."""
    short, long = EmbeddingInput(text="no opacity"), EmbeddingInput(text="no effusion " * 20)
    embedder = load_embedder(folder)
    alone = embed_inputs(embedder, [short], batch_size=1)[0]
    assert np.abs(embed_inputs(embedder, [short, long], batch_size=2)[0] - alone).max() < 1e-6
    texts = BertTokenizer.from_pretrained(tokenizer)([short.text, long.text], padding=True, return_tensors="pt")
    states = bert(VOCABULARY)(**texts, output_hidden_states=True).hidden_states
    padded = torch.stack([states[1][0], states[2][0], states[-1][0]]).mean(dim=(0, 1))
    assert alone @ unit(official_state(encoder)["text_model.projection_head.weight"] @ padded) < 1 - 1e-4


def test_a_batch_of_one_equals_a_batch_of_many(folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(folder)
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < 2e-6
    assert len({row.tobytes() for row in many}) == len(mixed_inputs)


def test_it_says_which_encoder_it_has(folder: Path, encoder: str) -> None:
    description = load_embedder(folder).description
    assert (description.family, description.dimension) == (EmbedderFamily.MEDCLIP, DIMENSION)
    assert encoder in description.architecture.lower()


@pytest.mark.parametrize("kind", ["swin", "resnet"])
@pytest.mark.parametrize("missing", ["vision", "text", "projection"])
def test_incomplete_checkpoints_are_not_converted(tokenizer: Path, tmp_path: Path, kind: str, missing: str) -> None:
    state = official_state(kind)
    names = {
        "vision": "encoder.layers.2.blocks.1.attention.self.key.bias" if kind == "swin" else "layer2.1.bn2.running_var",
        "text": "text_model.model.encoder.layer.1.output.dense.bias",
        "projection": "text_model.projection_head.weight",
    }
    name = names[missing] if missing != "vision" else f"vision_model.model.{names[missing]}"
    del state[name]
    with pytest.raises(ConversionRefused):
        convert_tiny("medclip", state, tmp_path / "official", tokenizer=tokenizer)


def test_only_the_vocabulary_is_taken_so_letters_are_made_small(folder: Path) -> None:
    """The repository of the vocabulary says nothing of capitals, and the tokenizer makes letters small by itself."""
    embedder = load_embedder(folder)
    first, second = embed_inputs(
        embedder, [EmbeddingInput(text="No Opacity"), EmbeddingInput(text="no opacity")], batch_size=1
    )
    assert np.array_equal(first, second)


def test_what_a_gpu_computes_in_is_close_to_float32(
    folder: Path, mixed_inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = embed_inputs(load_embedder(folder), mixed_inputs, batch_size=3)
    monkeypatch.setattr("evaluation.embedders.medclip.compute_dtype", lambda _device, _config: torch.bfloat16)
    embedder = load_embedder(folder)
    assert embedder.description.encode_config["dtype"] == "bfloat16"
    rows = embed_inputs(embedder, mixed_inputs, batch_size=3)
    assert np.einsum("ij,ij->i", exact, rows).min() > 0.99
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6


def test_the_vector_of_an_image_depends_on_nothing_else(folder: Path, image_files: list[Path]) -> None:
    assert_images_stand_alone(load_embedder(folder), image_files)
