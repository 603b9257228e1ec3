"""CLIP as OpenAI and LAION published it: an old end mark in the config, buffers among the weights, pickles beside."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, CLIPModel

from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily

TOLERANCE = 1e-5
WORDS = ["a nodule", "no finding in either lung " * 20, "x"]


def published(clip_folder: Path, folder: Path, activation: str) -> Path:
    """The same weights in an older layout: 2 as the end mark's number, positions as tensors, other files beside."""
    shutil.copytree(clip_folder, folder)
    config = json.loads((folder / "config.json").read_text())
    config["text_config"] |= {"eos_token_id": 2, "bos_token_id": 0, "pad_token_id": 1, "hidden_act": activation}
    config["vision_config"]["hidden_act"] = activation
    config |= {"torch_dtype": "float32", "transformers_version": None, "logit_scale_init_value": 2.6592}
    config.pop("dtype", None)
    (folder / "config.json").write_text(json.dumps(config))
    tensors = load_file(folder / "model.safetensors")
    for tower, count in (("text_model", 77), ("vision_model", 17)):
        tensors[f"{tower}.embeddings.position_ids"] = torch.arange(count)[None]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": {"embed_dim": 32}}))
    for name in ("open_clip_pytorch_model.bin", "pytorch_model.bin"):
        (folder / name).write_bytes(b"never opened")
    return folder


@pytest.mark.parametrize("activation", ["quick_gelu", "gelu"])
@torch.inference_mode()
def test_texts_are_read_at_their_end_mark(clip_folder: Path, tmp_path: Path, activation: str) -> None:
    folder = published(clip_folder, tmp_path / "CLIP-ViT-B-32", activation)
    embedder = load_embedder(folder)
    assert embedder.description.family is EmbedderFamily.CLIP
    model, tokenizer = CLIPModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    assert model.config.text_config.hidden_act == activation
    rows = embed_inputs(embedder, [EmbeddingInput(text=text) for text in WORDS], batch_size=3)
    for row, text in zip(rows, WORDS, strict=True):
        ids = tokenizer(text)["input_ids"]
        ids = ids if len(ids) <= 77 else [*ids[:76], ids[-1]]
        last = model.text_model(input_ids=torch.tensor([ids])).last_hidden_state[0, -1]
        expected = model.text_projection(last)
        assert np.abs(row - (expected / expected.norm()).numpy()).max() < TOLERANCE


@torch.inference_mode()
def test_the_two_activations_are_told_apart(clip_folder: Path, tmp_path: Path, image_files: list[Path]) -> None:
    inputs = [EmbeddingInput(text="a nodule"), EmbeddingInput(images=(image_files[0],))]
    quick, exact = (
        embed_inputs(load_embedder(published(clip_folder, tmp_path / name, name)), inputs, batch_size=2)
        for name in ("quick_gelu", "gelu")
    )
    assert (np.abs(quick - exact).max(axis=1) > 1e-3).all()
