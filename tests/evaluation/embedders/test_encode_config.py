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

# Results name their config by its digest and queued runs ask for it by the same. Where one changes on purpose, give the
# changed config a new name, and put the digest here that this test prints.
PINNED = {
    "clip/default": "ac517a926b77580fd6f560358bbec754c2a00b32448e8aed9aade3861045d3b5",
    "clip/chexzero": "76dcd96ec4cef4d8e17ddd5799557578dff8bdc546dd3c84392d2a1d27b4e977",
    "siglip/default": "b89f83601384775c7edbfa7d015771d6236a6127a5008510682a185a5df855fa",
    "siglip/letters-as-given": "1aa7bbb3231e6b5fed2b9bda7ff2f21f5a08f0c9107542bbd1507e8ef4442077",
    "blip2/mean-of-queries": "993c465e7914282f5251ae9386ace58dfda02c1655193a9f3a893644140fc4f4",
    "qwen3_vl/default": "c58310d9ed3b71efb0289dac91e96d6bd19868ffbd9bb44844b38e9822b5a99e",
    "qwen3_vl/slices-as-images": "b5c5ccfad60ece431f6621856f6c9ae7c24ae7f74384f360a141a8d4f732e63f",
    "qwen2_vl/default": "6ee6fce3980a536b69497f1505148103be1ae58c232833684c9ab8d4966c60f3",
    "qwen2_vl/medheb-release": "5305a71c4c6fda5f8ae20efb090cedd967af989db01920e3fd444ea8f109a5dc",
    "rzen_embed/default": "b8e43673437bef5900f2a700db456df613a14104265291c752334d508a7f432d",
    "open_clip/default": "a6835ddbf817579e85edc753247d06b914f36985137b33d8f71e73471b37dae4",
    "medimageinsight/default": "e8e21b440c79daf3331ed96d426b3f0121cb3133e42e721d960973ee851f6ce9",
    "biovil/default": "f5b8d611d8279cd2812425921365503a277b680b95aab76e4304012ed98ff816",
    "medclip/default": "877978cfb3cb288d65e2d828f10c4fe8925adcbb23d47f43f4c469c24e1b0450",
    "merlin/default": "02e68a4090fb59b368a3d2b88450168e225cf9078d5b7546e25119dddbc499cd",
    "merlin/image-features": "5937d30e014fc72f47f92d01dc54bf96558b40f3e3216ba61faac139b89d9158",
    "merlin/astra-ct": "a6e8c1f3d001882aff78ea33fa08cfec9ca2ab84afd8fa1b0945d5983ee2e584",
    "pmc_clip/default": "3cd4f01669348ec2e7fc3910cc4b4d16082c7b05698fcc02114de07955d65991",
    "unimed_clip/default": "f62e614f6374c7d7ade6bfe01908d336d1616f1f8a9bcabd457e5652958adfaf",
    "sentence_transformers/default": "ab09ef4c6be40aa76985f2b8c70975977525e0c3eaf291bdff23ba5c129805a2",
    "lite_dual/default": "a45f259ea6f468efe2978f56aedcdc37169a35d3566580cc8138025f9c816954",
    "chance/default": "28a95f91ddcd6b59e04ab6eb6267cc359b0e486a266521cc9871aa8e5e97458e",
}


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


def test_no_config_changes_under_its_name() -> None:
    found = {f"{family}/{one.name}": one.sha256 for family, configs in ENCODE_CONFIGS.items() for one in configs}
    assert found == PINNED


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
