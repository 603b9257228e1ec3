"""CLIP and SigLIP against the models' own forward pass, with preprocessing written out here."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, CLIPModel, SiglipModel

from evaluation.decoding import decode
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import ModelInvalid
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone

TOLERANCE = 2e-5
CLIP_MEAN, CLIP_SPREAD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
WORDS = ["a nodule in the left lung", "no finding " * 20, "é"]


def tensor(image: Image.Image, mean: object, spread: object) -> torch.Tensor:
    values = (np.asarray(image, dtype=np.float64) / 255 - np.array(mean)) / np.array(spread)
    return torch.tensor(values.transpose(2, 0, 1)[np.newaxis], dtype=torch.float32)


def clip_pixels(path: Path) -> torch.Tensor:
    """The shorter side to 64, then the middle 64 x 64."""
    image = Image.open(path).convert("RGB")
    scale = 64 / min(image.size)
    width, height = (64 if side == min(image.size) else int(side * scale) for side in image.size)
    image = image.resize((width, height), Image.Resampling.BICUBIC)
    left, top = (width - 64) // 2, (height - 64) // 2
    return tensor(image.crop((left, top, left + 64, top + 64)), CLIP_MEAN, CLIP_SPREAD)


def siglip_pixels(path: Path) -> torch.Tensor:
    image = Image.open(path).convert("RGB").resize((64, 64), Image.Resampling.BICUBIC)
    return tensor(image, [0.5] * 3, [0.5] * 3)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@torch.inference_mode()
def test_clip_equals_the_models_own_forward_pass(clip_folder: Path, image_files: list[Path]) -> None:
    model, tokenizer = CLIPModel.from_pretrained(clip_folder).eval(), AutoTokenizer.from_pretrained(clip_folder)
    embedder = load_embedder(clip_folder)
    images = embed_inputs(embedder, [EmbeddingInput(images=(path,)) for path in image_files], batch_size=3)
    texts = embed_inputs(embedder, [EmbeddingInput(text=text) for text in WORDS], batch_size=3)
    anything = tokenizer(["x"], return_tensors="pt")
    for row, path in zip(images, image_files, strict=True):
        expected = model(**anything, pixel_values=clip_pixels(path)).image_embeds[0].numpy()
        assert np.abs(row - expected).max() < TOLERANCE
    for row, text in zip(texts, WORDS, strict=True):
        ids = tokenizer(text)["input_ids"]
        ids = ids if len(ids) <= 77 else [*ids[:76], ids[-1]]
        expected = model(input_ids=torch.tensor([ids]), pixel_values=clip_pixels(image_files[0])).text_embeds[0]
        assert np.abs(row - expected.numpy()).max() < TOLERANCE


@torch.inference_mode()
def test_siglip_equals_the_models_own_forward_pass(siglip_folder: Path, image_files: list[Path]) -> None:
    model, tokenizer = SiglipModel.from_pretrained(siglip_folder).eval(), AutoTokenizer.from_pretrained(siglip_folder)
    embedder = load_embedder(siglip_folder)
    images = embed_inputs(embedder, [EmbeddingInput(images=(path,)) for path in image_files], batch_size=3)
    texts = embed_inputs(embedder, [EmbeddingInput(text=text) for text in WORDS], batch_size=3)
    anything = torch.zeros((1, 64), dtype=torch.long)
    for row, path in zip(images, image_files, strict=True):
        expected = model(input_ids=anything, pixel_values=siglip_pixels(path)).image_embeds[0].numpy()
        assert np.abs(row - expected).max() < TOLERANCE
    pad = tokenizer.pad_token_id
    for row, text in zip(texts, WORDS, strict=True):
        ids = tokenizer(text)["input_ids"]
        ids = [*ids, *[pad] * (64 - len(ids))] if len(ids) <= 64 else [*ids[:63], ids[-1]]
        expected = model(input_ids=torch.tensor([ids]), pixel_values=siglip_pixels(image_files[0])).text_embeds[0]
        assert np.abs(row - expected.numpy()).max() < TOLERANCE


@torch.inference_mode()
def test_siglip_padded_to_the_longest_or_masked_would_be_another_vector(siglip_folder: Path) -> None:
    model, tokenizer = SiglipModel.from_pretrained(siglip_folder).eval(), AutoTokenizer.from_pretrained(siglip_folder)
    row = embed_inputs(load_embedder(siglip_folder), [EmbeddingInput(text="a nodule")], batch_size=1)[0]
    short = tokenizer(["a nodule"], return_tensors="pt")
    wrong = model.get_text_features(input_ids=short["input_ids"]).pooler_output[0].numpy()
    assert np.abs(row - unit(wrong)).max() > 0.01
    full = tokenizer(["a nodule"], padding="max_length", max_length=64, return_tensors="pt")
    wrong = model.get_text_features(input_ids=full["input_ids"], attention_mask=full["attention_mask"])
    assert np.abs(row - unit(wrong.pooler_output[0].numpy())).max() > 0.01


@pytest.mark.parametrize("fixture", ["clip_folder", "siglip_folder"])
def test_the_embedding_is_the_mean_of_the_parts(
    request: pytest.FixtureRequest, fixture: str, image_files: list[Path]
) -> None:
    embedder = load_embedder(request.getfixturevalue(fixture))

    def raw(**parts: object) -> np.ndarray:
        return embedder.embed([decode(EmbeddingInput(**parts))])[0].astype(np.float64)

    one, other = ((path,) for path in image_files[:2])
    both = (*one, *other)
    text, instruction = raw(text="pneumonia"), raw(text="Find it")
    pictures = (raw(images=one) + raw(images=other)) / 2
    assert np.abs(raw(images=both) - pictures).max() < TOLERANCE
    assert np.abs(raw(images=both, is_volume=True) - pictures).max() < TOLERANCE
    assert np.abs(raw(text="pneumonia", instruction="Find it") - (text + instruction) / 2).max() < TOLERANCE
    mixed = raw(images=both, text="pneumonia", instruction="Find it")
    assert np.abs(mixed - (pictures + text + instruction) / 3).max() < TOLERANCE
    assert "mean of the parts" in embedder.description.encode_config["parts"]


@pytest.mark.parametrize("fixture", ["clip_folder", "siglip_folder"])
def test_a_batch_of_one_equals_a_batch_of_many(
    request: pytest.FixtureRequest, fixture: str, mixed_inputs: list[EmbeddingInput]
) -> None:
    embedder = load_embedder(request.getfixturevalue(fixture))
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < 1e-6
    assert len({row.tobytes() for row in many}) == len(mixed_inputs)


@pytest.mark.parametrize(("fixture", "model_class"), [("clip_folder", CLIPModel), ("siglip_folder", SiglipModel)])
def test_half_precision_checkpoints_are_computed_in_float32(
    request: pytest.FixtureRequest, tmp_path: Path, fixture: str, model_class: type
) -> None:
    folder = shutil.copytree(request.getfixturevalue(fixture), tmp_path / "half")
    model_class.from_pretrained(folder).half().save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["dtype"] == "float16"
    assert load_file(folder / "model.safetensors")["logit_scale"].dtype == torch.float16
    batch = [decode(EmbeddingInput(text="a nodule"))]
    embedder = load_embedder(folder)
    model_class.from_pretrained(folder, dtype=torch.float32).save_pretrained(tmp_path / "whole")
    for name in ("tokenizer.json", "tokenizer_config.json", "preprocessor_config.json"):
        shutil.copy(folder / name, tmp_path / "whole")
    # the same numbers stored wide give the same vector; half precision would differ by about 1e-3
    difference = embedder.embed(batch) - load_embedder(tmp_path / "whole").embed(batch)
    assert np.abs(difference).max() < 1e-6
    assert embedder.description.encode_config["dtype"] == "float32"


def damage(folder: Path, kind: str) -> None:
    weights = folder / "model.safetensors"
    if kind == "missing weight":
        tensors = load_file(weights)
        del tensors["logit_scale"]
        save_file(tensors, weights, metadata={"format": "pt"})
    elif kind == "other shape":
        tensors = load_file(weights)
        name = next(name for name in tensors if name.endswith("patch_embedding.weight"))
        tensors[name] = tensors[name][:5].clone()
        save_file(tensors, weights, metadata={"format": "pt"})
    elif kind == "cut weights":
        weights.write_bytes(weights.read_bytes()[:-1000])
    elif kind == "no tokenizer":
        (folder / "tokenizer.json").unlink()
        (folder / "tokenizer_config.json").unlink()
    elif kind == "no preprocessor":
        (folder / "preprocessor_config.json").unlink()


@pytest.mark.parametrize("kind", ["missing weight", "other shape", "cut weights", "no tokenizer", "no preprocessor"])
@pytest.mark.parametrize("fixture", ["clip_folder", "siglip_folder"])
def test_incomplete_repositories_are_refused(
    request: pytest.FixtureRequest, tmp_path: Path, fixture: str, kind: str
) -> None:
    folder = shutil.copytree(request.getfixturevalue(fixture), tmp_path / "damaged")
    damage(folder, kind)
    with pytest.raises(ModelInvalid, match="damaged"):
        load_embedder(folder)


@pytest.mark.parametrize("fixture", ["clip_folder", "siglip_folder"])
def test_the_vector_of_an_image_depends_on_nothing_else(
    request: pytest.FixtureRequest, fixture: str, image_files: list[Path]
) -> None:
    assert_images_stand_alone(load_embedder(request.getfixturevalue(fixture)), image_files)
