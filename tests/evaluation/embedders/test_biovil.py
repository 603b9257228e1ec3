"""BioViL and BioViL-T: a small checkpoint in the official layout against the forward pass written out from the papers."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional
from transformers import BertConfig, BertModel

from evaluation.decoding import decode
from evaluation.embedders.biovil import biovil_pixels, biovil_text
from evaluation.embedders.registry import load_embedder
from evaluation.errors import ConversionRefused, InputUnsupported, ModelInvalid
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.official_networks import (
    Random,
    State,
    convert_tiny,
    resnet_forward,
    resnet_state,
    write_word_pieces,
)
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone

DEPTHS = (2, 1, 1, 2)
FEATURES, REDUCED, DIMENSION, WIDTH = 40, 6, 12, 128
WORDS = ("opacity", "no", "pleural", "effusion", "heart")
VOCABULARY = 5 + 2 * (94 - 26) + len(WORDS)
CROPS = {"biovil": 480, "biovil-t": 448}


def image_state(system: str) -> State:
    random = Random(3)
    state = {f"encoder.encoder.{k}": v for k, v in resnet_state(random, depths=DEPTHS, volume=False).items()}
    state |= random.linear("encoder.encoder.fc", 1000, FEATURES)
    patch = FEATURES
    if system == "biovil-t":
        patch = 2 * REDUCED
        state["encoder.backbone_to_vit.weight"] = random.weight(REDUCED, FEATURES, 1, 1)
        state["encoder.missing_previous_emb"] = random.vector(1, REDUCED, 1, 1)
        state["encoder.vit_pooler.type_embed"] = random.vector(2, 1, REDUCED)
        state |= random.linear("encoder.vit_pooler.blocks.0.attn.proj", REDUCED, REDUCED)
    state["projector.model.0.weight"] = random.weight(DIMENSION, patch, 1, 1)
    state |= random.batch_norm("projector.model.1", DIMENSION)
    state["projector.model.3.weight"] = random.weight(DIMENSION, DIMENSION, 1, 1)
    state["projector.model.3.bias"] = random.vector(DIMENSION)
    return state


def text_model() -> BertModel:
    torch.manual_seed(4)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=512,
        initializer_range=0.3,
    )
    return BertModel(config).eval()


def text_state() -> State:
    random = Random(5)
    state = {f"bert.{name}": tensor for name, tensor in text_model().state_dict().items()}
    state["bert.embeddings.position_ids"] = torch.arange(512)[None]
    state |= random.linear("cls.predictions.decoder", VOCABULARY, WIDTH)
    state |= random.linear("cls_projection_head.dense_to_hidden", DIMENSION, WIDTH)
    state |= random.norm("cls_projection_head.LayerNorm", DIMENSION)
    state |= random.linear("cls_projection_head.dense_to_output", DIMENSION, DIMENSION)
    return state


@pytest.fixture(scope="module", params=["biovil", "biovil-t"])
def system(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, system: str) -> Path:
    base = tmp_path_factory.mktemp(system)
    tokenizer = write_word_pieces(base / "tokenizer", WORDS)
    # the official tokenizers name a class of their own, which nothing may run: only the vocabulary is taken
    (tokenizer / "tokenizer_config.json").write_text(json.dumps({"auto_map": {"AutoTokenizer": ["code.Own", None]}}))
    return convert_tiny(system, image_state(system), base / "official", tokenizer=tokenizer, second=text_state())


def radiograph(path: Path, *, mode: str = "RGB", low: int = 30, high: int = 180) -> Path:
    """A picture that does not use all grey levels, 700 x 620."""
    coarse = np.random.default_rng(9).integers(low, high, (8, 9), dtype=np.uint8)
    Image.fromarray(coarse).resize((700, 620), Image.Resampling.BICUBIC).convert(mode).save(path)
    return path


def expected_pixels(path: Path, crop: int) -> torch.Tensor:
    """Stretch to 0..255 cut to whole numbers, shorter side to 512, middle square, 0..1, three channels."""
    grey = np.asarray(Image.open(path).convert("L")).astype(float)
    grey -= grey.min()
    stretched = Image.fromarray(np.floor(grey / grey.max() * 255).astype(np.uint8))
    resized = np.asarray(stretched.resize((math.floor(512 * 700 / 620), 512), Image.Resampling.BILINEAR))
    left, top = round((resized.shape[1] - crop) / 2), round((resized.shape[0] - crop) / 2)
    middle = resized[top : top + crop, left : left + crop] / 255
    return torch.tensor(middle, dtype=torch.float32)[None, None].repeat(1, 3, 1, 1)


@torch.inference_mode()
def image_vector(system: str, path: Path) -> np.ndarray:
    state = image_state(system)
    backbone = {name.removeprefix("encoder.encoder."): tensor for name, tensor in state.items()}
    patches = resnet_forward(backbone, expected_pixels(path, CROPS[system]), depths=DEPTHS)
    if system == "biovil-t":
        present = functional.conv2d(patches, state["encoder.backbone_to_vit.weight"])
        absent = state["encoder.missing_previous_emb"].repeat(1, 1, *present.shape[2:])
        patches = torch.cat([present, absent], dim=1)
    hidden = functional.conv2d(patches, state["projector.model.0.weight"])
    kinds = ("running_mean", "running_var", "weight", "bias")
    hidden = functional.batch_norm(hidden, *(state[f"projector.model.1.{kind}"] for kind in kinds)).relu()
    projected = functional.conv2d(hidden, state["projector.model.3.weight"], state["projector.model.3.bias"])
    return functional.normalize(projected.mean(dim=(2, 3)), dim=-1)[0].numpy()


@torch.inference_mode()
def text_vector(pieces: list[str], vocabulary: list[str]) -> np.ndarray:
    state = text_state()
    tokens = torch.tensor([[vocabulary.index(piece) for piece in ("[CLS]", *pieces, "[SEP]")]])
    first = text_model()(tokens).last_hidden_state[:, 0]
    head = {name.removeprefix("cls_projection_head."): tensor for name, tensor in state.items()}
    hidden = functional.gelu(functional.linear(first, head["dense_to_hidden.weight"], head["dense_to_hidden.bias"]))
    hidden = functional.layer_norm(hidden, (DIMENSION,), head["LayerNorm.weight"], head["LayerNorm.bias"], eps=1e-12)
    return functional.normalize(
        functional.linear(hidden, head["dense_to_output.weight"], head["dense_to_output.bias"]), dim=1
    )[0].numpy()


def test_images_equal_the_published_description(folder: Path, system: str, tmp_path: Path) -> None:
    path = radiograph(tmp_path / "x.png")
    row = load_embedder(folder).embed([decode(EmbeddingInput(images=(path,)))])[0]
    assert row @ image_vector(system, path) > 1 - 1e-5
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


def test_texts_equal_the_published_description(folder: Path) -> None:
    vocabulary = (folder / "vocab.txt").read_text().splitlines()
    embedder = load_embedder(folder)
    for text, pieces in (
        (
            "No pleural effusion.",
            ["no", "pleural", "effusion"],
        ),  # lower case, and the full stop at the end is taken off
        ("opacity, heart?!", ["opacity", ",", "heart"]),
        ("Opacity. No heart", ["opacity", ".", "no", "heart"]),
    ):
        row = embedder.embed([decode(EmbeddingInput(text=text))])[0]
        assert row @ text_vector(pieces, vocabulary) > 1 - 1e-5


def test_a_batch_of_one_equals_a_batch_of_many(folder: Path, tmp_path: Path) -> None:
    one = radiograph(tmp_path / "a.png")
    other = radiograph(tmp_path / "b.png", low=0, high=90)
    sources = [
        EmbeddingInput(text="no effusion"),
        EmbeddingInput(text="heart " * 40, instruction="opacity"),
        EmbeddingInput(images=(one,)),
        EmbeddingInput(images=(other,), text="no"),
        EmbeddingInput(images=(one, other)),
    ]
    batch = [decode(source) for source in sources]
    many = load_embedder(folder).embed(batch)
    alone = load_embedder(folder)
    assert np.abs(many - np.concatenate([alone.embed([decoded]) for decoded in batch])).max() < 1e-5
    assert len({row.tobytes() for row in many}) == len(batch)


def test_grey_levels_are_stretched_before_all_else(tmp_path: Path) -> None:
    dark = np.asarray(Image.open(radiograph(tmp_path / "dark.png", mode="L", low=10, high=60)), dtype=int)
    bright = Image.fromarray((dark * 3 + 20).astype(np.uint8))
    pixels = [biovil_pixels(Image.fromarray(dark.astype(np.uint8)).convert("RGB"), 480), biovil_pixels(bright, 480)]
    assert np.abs(pixels[0] - pixels[1]).max() <= 1 / 255
    assert pixels[0].shape == (480, 480)
    assert biovil_pixels(Image.new("RGB", (600, 512), (77, 77, 77)), 448).max() == 0


def test_an_odd_margin_is_rounded_to_the_even_half() -> None:
    columns = np.tile(np.arange(513) % 256, (512, 1)).astype(np.uint8)
    # 512 rows need no resizing; of 513 columns (513 - 480) / 2 = 16.5 are left out, which is rounded to 16
    assert biovil_pixels(Image.fromarray(columns), 480)[0, 0] == pytest.approx(16 / 255)


def test_texts_are_cut_at_512_tokens_and_that_is_told(folder: Path) -> None:
    embedder = load_embedder(folder)
    batch = [decode(EmbeddingInput(text=text)) for text in ("no " * 510, "no " * 511, "no " * 600)]
    assert embedder.token_counts(batch) == [512, 512, 512]
    rows = embedder.embed(batch)
    assert np.abs(rows[0] - rows[2]).max() < 1e-5
    assert embedder.cuts(["no " * 510, "no " * 511]) == [False, True]


@pytest.mark.parametrize("mark", ["[CLS]", "[SEP]", "[PAD]", "[UNK]"])
def test_marks_of_the_tokenizer_are_refused_in_texts(folder: Path, mark: str) -> None:
    with pytest.raises(InputUnsupported, match=r"a mark of the model"):
        load_embedder(folder).embed([decode(EmbeddingInput(text=f"no {mark} effusion"))])
    assert biovil_text("a [MASK] effusion.") == "a [MASK] effusion"


def test_the_description_names_the_system(folder: Path, system: str) -> None:
    description = load_embedder(folder).description
    assert (description.family, description.dimension) == ("biovil", DIMENSION)
    assert description.encode_config["crop_pixels"] == CROPS[system]
    assert json.loads((folder / "config.json").read_text())["and_from"]["file"] == "pytorch_model.bin"


def test_a_file_of_the_other_system_is_refused(tmp_path: Path) -> None:
    tokenizer = write_word_pieces(tmp_path / "tokenizer", WORDS)
    state = image_state("biovil")
    del state["encoder.encoder.layer3.0.bn2.weight"]
    with pytest.raises(ConversionRefused, match=r"layer\.1\.normalization\.weight"):
        convert_tiny("biovil", state, tmp_path / "a", tokenizer=tokenizer, second=text_state())
    with pytest.raises(ConversionRefused, match="comes in two files"):
        convert_tiny("biovil", image_state("biovil"), tmp_path / "b", tokenizer=tokenizer)
    with pytest.raises(ConversionRefused, match="give each official file once"):
        convert_tiny("biovil", image_state("biovil"), tmp_path / "c", tokenizer=tokenizer, second=image_state("biovil"))


def test_a_folder_without_its_crop_or_vocabulary_is_refused(folder: Path) -> None:
    config = folder / "config.json"
    document = json.loads(config.read_text())
    try:
        config.write_text(json.dumps({**document, "crop_pixels": 512}))
        with pytest.raises(ModelInvalid, match="crop_pixels must be 480"):
            load_embedder(folder)
    finally:
        config.write_text(json.dumps(document))
    vocabulary = folder / "vocab.txt"
    words = vocabulary.read_bytes()
    try:
        vocabulary.unlink()
        with pytest.raises(ModelInvalid, match="has no tokenizer"):
            load_embedder(folder)
    finally:
        vocabulary.write_bytes(words)


def test_the_vector_of_an_image_depends_on_nothing_else(folder: Path, image_files: list[Path]) -> None:
    assert_images_stand_alone(load_embedder(folder), image_files)
