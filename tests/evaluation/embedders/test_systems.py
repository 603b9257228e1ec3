"""The table of known systems: complete, read strictly, and in accord with what can be loaded and converted."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation.conversion.registry import CONVERSIONS
from evaluation.embedders.encode_config import default_encode_config
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.registry import load_embedder
from evaluation.embedders.systems import SYSTEMS_FILE, known_systems
from evaluation.errors import SystemsInvalid
from evaluation.vocabulary import EmbedderFamily


def changed(tmp_path: Path, change: Any) -> Path:
    entries = yaml.safe_load(SYSTEMS_FILE.read_text(encoding="utf-8"))[:2]
    file = tmp_path / "systems.yaml"
    file.write_text(yaml.safe_dump(change(entries)), encoding="utf-8")
    return file


def test_every_system_of_the_two_papers_is_in_the_table() -> None:
    titles = " ".join(system.title for system in known_systems())
    for name in (
        *("CLIP ViT-B/32", "SigLIP", "MedSigLIP", "BLIP-2", "MedImageInsight", "VLM2Vec-V2.0", "RzenEmbed"),
        *("Qwen3-VL-Embedding 2B", "Qwen3-VL-Embedding 8B", "MedEmb 2B", "MedEmb 8B", "BiomedCLIP", "PubMedCLIP"),
        *("BioViL", "BioViL-T", "MedCLIP", "CheXzero", "MERLIN", "PMC-CLIP", "UniMed-CLIP"),
    ):
        assert name in titles, name


def test_every_family_but_those_of_this_program_has_a_system() -> None:
    own = {EmbedderFamily.LITE_DUAL, EmbedderFamily.CHANCE}
    assert {system.family for system in known_systems()} == set(EmbedderFamily) - own


def test_the_table_and_the_command_know_the_same_conversions() -> None:
    for system in known_systems():
        assert (system.conversion is not None) == (system.weights in ("pickle", "safetensors under another name"))
    named = [system.conversion for system in known_systems() if system.conversion]
    assert sorted(named) == sorted(conversion.system for conversion in CONVERSIONS)


def test_a_converted_folder_is_encoded_as_the_table_says() -> None:
    for system in known_systems():
        if system.conversion:
            config = default_encode_config(system.family, {"system": system.conversion})
            assert config.name == system.encode_config


def test_the_figures_of_the_packaged_model_are_its_own() -> None:
    (minilm,) = (system for system in known_systems() if system.family is EmbedderFamily.SENTENCE_TRANSFORMERS)
    description = load_embedder(minilm_folder()).description
    assert (minilm.dimension, minilm.parameters) == (description.dimension, description.parameters)
    assert minilm.context_tokens == description.encode_config["max_text_tokens"]
    assert minilm.embeds == description.kinds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda entries: {"systems": entries}, "list of systems"),
        (lambda entries: [*entries, entries[0]], "openai/clip-vit-base-patch32 stands twice"),
        (lambda entries: [entries[0], {**entries[1], "score": 1}], "entry 2: .*unknown: score"),
        (
            lambda entries: [{key: entries[0][key] for key in entries[0] if key != "source"}],
            "missing or unknown: source",
        ),
        (lambda _: ["clip"], "entry 1"),
        (lambda entries: [{**entries[0], "family": "resnet"}], "'resnet' is no family"),
        (lambda entries: [{**entries[0], "family": ["clip"]}], "is no family"),
        (lambda entries: [{**entries[0], "encode_config": "other"}], "no encode config 'other'"),
        (lambda entries: [{**entries[0], "dimension": None}], "dimension is None"),
        (lambda entries: [{**entries[0], "dimension": 0}], "dimension is 0"),
        (lambda entries: [{**entries[0], "dimension": True}], "dimension is True"),
        (lambda entries: [{**entries[0], "parameters": "many"}], "parameters is 'many'"),
        (lambda entries: [{**entries[0], "source": ""}], "source is ''"),
        (lambda entries: [{**entries[0], "embeds": ["image", "text"]}], "in this order"),
        (lambda entries: [{**entries[0], "embeds": ["smell"]}], "in this order"),
    ],
)
def test_the_reader_is_strict(tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(SystemsInvalid, match=message):
        known_systems(changed(tmp_path, change))


@pytest.mark.parametrize("content", [b"- id: [", b"\xff"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.yaml").write_bytes(content)
    with pytest.raises(SystemsInvalid, match=r"broken\.yaml"):
        known_systems(tmp_path / "broken.yaml")
