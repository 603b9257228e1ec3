"""Converting a pickled CLIP in the official layout, and everything that is refused."""

import hashlib
import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from transformers import AutoTokenizer, CLIPConfig, CLIPImageProcessor, CLIPModel
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.conversion.conversion import Conversion, FileFormat
from evaluation.conversion.registry import CONVERSIONS, find_conversion
from evaluation.conversion.writing import convert_file
from evaluation.decoding import decode
from evaluation.embedders import tiny
from evaluation.embedders.registry import load_embedder
from evaluation.errors import ConversionRefused, ModelUnsafe, ModelUnsupported
from evaluation.inputs import EmbeddingInput

PUBMEDCLIP = replace(find_conversion("pubmedclip"), pinned={})


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer of 258 words, the last two of which are the marks."""
    folder = tmp_path_factory.mktemp("clip")
    tiny.write_tiny_clip(folder, 1)
    return folder


@pytest.fixture(scope="module")
def official() -> CLIPModel:
    """The architecture of the official repository, small: heads of width 64, 77 positions, patches of 32 pixels."""
    torch.manual_seed(5)
    tower = {"hidden_size": 128, "intermediate_size": 160, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = {**tower, "vocab_size": 258, "max_position_embeddings": 77, "eos_token_id": 257, "bos_token_id": 256}
    vision = {**tower, "patch_size": 32, "image_size": 224}
    return CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=24)).eval()


@pytest.fixture
def checkpoint(official: CLIPModel, tmp_path: Path) -> Path:
    """Older releases of transformers stored the numbers of the positions too."""
    state = dict(official.state_dict())
    state["text_model.embeddings.position_ids"] = torch.arange(77)[None]
    state["vision_model.embeddings.position_ids"] = torch.arange(50)[None]
    return saved(state, tmp_path / "pytorch_model.bin")


def saved(content: Any, path: Path) -> Path:
    torch.save(content, path)
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def converted(file: Path, tokenizer: Path | None, conversion: Conversion = PUBMEDCLIP) -> Path:
    out = file.parent / "out"
    convert_file(conversion, file=file, sha256=digest(file), out=out, tokenizer=tokenizer)
    return out


def test_a_converted_folder_embeds_as_the_official_model(
    official: CLIPModel, checkpoint: Path, tokenizer: Path, tmp_path: Path
) -> None:
    folder = converted(checkpoint, tokenizer)
    image = Image.fromarray(np.random.default_rng(2).integers(0, 256, (300, 260, 3), dtype=np.uint8))
    image.save(tmp_path / "image.png")
    embedder = load_embedder(folder)
    rows = embedder.embed(
        [decode(EmbeddingInput(text="a nodule")), decode(EmbeddingInput(images=(tmp_path / "image.png",)))]
    )
    tokens = AutoTokenizer.from_pretrained(tokenizer)(["a nodule"], return_tensors="pt")
    pixels = CLIPImageProcessor()(image, return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        expected = [
            official.get_text_features(**tokens).pooler_output[0].numpy(),
            official.get_image_features(pixels).pooler_output[0].numpy(),
        ]
    for row, wanted in zip(rows, expected, strict=True):
        assert row @ wanted / np.linalg.norm(row) / np.linalg.norm(wanted) > 1 - 1e-5


def test_a_converted_folder_says_where_it_comes_from(checkpoint: Path, tokenizer: Path) -> None:
    config = json.loads((converted(checkpoint, tokenizer) / "config.json").read_text())
    assert config["system"] == "pubmedclip"
    assert config["converted_from"] == {"file": "pytorch_model.bin", "sha256": digest(checkpoint)}


def test_the_same_file_gives_the_same_bytes(checkpoint: Path, tokenizer: Path, tmp_path: Path) -> None:
    first = converted(checkpoint, tokenizer)
    convert_file(PUBMEDCLIP, file=checkpoint, sha256=digest(checkpoint), out=tmp_path / "again", tokenizer=tokenizer)
    files = {path.name: path.read_bytes() for path in first.iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == files


class Runs:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str, ...]]:
        return Path.touch, (self.path,)


def test_a_pickle_that_runs_code_is_refused_and_does_not_run_it(tokenizer: Path, tmp_path: Path) -> None:
    file, trace = tmp_path / "pytorch_model.bin", tmp_path / "trace"
    saved({"weight": torch.ones(1), "code": Runs(trace)}, file)
    with pytest.raises(ConversionRefused, match="tensors only"):
        converted(file, tokenizer)
    file.write_bytes(pickle.dumps(Runs(trace)))
    with pytest.raises(ConversionRefused, match="tensors only"):
        converted(file, tokenizer)
    assert not trace.exists()


def test_another_digest_is_refused_before_the_file_is_interpreted(
    checkpoint: Path, tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("the file was read"))
    with pytest.raises(ConversionRefused, match="download it again"):
        convert_file(PUBMEDCLIP, file=checkpoint, sha256="0" * 64, out=tmp_path / "out", tokenizer=tokenizer)
    assert not (tmp_path / "out").exists()


def change_missing(state: dict[str, Any]) -> None:
    del state["visual_projection.weight"]


def change_surplus(state: dict[str, Any]) -> None:
    state["backdoor.weight"] = torch.ones(2)


def change_shape(state: dict[str, Any]) -> None:
    state["visual_projection.weight"] = torch.ones(24, 127)


def change_kind(state: dict[str, Any]) -> None:
    state["epoch"] = 3


def change_all(state: dict[str, Any]) -> None:
    state.clear()


def change_layers(state: dict[str, Any]) -> None:
    for name in [name for name in state if ".layers.0." in name]:
        del state[name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_missing, r"lacks visual_projection\.weight"),
        (change_surplus, r"holds backdoor\.weight, which"),
        (change_shape, r"visual_projection\.weight has the shape \(24, 127\); \(24, 128\) is needed"),
        (change_kind, "'epoch', which is no tensor"),
        (change_all, "no tensors by name"),
        (change_layers, r"lacks .*layers\.0"),
    ],
)
def test_every_key_and_shape_is_checked(
    official: CLIPModel, tokenizer: Path, tmp_path: Path, change: Any, message: str
) -> None:
    state: dict[str, Any] = dict(official.state_dict())
    change(state)
    file = saved(state, tmp_path / "pytorch_model.bin")
    with pytest.raises(ConversionRefused, match=message):
        converted(file, tokenizer)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]  # nothing half written is left


def test_a_small_look_alike_is_not_the_official_architecture(checkpoint: Path, tokenizer: Path) -> None:
    with pytest.raises(ConversionRefused, match=r"\(258, 128\); \(49408, 512\) is needed"):
        converted(checkpoint, tokenizer, find_conversion("pubmedclip"))


def test_names_digest_form_folder_and_tokenizer_are_checked_first(
    checkpoint: Path, tokenizer: Path, tmp_path: Path
) -> None:
    right: dict[str, Any] = {
        "file": checkpoint,
        "sha256": digest(checkpoint),
        "out": tmp_path / "o",
        "tokenizer": tokenizer,
    }
    (tmp_path / "full").mkdir()
    (tmp_path / "best.pt").touch()
    for wrong, message in (
        ({"file": tmp_path / "best.pt"}, "official file of pubmedclip"),
        ({"sha256": "ABC"}, "64 hexadecimal digits"),
        ({"out": tmp_path / "full"}, "exists already"),
        ({"tokenizer": None}, "flaviagiammarino/pubmed-clip"),
        ({"tokenizer": tmp_path / "full"}, r"none of tokenizer\.json"),
    ):
        with pytest.raises(ConversionRefused, match=message):
            convert_file(PUBMEDCLIP, **{**right, **wrong})
    with pytest.raises(ConversionRefused, match="takes no --tokenizer"):
        convert_file(replace(PUBMEDCLIP, tokenizer_source=""), **right)
    with pytest.raises(ConversionRefused, match="cannot be read"):
        convert_file(PUBMEDCLIP, **{**right, "file": tmp_path / "none" / "pytorch_model.bin"})


def test_a_tokenizer_that_asks_for_code_is_refused(checkpoint: Path, tokenizer: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tokenizer, tmp_path / "tokenizer")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**settings, "auto_map": {"AutoTokenizer": ["x.Y", None]}})
    )
    with pytest.raises(ModelUnsafe, match="auto_map"):
        converted(checkpoint, folder)
    assert not (tmp_path / "out").exists()


def test_tensors_may_lie_deeper_and_a_file_may_be_safetensors_in_disguise(
    official: CLIPModel, tokenizer: Path, tmp_path: Path
) -> None:
    for name in ("deep", "plain"):
        (tmp_path / name).mkdir()
    state = {name: tensor.clone() for name, tensor in official.state_dict().items()}
    deep = saved({"epoch": 2, "state_dict": state}, tmp_path / "deep" / "pytorch_model.bin")
    expected = converted(deep, tokenizer, replace(PUBMEDCLIP, state_path=("state_dict",)))
    with pytest.raises(ConversionRefused, match="at model"):
        convert_file(
            replace(PUBMEDCLIP, state_path=("model",)),
            file=deep,
            sha256=digest(deep),
            out=tmp_path / "out",
            tokenizer=tokenizer,
        )
    disguised = shutil.copy(expected / "model.safetensors", tmp_path / "plain" / "pytorch_model.bin")
    found = converted(Path(disguised), tokenizer, replace(PUBMEDCLIP, file_format=FileFormat.SAFETENSORS))
    with safe_open(found / "model.safetensors", framework="pt") as weights:
        assert sorted(weights.keys()) == sorted(state)


def test_the_command_converts_nothing_that_it_does_not_know(checkpoint: Path, tokenizer: Path, tmp_path: Path) -> None:
    arguments = ["--file", str(checkpoint), "--sha256", digest(checkpoint), "--out", str(tmp_path / "out")]
    unknown = CliRunner().invoke(app, ["convert", "resnet", *arguments])
    assert isinstance(unknown.exception, ModelUnsupported)
    small = CliRunner().invoke(app, ["convert", "pubmedclip", *arguments, "--tokenizer", str(tokenizer)])
    assert isinstance(small.exception, ConversionRefused)


def test_every_conversion_has_a_function_and_a_name_of_its_own() -> None:
    assert len({conversion.system for conversion in CONVERSIONS}) == len(CONVERSIONS)
    for conversion in CONVERSIONS:
        with pytest.raises(ConversionRefused):
            conversion.convert({})
