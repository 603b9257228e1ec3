"""The pickled adapter of VLM2Vec-V2.0 in its official layout becomes an adapter folder, or is refused."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from evaluation.conversion.registry import find_conversion
from evaluation.conversion.writing import convert_file
from evaluation.decoding import decode
from evaluation.embedders.registry import load_embedder
from evaluation.errors import ConversionRefused, ModelInvalid, ModelUnsafe, ModelUnsupported
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.layouts import write_adapter, write_qwen2_vl

VLM2VEC = replace(find_conversion("vlm2vec-v2"), pinned={})
FRONT = "base_model.model.model.layers.0.self_attn.q_proj."
State = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "base"
    write_qwen2_vl(folder, 1)
    return folder


@pytest.fixture
def official(tmp_path: Path, base: Path) -> Path:
    """adapter_model.bin with adapter_config.json beside it, and the same as safetensors for comparison."""
    write_adapter(tmp_path / "official", base, 2, dora=True)
    tensors = load_file(tmp_path / "official" / "adapter_model.safetensors")
    torch.save(tensors, tmp_path / "official" / "adapter_model.bin")
    return tmp_path / "official" / "adapter_model.bin"


def convert(file: Path, out: Path, conversion: object = VLM2VEC) -> Path:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    convert_file(conversion, file=file, sha256=digest, out=out, tokenizer=None)
    return out


def test_the_converted_adapter_embeds_as_the_official_tensors(base: Path, official: Path, tmp_path: Path) -> None:
    folder = convert(official, tmp_path / "out")
    batch = [decode(EmbeddingInput(text="a nodule"))]
    rows = load_embedder(base, adapter_folder=folder).embed(batch)
    assert np.array_equal(rows, load_embedder(base, adapter_folder=official.parent).embed(batch))
    assert json.loads((folder / "conversion.json").read_text()) == {
        "system": "vlm2vec-v2",
        "converted_from": {"file": "adapter_model.bin", "sha256": hashlib.sha256(official.read_bytes()).hexdigest()},
    }
    assert {path.name for path in folder.iterdir()} == {
        "adapter_model.safetensors",
        "adapter_config.json",
        "conversion.json",
    }


def test_an_adapter_of_another_model_is_refused(official: Path, tmp_path: Path) -> None:
    with pytest.raises(ConversionRefused, match=r"layers\.27"):
        convert(official, tmp_path / "out", find_conversion("vlm2vec-v2"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: {**state, "base_model.model.lm_head.weight": torch.ones(2, 2)}, "lm_head"),
        (lambda state: {key: value for key, value in state.items() if key != f"{FRONT}lora_A.weight"}, "lacks"),
        (lambda state: {**state, f"{FRONT}lora_magnitude_vector": torch.ones(3)}, "do not fit together"),
        (lambda state: {**state, f"{FRONT}lora_A.weight": torch.ones(2, 32)}, "do not fit together"),
        (lambda state: {key: value for key, value in state.items() if not key.startswith(FRONT)}, "same modules"),
        (lambda state: {key.replace("layers.1", "layers.2"): value for key, value in state.items()}, "same modules"),
    ],
)
def test_tensors_that_are_not_the_adapters_are_refused(
    official: Path, tmp_path: Path, change: Callable[[State], State], message: str
) -> None:
    torch.save(change(torch.load(official, weights_only=True)), official)
    with pytest.raises(ConversionRefused, match=message):
        convert(official, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"auto_mapping": {"base_model_class": "X", "parent_library": "os"}}, ModelUnsafe),
        ({"peft_type": "VERA"}, ModelUnsupported),
        (None, ModelInvalid),
    ],
)
def test_a_config_that_would_not_be_loaded_is_refused(
    official: Path, tmp_path: Path, change: dict[str, object] | None, error: type[Exception]
) -> None:
    path = official.parent / "adapter_config.json"
    if change is None:
        path.unlink()
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(error):
        convert(official, tmp_path / "out")
    assert not (tmp_path / "out").exists()
