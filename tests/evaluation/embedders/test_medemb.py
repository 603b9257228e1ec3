"""MedEmb as base and adapter and as full weights: both as peft runs the adapter beside the base."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import Qwen3VLForConditionalGeneration

from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.layouts import write_adapter

# Qwen3-VL-Embedding's report names these for its adapters
MODULES = ("q_proj", "k_proj", "v_proj", "up_proj", "down_proj", "gate_proj")
TOLERANCE = 2e-5
# peft reads a property that transformers renames; only the reference here goes that way
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")


@pytest.fixture(params=[False, True], ids=["lora", "dora"])
def adapter(request: pytest.FixtureRequest, qwen_folder: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    write_adapter(
        folder,
        qwen_folder,
        3,
        front="base_model.model.model.language_model.",
        dora=request.param,
        modules=MODULES,
    )
    return folder


def beside(base: Path, adapter: Path) -> PeftModel:
    """The adapter beside the base, loaded by peft itself: the names are those of the generating model."""
    model = Qwen3VLForConditionalGeneration.from_pretrained(base, dtype=torch.float32).eval()
    config = LoraConfig.from_pretrained(adapter)
    config.base_model_name_or_path, config.target_modules = None, list(MODULES)
    adapted = get_peft_model(model, config).eval()
    result = set_peft_model_state_dict(adapted, load_file(adapter / "adapter_model.safetensors"))
    assert not result.unexpected_keys
    assert not [key for key in result.missing_keys if "lora_" in key]
    return adapted


def test_base_and_adapter_equal_the_adapter_beside_the_base(
    qwen_folder: Path, adapter: Path, tmp_path: Path, mixed_inputs: list[EmbeddingInput]
) -> None:
    embedder = load_embedder(qwen_folder, adapter_folder=adapter)
    merged = embed_inputs(embedder, mixed_inputs, batch_size=3)
    embedder._model = beside(qwen_folder, adapter).get_base_model().model
    running = embed_inputs(embedder, mixed_inputs, batch_size=3)
    assert np.abs(merged - running).max() < TOLERANCE
    full = shutil.copytree(qwen_folder, tmp_path / "MedEmb-2B", ignore=shutil.ignore_patterns("*.safetensors"))
    beside(qwen_folder, adapter).merge_and_unload().save_pretrained(full)
    assert np.abs(embed_inputs(load_embedder(full), mixed_inputs, batch_size=3) - merged).max() < TOLERANCE
    plain = embed_inputs(load_embedder(qwen_folder), mixed_inputs, batch_size=3)
    assert (np.abs(plain - merged).max(axis=1) > 0.01).all()
