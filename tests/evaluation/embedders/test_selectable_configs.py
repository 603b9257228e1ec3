"""Every config that can be asked for, and what a model embeds that is encoded so, known before it is loaded."""

from pathlib import Path

import pytest

from evaluation.embedders.encode_config import (
    ENCODE_CONFIGS,
    encode_config,
    encode_config_by_sha256,
    kinds_of_config,
    number_type,
    selectable_configs,
)
from evaluation.embedders.registry import load_embedder
from evaluation.embedders.tiny import write_tiny_clip
from evaluation.vocabulary import EmbedderFamily, InputKind

ALL = tuple(InputKind)


@pytest.mark.parametrize("family", EmbedderFamily)
def test_registered_configs_come_first_and_those_in_bfloat16_once_more(family: EmbedderFamily) -> None:
    registered, found = ENCODE_CONFIGS[family], selectable_configs(family)
    assert found[: len(registered)] == registered
    shorter = [config for config in registered if number_type(config) == "bfloat16"]
    assert [config.name for config in found[len(registered) :]] == [f"{config.name}-float32" for config in shorter]
    for config, variant in zip(shorter, found[len(registered) :], strict=True):
        assert number_type(variant) == "float32"
        assert {**variant.settings, "gpu_dtype": "bfloat16"} == dict(config.settings)
        assert encode_config(family, variant.name) == variant
        assert encode_config_by_sha256(family, variant.sha256) == variant
    assert len({config.sha256 for config in found}) == len(found)


@pytest.mark.parametrize(
    ("family", "name", "kinds"),
    [
        (EmbedderFamily.SENTENCE_TRANSFORMERS, "", (InputKind.TEXT,)),
        (EmbedderFamily.MERLIN, "", (InputKind.TEXT, InputKind.VOLUME)),
        (EmbedderFamily.MERLIN, "image-features", (InputKind.VOLUME,)),
        (EmbedderFamily.MERLIN, "image-features-float32", (InputKind.VOLUME,)),
        (EmbedderFamily.SIGLIP, "letters-as-given", ALL),
        (EmbedderFamily.QWEN3_VL, "", ALL),
    ],
)
def test_what_a_config_reads(family: EmbedderFamily, name: str, kinds: tuple[InputKind, ...]) -> None:
    assert kinds_of_config(encode_config(family, name)) == kinds


@pytest.mark.parametrize("name", ["default", "default-float32", "chexzero-float32"])
def test_a_loaded_model_says_the_same(tmp_path: Path, name: str) -> None:
    write_tiny_clip(tmp_path / "clip", seed=1)
    described = load_embedder(tmp_path / "clip", encode_config=name).description
    config = encode_config(EmbedderFamily.CLIP, name)
    assert described.kinds == kinds_of_config(config)
    assert described.encode_config["name"] == name
    assert described.encode_config["gpu_dtype"] == number_type(config)
