"""BLIP-2 against the model's own forward pass, whose score is the largest of the query vectors' products."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, Blip2ForImageTextRetrieval

from evaluation.decoding import decode
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import ModelInvalid, ModelUnsupported
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.layouts import write_blip2
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone

TOLERANCE = 1e-5
MEAN, SPREAD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
WORDS = ["a nodule in the left lung", "no finding " * 20, "x"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "blip2-itm-tiny"
    write_blip2(path, 7, image_token=True)
    return path


@torch.inference_mode()
def own_outputs(folder: Path, image: Path, text: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Query vectors, text vector and score of the model's forward pass.

    With an image token the forward pass takes texts behind a placeholder a query, which it drops.
    """
    model = Blip2ForImageTextRetrieval.from_pretrained(folder, dtype=torch.float32).eval()
    ids = AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    ids = ids if len(ids) <= 64 else [*ids[:63], ids[-1]]
    before = model.config.num_query_tokens if model.config.image_token_index is not None else 0
    resized = Image.open(image).convert("RGB").resize((56, 56), Image.Resampling.BICUBIC)
    values = (np.asarray(resized, dtype=np.float64) / 255 - np.array(MEAN)) / np.array(SPREAD)
    output = model(
        pixel_values=torch.tensor(values.transpose(2, 0, 1)[np.newaxis], dtype=torch.float32),
        input_ids=torch.tensor([[1] * before + ids]),
        attention_mask=torch.ones(1, before + len(ids), dtype=torch.long),
        use_image_text_matching_head=False,
    )
    return output.image_embeds[0].numpy(), output.text_embeds[0].numpy(), float(output.logits_per_image)


def test_images_are_the_mean_of_the_models_query_vectors(folder: Path, image_files: list[Path]) -> None:
    rows = embed_inputs(load_embedder(folder), [EmbeddingInput(images=(path,)) for path in image_files], batch_size=3)
    for row, path in zip(rows, image_files, strict=True):
        queries, _, _ = own_outputs(folder, path, "x")
        assert queries.shape == (5, 16)
        assert np.allclose(np.linalg.norm(queries, axis=1), 1, atol=1e-5)
        mean = queries.astype(np.float64).mean(axis=0)
        assert row @ (mean / np.linalg.norm(mean)) >= 1 - 1e-5
        assert np.abs(row - mean / np.linalg.norm(mean)).max() < TOLERANCE


def test_texts_are_the_models_first_token_projected(folder: Path, image_files: list[Path]) -> None:
    rows = embed_inputs(load_embedder(folder), [EmbeddingInput(text=text) for text in WORDS], batch_size=3)
    for row, text in zip(rows, WORDS, strict=True):
        _, expected, _ = own_outputs(folder, image_files[0], text)
        assert np.abs(row - expected).max() < TOLERANCE


def test_the_largest_product_is_another_score_so_the_config_names_the_mean(
    folder: Path, image_files: list[Path]
) -> None:
    embedder = load_embedder(folder)
    image, text = embed_inputs(
        embedder, [EmbeddingInput(images=(image_files[0],)), EmbeddingInput(text=WORDS[0])], batch_size=1
    )
    queries, vector, score = own_outputs(folder, image_files[0], WORDS[0])
    assert score == pytest.approx(float((queries @ vector).max()), abs=1e-5)
    assert abs(float(image @ text) - score) > 0.01
    assert embedder.description.encode_config["name"] == "mean-of-queries"
    with pytest.raises(ModelUnsupported, match="mean-of-queries"):
        load_embedder(folder, encode_config="max-over-queries")


def test_both_published_configs_give_the_same_vectors(folder: Path, tmp_path: Path, image_files: list[Path]) -> None:
    write_blip2(tmp_path / "older", 7, image_token=False)
    inputs = [EmbeddingInput(images=(image_files[1],)), EmbeddingInput(text=WORDS[0])]
    new, old = (embed_inputs(load_embedder(path), inputs, batch_size=2) for path in (folder, tmp_path / "older"))
    assert np.abs(new - old).max() < TOLERANCE


def test_mixed_inputs_are_means_of_unit_parts_whatever_the_batch(
    folder: Path, mixed_inputs: list[EmbeddingInput]
) -> None:
    embedder = load_embedder(folder)
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < TOLERANCE
    mixed = mixed_inputs[-1]
    parts = [
        EmbeddingInput(images=mixed.images),
        EmbeddingInput(text=mixed.text),
        EmbeddingInput(text=mixed.instruction),
    ]
    mean = embed_inputs(embedder, parts, batch_size=3).astype(np.float64).mean(axis=0)
    assert np.abs(many[-1] - mean / np.linalg.norm(mean)).max() < TOLERANCE


def test_texts_are_cut_at_64_tokens(folder: Path) -> None:
    # one token a byte, and a mark at each end
    batch = [decode(EmbeddingInput(text=text)) for text in ("x" * 61, "x" * 62, "x" * 63, "x" * 500)]
    embedder = load_embedder(folder)
    assert embedder.token_counts(batch) == [63, 64, 64, 64]
    rows = embedder.embed(batch)
    assert np.array_equal(rows[2], rows[3])
    assert np.abs(rows[1] - rows[0]).max() > 1e-4


def test_a_blip2_without_retrieval_heads_is_refused(folder: Path, tmp_path: Path) -> None:
    headless = shutil.copytree(folder, tmp_path / "captioning")
    tensors = load_file(headless / "model.safetensors")
    kept = {key: tensor for key, tensor in tensors.items() if not key.startswith(("vision_projection", "text_proj"))}
    save_file(kept, headless / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((headless / "config.json").read_text())
    (headless / "config.json").write_text(json.dumps({**config, "architectures": ["Blip2ForConditionalGeneration"]}))
    with pytest.raises(ModelInvalid, match="text_projection"):
        load_embedder(headless)


def test_a_text_of_65_tokens_is_said_to_be_cut(folder: Path) -> None:
    assert load_embedder(folder).cuts(["x" * 62, "x" * 63]) == [False, True]


def test_the_vector_of_an_image_depends_on_nothing_else(folder: Path, image_files: list[Path]) -> None:
    assert_images_stand_alone(load_embedder(folder), image_files)
