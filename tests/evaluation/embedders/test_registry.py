"""Families are recognised, and unsafe folders refused, without loading a framework."""

import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.registry import (
    adapter_problems,
    check_adapter_safety,
    check_folder_safety,
    detect_family,
    document_problems,
    family_of_config,
    load_embedder,
    safety_problems,
)
from evaluation.errors import EvaluationError, ModelInvalid, ModelUnsafe, ModelUnsupported
from evaluation.vocabulary import EmbedderFamily

SAFE = ("config.json", "model.safetensors")
TRANSFORMER = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
POOLING = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
DENSE = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}


def codes(problems: list[tuple[str, str]]) -> set[str]:
    return {code for code, _ in problems}


def write_folder(folder: Path, documents: dict[str, Any], others: Collection[str] = ()) -> Path:
    for name, document in documents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(document))
    for name in others:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(save({"weight": np.ones(3, np.float32)}))
    return folder


def test_the_registry_loads_no_framework() -> None:
    modules = "evaluation.embedders.registry, evaluation.hashing, evaluation.decoding, evaluation.embedding.encode"
    banned = "{'torch', 'transformers', 'peft', 'sentence_transformers'}"
    program = f"import sys, {modules}; print(sorted({banned} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("config", "modules", "family"),
    [
        ({"model_type": "clip"}, None, EmbedderFamily.CLIP),
        ({"model_type": "siglip"}, None, EmbedderFamily.SIGLIP),
        ({"model_type": "siglip"}, [TRANSFORMER, POOLING], EmbedderFamily.SIGLIP),
        ({"model_type": "qwen3_vl"}, None, EmbedderFamily.QWEN3_VL),
        ({"model_type": "bert"}, [TRANSFORMER, POOLING], EmbedderFamily.SENTENCE_TRANSFORMERS),
        ({}, [TRANSFORMER, POOLING, DENSE], EmbedderFamily.SENTENCE_TRANSFORMERS),
        ({"model_type": "medboard-chance"}, None, EmbedderFamily.CHANCE),
        ({"model_type": "medboard-lite-dual"}, None, EmbedderFamily.LITE_DUAL),
    ],
)
def test_families(config: dict[str, Any], modules: list[Any] | None, family: EmbedderFamily) -> None:
    assert family_of_config(config, SAFE, modules) is family


@pytest.mark.parametrize(
    ("config", "files", "modules", "message"),
    [
        ({"model_type": "bert"}, SAFE, None, "'bert'"),
        ({"model_type": ["clip"]}, SAFE, None, "clip"),
        ({"model_type": "qwen2_5_vl"}, SAFE, None, "qwen2_5_vl"),
        ({}, SAFE, None, "None"),
        ({}, ("adapter_config.json",), None, "base model"),
        ({}, SAFE, [{"type": "sentence_transformers.models.CLIPModel"}], "CLIPModel"),
        ({}, SAFE, ["odd"], "odd"),
    ],
)
def test_what_cannot_be_loaded_is_said(config: Any, files: Any, modules: Any, message: str) -> None:
    with pytest.raises(ModelUnsupported, match=message):
        family_of_config(config, files, modules)


@pytest.mark.parametrize(
    "config",
    [
        {"auto_map": {"AutoModel": "modeling.Own"}},
        {"text_config": {"auto_map": {"AutoConfig": "a.B"}}},
        {"_attn_implementation_internal": "someone/kernel"},
        {"vision_config": {"_attn_implementation_internal": "eager"}},
        {"attn_implementation": "someone/kernel"},
        {"_attn_implementation": {"": "someone/kernel"}},
        {"my_attn_implementation": "sdpa"},
        {"_attn_implementation_autoset": "someone/kernel"},
        {"custom_pipelines": {"x": {"impl": "p.P"}}},
        {"layers": [{"trust_remote_code": True}]},
    ],
)
def test_configs_that_ask_for_code_are_unsafe(config: dict[str, Any]) -> None:
    expected = "attention_unknown" if "attn" in repr(config) else "own_code"
    assert codes(document_problems("config.json", config)) == {expected}
    assert expected in codes(safety_problems({"model_type": "clip", **config}, SAFE, None))


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "clip"},
        {"attn_implementation": "sdpa"},
        {"_attn_implementation": "eager", "_attn_implementation_autoset": True},
        {"auto_map": None, "trust_remote_code": False},
    ],
)
def test_harmless_configs_pass(config: dict[str, Any]) -> None:
    assert safety_problems(config, SAFE, None) == []


@pytest.mark.parametrize(
    ("files", "modules", "expected"),
    [
        (SAFE, None, set()),
        (("config.json", "model-00001-of-00002.safetensors"), None, set()),
        ((*SAFE, "pytorch_model.bin", "optimizer.pt", "training_args.bin"), None, set()),
        ((*SAFE, "openvino/openvino_model.bin"), None, set()),
        (("config.json", "pytorch_model.bin"), None, {"weights_pickled"}),
        (("config.json", "model.PTH"), None, {"weights_pickled"}),
        (("config.json", "tf_model.h5"), None, {"weights_pickled"}),
        (("config.json", "deep/model.safetensors"), None, {"model_invalid"}),
        (("config.json",), None, {"model_invalid"}),
        (SAFE, [TRANSFORMER, POOLING], set()),
        ((*SAFE, "2_Dense/model.safetensors"), [TRANSFORMER, DENSE], set()),
        ((*SAFE, "2_Dense/pytorch_model.bin"), [TRANSFORMER, DENSE], {"weights_pickled"}),
        (SAFE, [{**TRANSFORMER, "type": "custom_module.Transformer"}], {"own_modules"}),
        (SAFE, [{**TRANSFORMER, "type": "sentence_transformers_extra.Transformer"}], {"own_modules"}),
        (SAFE, [{**POOLING, "path": "../other"}], {"path_outside"}),
        (SAFE, [{**POOLING, "path": "/etc"}], {"path_outside"}),
        (SAFE, [{"path": ""}], {"model_invalid"}),
        ((*SAFE, "adapter_config.json"), None, {"model_unsupported"}),
    ],
)
def test_weights_and_modules(files: Any, modules: Any, expected: set[str]) -> None:
    assert codes(safety_problems({"model_type": "clip"}, files, modules)) == expected


def test_quantised_weights_are_unsupported() -> None:
    config = {"model_type": "qwen3_vl", "quantization_config": {"quant_method": "gptq"}}
    assert codes(safety_problems(config, SAFE, None)) == {"model_unsupported"}


def test_chance_needs_no_weights() -> None:
    assert safety_problems({"model_type": "medboard-chance"}, ("config.json",), None) == []


@pytest.mark.parametrize(
    ("config", "files", "expected"),
    [
        ({"peft_type": "LORA"}, ("adapter_model.safetensors",), set()),
        ({"peft_type": "LORA", "auto_mapping": None}, ("adapter_model.safetensors",), set()),
        (
            {"peft_type": "LORA", "auto_mapping": {"parent_library": "os"}},
            ("adapter_model.safetensors",),
            {"own_code"},
        ),
        ({"peft_type": "LORA"}, ("adapter_model.bin",), {"weights_pickled"}),
        ({"peft_type": "LORA"}, (), {"model_invalid"}),
        ({"peft_type": "IA3"}, ("adapter_model.safetensors",), {"model_unsupported"}),
    ],
)
def test_adapters(config: dict[str, Any], files: tuple[str, ...], expected: set[str]) -> None:
    assert codes(adapter_problems(config, files)) == expected


@pytest.mark.parametrize("name", ["tokenizer_config.json", "preprocessor_config.json", "sentence_bert_config.json"])
def test_every_configuration_file_of_a_folder_is_checked(tmp_path: Path, name: str) -> None:
    folder = write_folder(
        tmp_path, {"config.json": {"model_type": "clip"}, name: {"auto_map": {"x": "y.Z"}}}, ["model.safetensors"]
    )
    with pytest.raises(ModelUnsafe, match=name):
        check_folder_safety(folder)
    with pytest.raises(ModelUnsafe, match="auto_map"):
        load_embedder(folder)


def test_a_word_of_the_vocabulary_is_not_a_setting(tmp_path: Path) -> None:
    documents = {"config.json": {"model_type": "clip"}, "tokenizer.json": {"vocab": {"auto_map": 1}}}
    check_folder_safety(write_folder(tmp_path, documents, ["model.safetensors"]))


def test_all_problems_are_told_at_once_and_the_gravest_decides(tmp_path: Path) -> None:
    config = {"model_type": "clip", "auto_map": {"x": "y"}, "quantization_config": {"bits": 4}}
    with pytest.raises(ModelUnsafe, match=r"auto_map.*quantization_config.*pytorch_model\.bin"):
        check_folder_safety(write_folder(tmp_path, {"config.json": config}, ["pytorch_model.bin"]))


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b'"text"', b"[" * 100_000])
def test_damaged_configurations_are_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_bytes(content)
    for call in (detect_family, check_folder_safety, load_embedder):
        with pytest.raises(ModelInvalid, match=r"config\.json"):
            call(tmp_path)


def test_damaged_modules_are_named(tmp_path: Path) -> None:
    write_folder(tmp_path, {"config.json": {}, "modules.json": {"not": "a list"}})
    with pytest.raises(ModelInvalid, match=r"modules\.json"):
        detect_family(tmp_path)


def test_what_is_not_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelInvalid, match="not a folder"):
        detect_family(tmp_path / "nothing")
    with pytest.raises(ModelInvalid, match="not an adapter"):
        check_adapter_safety(tmp_path)


def test_only_some_families_take_an_adapter(tmp_path: Path, qwen_adapter_folder: Path) -> None:
    folder = write_folder(tmp_path, {"config.json": {"model_type": "medboard-chance", "dimension": 2, "seed": 0}})
    with pytest.raises(ModelUnsupported, match="no adapter"):
        load_embedder(folder, adapter_folder=qwen_adapter_folder)


@pytest.mark.parametrize("fixture", ["clip_folder", "siglip_folder", "qwen_folder"])
def test_the_tiny_repositories_are_safe_and_recognised(request: pytest.FixtureRequest, fixture: str) -> None:
    folder: Path = request.getfixturevalue(fixture)
    check_folder_safety(folder)
    assert detect_family(folder).value.split("_")[0] in folder.name


def test_the_packaged_text_model_is_safe_and_recognised() -> None:
    check_folder_safety(minilm_folder())
    assert detect_family(minilm_folder()) is EmbedderFamily.SENTENCE_TRANSFORMERS


def test_every_error_has_a_code_of_its_own_kind() -> None:
    for error in (ModelInvalid, ModelUnsafe, ModelUnsupported):
        assert issubclass(error, EvaluationError)
        assert error.kind == "model"
