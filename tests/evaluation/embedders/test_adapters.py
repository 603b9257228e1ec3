"""A LoRA adapter lands exactly where it belongs, or is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from evaluation.decoding import DecodedInput
from evaluation.embedders.adapters import merge_adapter
from evaluation.embedders.registry import load_embedder
from evaluation.embedders.tiny import write_tiny_qwen3_vl
from evaluation.errors import AdapterMismatch, ModelInvalid, ModelUnsafe, ModelUnsupported
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.layouts import write_adapter, write_qwen2_vl

Tensors = dict[str, torch.Tensor]
BATCH = [DecodedInput(EmbeddingInput(text="a nodule"))]
FRONT = "base_model.model.model.language_model."


def rewrite(folder: Path, change: Callable[[Tensors], Tensors]) -> Path:
    path = folder / "adapter_model.safetensors"
    save_file(change(load_file(path)), path)
    return folder


@pytest.fixture
def adapter(tmp_path: Path, qwen_adapter_folder: Path) -> Path:
    """A copy of the adapter to change."""
    return shutil.copytree(qwen_adapter_folder, tmp_path / "adapter")


def test_the_weights_are_the_base_plus_the_scaled_product(qwen_folder: Path, qwen_adapter_folder: Path) -> None:
    base = AutoModel.from_pretrained(qwen_folder, dtype=torch.float32)
    before = {name: tensor.clone() for name, tensor in base.state_dict().items()}
    merged = merge_adapter(base, qwen_adapter_folder).state_dict()
    assert merged.keys() == before.keys()
    tensors = load_file(qwen_adapter_folder / "adapter_model.safetensors")
    changed = set()
    for key in tensors:
        if key.endswith("lora_A.weight"):
            module = key.removesuffix(".lora_A.weight")
            name = module.removeprefix("base_model.model.model.") + ".weight"
            product = tensors[f"{module}.lora_B.weight"] @ tensors[key]
            assert torch.allclose(merged[name], before[name] + 8 / 4 * product, atol=1e-6)
            changed.add(name)
    assert len(changed) == 4
    assert all(torch.equal(merged[name], before[name]) for name in before.keys() - changed)


def test_embeddings_move_and_say_so(qwen_folder: Path, qwen_adapter_folder: Path) -> None:
    plain, adapted = load_embedder(qwen_folder), load_embedder(qwen_folder, adapter_folder=qwen_adapter_folder)
    assert np.abs(plain.embed(BATCH) - adapted.embed(BATCH)).max() > 0.01
    assert (plain.description.encode_config["adapter"], adapted.description.encode_config["adapter"]) == (False, True)
    assert plain.description.parameters == adapted.description.parameters


@pytest.mark.parametrize(
    "front", ["base_model.model.language_model.", "base_model.model.model.", "base_model.model.", ""]
)
def test_keys_of_any_wrapper_land_by_their_tail(
    qwen_folder: Path, qwen_adapter_folder: Path, adapter: Path, front: str
) -> None:
    rewrite(adapter, lambda tensors: {key.replace(FRONT, front): tensor for key, tensor in tensors.items()})
    expected = load_embedder(qwen_folder, adapter_folder=qwen_adapter_folder).embed(BATCH)
    assert np.abs(load_embedder(qwen_folder, adapter_folder=adapter).embed(BATCH) - expected).max() < 1e-6


@pytest.mark.parametrize("dora", [False, True])
def test_keys_of_every_layout_land_in_the_same_places(tmp_path: Path, *, dora: bool) -> None:
    base = tmp_path / "base"
    write_qwen2_vl(base, 1)
    layouts = {
        "as saved years ago": ("base_model.model.model.", ""),
        "as saved today": ("base_model.model.model.language_model.", ""),
        "as its running model names it": ("base_model.model.model.language_model.", ".default"),
        "without a wrapper": ("", ""),
    }
    rows = []
    for name, (front, tail) in layouts.items():
        write_adapter(tmp_path / name, base, 2, front=front, dora=dora, tail=tail)
        rows.append(load_embedder(base, adapter_folder=tmp_path / name).embed(BATCH))
    assert all(np.array_equal(row, rows[0]) for row in rows)
    assert np.abs(rows[0] - load_embedder(base).embed(BATCH)).max() > 0.01


def test_an_adapter_of_the_image_tower_lands_there(qwen_folder: Path, adapter: Path) -> None:
    base = AutoModel.from_pretrained(qwen_folder, dtype=torch.float32)
    name = "visual.blocks.1.attn.proj"
    before = base.get_submodule(name).weight.detach().clone()
    down, up = torch.ones(4, 32), torch.full((32, 4), 0.5)
    front = "base_model.model.model."
    rewrite(adapter, lambda _: {f"{front}{name}.lora_A.weight": down, f"{front}{name}.lora_B.weight": up})
    after = merge_adapter(base, adapter).get_submodule(name).weight
    # each entry: 8 / 4 * (4 * 1 * 0.5)
    assert torch.allclose(after, before + 4, atol=1e-5)


def test_directions_and_lengths_are_merged_apart_with_dora(qwen_folder: Path, adapter: Path) -> None:
    base = AutoModel.from_pretrained(qwen_folder, dtype=torch.float32)
    name = "language_model.layers.0.self_attn.q_proj"
    weight = base.get_submodule(name).weight.detach().clone()
    generator = torch.Generator().manual_seed(1)
    down, up = torch.randn(4, 32, generator=generator), torch.randn(32, 4, generator=generator)
    lengths = torch.rand(32, generator=generator) + 1
    front = f"base_model.model.model.{name}."
    rewrite(
        adapter,
        lambda _: {
            f"{front}lora_A.weight": down,
            f"{front}lora_B.weight": up,
            f"{front}lora_magnitude_vector": lengths,
        },
    )
    settings = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps({**settings, "use_dora": True}))
    moved = weight + 2 * up @ down
    expected = moved / moved.norm(dim=1, keepdim=True) * lengths[:, None]
    assert torch.allclose(merge_adapter(base, adapter).get_submodule(name).weight, expected, atol=1e-5)


def drop_one(tensors: Tensors) -> Tensors:
    return dict(sorted(tensors.items())[1:])


def zero_products(tensors: Tensors) -> Tensors:
    return {key: tensor * 0 if "lora_B" in key else tensor for key, tensor in tensors.items()}


def other_rank(tensors: Tensors) -> Tensors:
    return {key: tensor[:2].clone() if "lora_A" in key else tensor[:, :2].clone() for key, tensor in tensors.items()}


def wider(tensors: Tensors) -> Tensors:
    return {key: torch.ones(4, 64) if "lora_A" in key else tensor for key, tensor in tensors.items()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop_one, "lacks a weight"),
        (
            lambda tensors: {**tensors, f"{FRONT}layers.9.self_attn.q_proj.lora_A.weight": torch.ones(4, 32)},
            r"layers\.9",
        ),
        (lambda tensors: {**tensors, f"{FRONT}layers.0.input_layernorm.lora_A.weight": torch.ones(4, 32)}, "layernorm"),
        (lambda tensors: {**tensors, "base_model.model.lm_head.weight": torch.ones(2)}, "lm_head"),
        (lambda tensors: {**tensors, f"{FRONT}embed_tokens.lora_embedding_A": torch.ones(2)}, "embed_tokens"),
        (
            lambda tensors: {key.replace("language_model.", "visual."): tensor for key, tensor in tensors.items()},
            r"visual\.layers",
        ),
        (lambda tensors: {**tensors, "layers.0.self_attn.q_proj.lora_A.weight": torch.ones(4, 32)}, "same place"),
        (zero_products, "changes no weight"),
        (other_rank, "shape"),
        (wider, "shape"),
        (lambda _: {}, "no weights"),
    ],
)
def test_anything_left_over_or_missing_is_refused(
    qwen_folder: Path, adapter: Path, change: Callable[[Tensors], Tensors], message: str
) -> None:
    rewrite(adapter, change)
    with pytest.raises(AdapterMismatch, match=message):
        load_embedder(qwen_folder, adapter_folder=adapter)


def test_an_adapter_of_a_larger_base_is_refused(qwen_folder: Path, qwen_adapter_folder: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    write_tiny_qwen3_vl(base, 0)
    model = AutoModel.from_pretrained(base, dtype=torch.float32)
    del model.language_model.layers[1]
    with pytest.raises(AdapterMismatch, match=r"layers\.1.*right base"):
        merge_adapter(model, qwen_adapter_folder)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"alpha_pattern": {"q_proj": 64}}, ModelUnsupported),
        ({"rank_pattern": {"q_proj": 8}}, ModelUnsupported),
        ({"init_lora_weights": "pissa"}, ModelUnsupported),
        ({"peft_type": "VERA"}, ModelUnsupported),
        ({"auto_mapping": {"base_model_class": "X", "parent_library": "os"}}, ModelUnsafe),
    ],
)
def test_settings_that_cannot_be_checked_are_refused(
    qwen_folder: Path, adapter: Path, change: dict[str, Any], error: type[Exception]
) -> None:
    settings = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps({**settings, **change}))
    with pytest.raises(error):
        load_embedder(qwen_folder, adapter_folder=adapter)


def test_damaged_adapter_files_are_named(qwen_folder: Path, adapter: Path) -> None:
    path = adapter / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(ModelInvalid, match="adapter"):
        load_embedder(qwen_folder, adapter_folder=adapter)
    path.rename(adapter / "adapter_model.bin")
    with pytest.raises(ModelUnsafe):
        load_embedder(qwen_folder, adapter_folder=adapter)
