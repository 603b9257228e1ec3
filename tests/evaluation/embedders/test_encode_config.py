"""Encode configs: frozen, hashed by content, found by name, by digest and by system, and told in descriptions."""

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.embedders import encode_config as module
from evaluation.embedders.encode_config import (
    ENCODE_CONFIGS,
    EncodeConfig,
    default_encode_config,
    encode_config,
    encode_config_by_sha256,
)
from evaluation.embedders.loading import compute_dtype, dtype_name
from evaluation.embedders.registry import load_embedder
from evaluation.errors import ModelUnsupported
from evaluation.results import read_result
from evaluation.suites.demo.suite import build_demo
from evaluation.vocabulary import EmbedderFamily

CLIP = encode_config(EmbedderFamily.CLIP)
CHEXZERO = EncodeConfig("chexzero", EmbedderFamily.CLIP, {**CLIP.settings, "image_mode": "grey"})


@pytest.fixture
def second_clip_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENCODE_CONFIGS", {**ENCODE_CONFIGS, EmbedderFamily.CLIP: (CLIP, CHEXZERO)})


def test_a_digest_is_that_of_the_content() -> None:
    config = EncodeConfig("plain", EmbedderFamily.CLIP, {"pixels": 3, "crop": True})
    text = '{"family":"clip","name":"plain","settings":{"crop":true,"pixels":3}}'
    assert config.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_a_config_is_frozen() -> None:
    settings: dict[str, str | int | float | bool] = {"pixels": 3}
    config = EncodeConfig("plain", EmbedderFamily.CLIP, settings)
    settings["pixels"] = 4
    assert config.whole("pixels") == 3
    with pytest.raises(TypeError):
        config.settings["pixels"] = 4
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.name = "other"


def test_settings_of_another_kind_are_a_mistake() -> None:
    config = EncodeConfig("plain", EmbedderFamily.CLIP, {"pixels": 3, "crop": True, "resize": "pillow"})
    assert config.text("resize") == "pillow"
    for key in ("crop", "resize"):
        with pytest.raises(TypeError, match=f"clip/plain: {key}"):
            config.whole(key)
    with pytest.raises(TypeError, match="pixels is 3"):
        config.text("pixels")


def test_a_description_adds_what_the_repository_decides_and_hides_nothing() -> None:
    config = EncodeConfig("plain", EmbedderFamily.CLIP, {"pixels": 3})
    assert config.described(dtype="float32") == {"name": "plain", "pixels": 3, "dtype": "float32"}
    for name in ("pixels", "name"):
        with pytest.raises(ValueError, match="both a setting and derived"):
            config.described(**{name: 4})


def test_every_family_has_configs_of_its_own_with_distinct_names_and_digests() -> None:
    assert list(ENCODE_CONFIGS) == list(EmbedderFamily)
    for family, configs in ENCODE_CONFIGS.items():
        assert configs
        assert {config.family for config in configs} == {family}
        assert len({config.name for config in configs}) == len(configs)
    digests = [config.sha256 for configs in ENCODE_CONFIGS.values() for config in configs]
    assert len(set(digests)) == len(digests)


@pytest.mark.usefixtures("second_clip_config")
def test_a_config_is_found_by_name_and_digest_and_the_first_is_the_default() -> None:
    assert encode_config(EmbedderFamily.CLIP) is CLIP
    assert encode_config(EmbedderFamily.CLIP, "chexzero") is CHEXZERO
    assert encode_config_by_sha256(EmbedderFamily.CLIP, "") is CLIP
    assert encode_config_by_sha256(EmbedderFamily.CLIP, CHEXZERO.sha256) is CHEXZERO
    with pytest.raises(ModelUnsupported, match="'biovil'; choose from default, chexzero"):
        encode_config(EmbedderFamily.CLIP, "biovil")
    with pytest.raises(ModelUnsupported, match="0000 any more"):
        encode_config_by_sha256(EmbedderFamily.CLIP, "0" * 64)


@pytest.mark.usefixtures("second_clip_config")
def test_a_converted_folder_is_encoded_as_its_system_is(clip_folder: Path, tmp_path: Path) -> None:
    assert default_encode_config(EmbedderFamily.CLIP, {"system": "chexzero"}) is CHEXZERO
    for system in ("pubmedclip", ["chexzero"], None):
        assert default_encode_config(EmbedderFamily.CLIP, {"system": system}) is CLIP
    folder = shutil.copytree(clip_folder, tmp_path / "converted")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "system": "chexzero"}))
    assert load_embedder(folder).description.encode_config["name"] == "chexzero"
    assert load_embedder(folder, encode_config="default").description.encode_config["name"] == "default"


def test_a_loaded_model_tells_its_config_and_what_its_repository_decides(clip_folder: Path) -> None:
    derived = {"name": "default", "max_text_tokens": 77, "dtype": "float32"}
    assert load_embedder(clip_folder).description.encode_config == {**CLIP.settings, **derived}


def test_a_gpu_computes_in_the_configs_number_type_and_a_cpu_in_float32() -> None:
    for device in ("cpu", "cpu:0"):
        assert compute_dtype(device, CLIP) is torch.float32
    assert compute_dtype("cuda:1", CLIP) is torch.bfloat16
    assert compute_dtype("cuda", encode_config(EmbedderFamily.SENTENCE_TRANSFORMERS)) is torch.float32
    assert dtype_name(torch.bfloat16) == "bfloat16"


@pytest.mark.usefixtures("second_clip_config")
def test_a_run_is_encoded_as_asked_and_says_so(clip_folder: Path, tmp_path: Path) -> None:
    build_demo(tmp_path / "suite")
    results = {}
    for name in ("", "chexzero"):
        arguments = ["--model", str(clip_folder), "--suite", str(tmp_path / "suite"), "--tasks", "DemoGlossary_qa"]
        arguments += ["--out", str(tmp_path / f"{name}.json")] + (["--encode-config", name] if name else [])
        done = CliRunner().invoke(app, ["run", *arguments], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        results[name] = read_result(tmp_path / f"{name}.json").model
    assert [model.description.encode_config["name"] for model in results.values()] == ["default", "chexzero"]
    assert len({model.encode_config_sha256 for model in results.values()}) == 2
    for model in ("chance", str(clip_folder)):
        wrong = ["run", "--model", model, "--suite", str(tmp_path / "suite"), "--out", str(tmp_path / "o.json")]
        refused = CliRunner().invoke(app, [*wrong, "--encode-config", "nothing"])
        assert isinstance(refused.exception, ModelUnsupported)
