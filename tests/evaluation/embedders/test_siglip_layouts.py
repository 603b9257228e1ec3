"""SigLIP, SigLIP 2 and MedSigLIP in their published layouts, with token ids and patches worked out here."""

import string
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch
from PIL import Image
from transformers import Siglip2Model, SiglipModel

from evaluation.decoding import decode
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.siglip_layouts import (
    write_siglip,
    write_siglip2,
    write_siglip2_of_native_resolution,
)
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone

TOLERANCE = 1e-5
WORDS = ["a nodule in the left lung", "No Effusion, (right) LUNG!", "opacity " * 40]
LAYOUTS = ("siglip-so400m-patch14-384", "siglip-so400m-patch14-224", "medsiglip-448", "siglip2", "siglip2-naflex")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    write_siglip(root / LAYOUTS[0], 3, text_tokens=64, pixels=48)
    write_siglip(root / LAYOUTS[1], 4, text_tokens=16, pixels=32)
    write_siglip(root / LAYOUTS[2], 5, text_tokens=64, pixels=64)
    write_siglip2(root / LAYOUTS[3], 6)
    write_siglip2_of_native_resolution(root / LAYOUTS[4], 7)
    return {name: root / name for name in LAYOUTS}


def model_of(folder: Path) -> torch.nn.Module:
    model_class = Siglip2Model if "naflex" in folder.name else SiglipModel
    return model_class.from_pretrained(folder, dtype=torch.float32).eval()


def ids_of(folder: Path, text: str, length: int) -> list[int]:
    """SigLIP: small letters without punctuation. SigLIP 2: small letters, one token each here."""
    if "siglip2" in folder.name:
        pieces = [*"".join(chr(code) for code in range(33, 127))]
        ids = [4 if letter == " " else 5 + 256 + pieces.index(letter) for letter in text.strip().lower()]
        padding = 0
    else:
        bare = text.lower().translate(str.maketrans("", "", string.punctuation))
        model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
        ids = model.encode(" ".join(bare.split()))
        padding = 1
    ids = [*ids[: length - 1], 1]
    return [*ids, *[padding] * (length - len(ids))]


@pytest.mark.parametrize("name", LAYOUTS)
@torch.inference_mode()
def test_texts_are_small_letters_padded_to_the_full_length_without_a_mask(folders: dict[str, Path], name: str) -> None:
    embedder, model = load_embedder(folders[name]), model_of(folders[name])
    length = 16 if name.endswith("224") else 64
    assert embedder.description.family is EmbedderFamily.SIGLIP
    assert embedder.description.encode_config["max_text_tokens"] == length
    rows = embed_inputs(embedder, [EmbeddingInput(text=text) for text in WORDS], batch_size=len(WORDS))
    for row, text in zip(rows, WORDS, strict=True):
        ids = torch.tensor([ids_of(folders[name], text, length)])
        expected = model.get_text_features(input_ids=ids).pooler_output[0].numpy()
        assert np.abs(row - expected / np.linalg.norm(expected)).max() < TOLERANCE


@pytest.mark.parametrize("name", LAYOUTS[:4])
@torch.inference_mode()
def test_images_of_fixed_resolution_are_squeezed_to_it(
    folders: dict[str, Path], image_files: list[Path], name: str
) -> None:
    pixels = {LAYOUTS[0]: 48, LAYOUTS[1]: 32}.get(name, 64)
    way = Image.Resampling.BILINEAR if name == "siglip2" else Image.Resampling.BICUBIC
    model = model_of(folders[name])
    sources = [EmbeddingInput(images=(path,)) for path in image_files]
    for row, path in zip(embed_inputs(load_embedder(folders[name]), sources, batch_size=3), image_files, strict=True):
        image = Image.open(path).convert("RGB").resize((pixels, pixels), way)
        values = torch.tensor(np.asarray(image, dtype=np.float32) / 127.5 - 1).permute(2, 0, 1)[None]
        expected = model.get_image_features(pixel_values=values).pooler_output[0].numpy()
        assert np.abs(row - expected / np.linalg.norm(expected)).max() < TOLERANCE


@torch.inference_mode()
def test_images_of_native_resolution_keep_their_proportions(folders: dict[str, Path], image_files: list[Path]) -> None:
    folder = folders["siglip2-naflex"]
    model = model_of(folder)
    # the largest scale at which rows and columns of 16 pixels, rounded up, are nine patches at most: the sides are
    # 4 x 4, 5.6 x 8.1, 9.4 x 4.4 and 4 x 12.5 patches (rows x columns) at first, and 3/4, 0.37, 0.43 and 0.32 of that
    grids = [(3, 3), (3, 3), (4, 2), (2, 4)]
    sources = [EmbeddingInput(images=(path,)) for path in image_files]
    rows = embed_inputs(load_embedder(folder), sources, batch_size=4)
    for row, path, (high, wide) in zip(rows, image_files, grids, strict=True):
        image = Image.open(path).convert("RGB").resize((wide * 16, high * 16), Image.Resampling.BILINEAR)
        values = np.asarray(image, dtype=np.float32) / 127.5 - 1
        patches = np.zeros((1, 9, 768), dtype=np.float32)
        for number in range(high * wide):
            top, left = number // wide * 16, number % wide * 16
            patches[0, number] = values[top : top + 16, left : left + 16].ravel()
        expected = model.get_image_features(
            pixel_values=torch.tensor(patches),
            pixel_attention_mask=torch.tensor([[1] * (high * wide) + [0] * (9 - high * wide)]),
            spatial_shapes=torch.tensor([[high, wide]]),
        ).pooler_output[0]
        assert np.abs(row - (expected / expected.norm()).numpy()).max() < TOLERANCE


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_batch_of_one_equals_a_batch_of_many(
    folders: dict[str, Path], mixed_inputs: list[EmbeddingInput], name: str
) -> None:
    embedder = load_embedder(folders[name])
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < TOLERANCE


def test_capitals_make_no_difference_unless_the_config_leaves_them(folders: dict[str, Path]) -> None:
    batch = [decode(EmbeddingInput(text=text)) for text in ("A Nodule", "a nodule")]
    for name in ("siglip-so400m-patch14-384", "siglip2", "siglip2-naflex"):
        capital, small = load_embedder(folders[name]).embed(batch)
        assert np.abs(capital - small).max() < 1e-6
    capital, small = load_embedder(folders["siglip2"], encode_config="letters-as-given").embed(batch)
    assert np.abs(capital - small).max() > 1e-3


def test_a_text_beyond_the_full_length_is_said_to_be_cut(folders: dict[str, Path]) -> None:
    # one token a letter and the end's mark
    assert load_embedder(folders["siglip2"]).cuts(["X" * 63, "X" * 64]) == [False, True]
    short = load_embedder(folders["siglip-so400m-patch14-224"])
    assert short.cuts(["no", "no pleural effusion is seen in the left lung or the right lung"]) == [False, True]


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_vector_of_an_image_depends_on_nothing_else(
    folders: dict[str, Path], image_files: list[Path], name: str
) -> None:
    assert_images_stand_alone(load_embedder(folders[name]), image_files)
