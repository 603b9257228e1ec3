"""Every kind of unsafe repository is refused with a code of its own, on the hub and in a folder, before weights load."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evaluation.embedders import registry
from evaluation.embedders.registry import check_folder_safety, load_embedder
from evaluation.errors import ErrorKind, EvaluationError, LinkOutside, ModelUnsafe
from tests.workers.hub_helpers import CLIP_CONFIG, RequestLog, clip_files, weights, write_repository
from workers.hub import HuggingFaceHub
from workers.local_hub.server import LocalHub

INDEX = "model.safetensors.index.json"
SHARD = "model-00001-of-00001.safetensors"


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def config(**changed: Any) -> dict[str, bytes]:
    return {"config.json": as_json(CLIP_CONFIG | changed)}


def template(text: str) -> dict[str, bytes]:
    return {"tokenizer_config.json": as_json({"chat_template": text})}


def sharded(place: str) -> dict[str, bytes | None]:
    return {"model.safetensors": None, SHARD: weights(), INDEX: as_json({"weight_map": {"layer.weight": place}})}


def with_header(entries: object, data: bytes = b"") -> dict[str, bytes]:
    header = entries if isinstance(entries, bytes) else as_json(entries)
    return {"model.safetensors": len(header).to_bytes(8, "little") + header + data}


def tensor(start: int, end: int, shape: list[Any], dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


UNSAFE: dict[str, tuple[dict[str, Any], str]] = {
    "pickles only": ({"model.safetensors": None, "pytorch_model.bin": b"x"}, "weights_pickled"),
    "code for the model": (config(auto_map={"AutoModel": "code.M"}), "own_code"),
    "code for a part": (config(text_config={"auto_map": {"AutoConfig": "code.C"}}), "own_code"),
    "trust": ({"tokenizer_config.json": as_json({"trust_remote_code": True})}, "own_code"),
    "modules with code": ({"modules.json": as_json([{"path": "", "type": "evil.Module"}])}, "own_modules"),
    "attention from a kernel": (config(attn_implementation="someone/kernel"), "attention_unknown"),
    "attention inside": (config(_attn_implementation_internal="someone/kernel"), "attention_unknown"),
    "a huge template": (template("x" * 100_001), "template_unsafe"),
    "a huge template file": ({"chat_template.jinja": b"x" * 100_001}, "template_unsafe"),
    "a template that counts for ever": (template("{% for i in range(99999999) %}x{% endfor %}"), "template_unsafe"),
    "counting within counting": (
        template(
            "{% for i in range(9999) %}{% for j in range(9999) %}{% for k in range(9999) %}x{% endfor %}{% endfor %}{% endfor %}"
        ),
        "template_unsafe",
    ),
    "a loop that calls itself": (
        {
            "chat_template.jinja": b"{% for m in messages recursive %}{{ loop(messages) }}{{ loop(messages) }}{% endfor %}"
        },
        "template_unsafe",
    ),
    "a power": (template("{{ 10 ** 10 ** 10 }}"), "template_unsafe"),
    "a long repetition": (template("{{ 'x' * 999999999 }}"), "template_unsafe"),
    "a template in a list": (
        {"tokenizer_config.json": as_json({"chat_template": [{"name": "tools", "template": "{% include 'x' %}"}]})},
        "template_unsafe",
    ),
    "a template that is none": ({"chat_template.json": as_json({"chat_template": "{% for %}"})}, "template_unsafe"),
    "an index to the folder above": (sharded("../../secret.safetensors"), "path_outside"),
    "an index to a fixed place": (sharded("/etc/secret.safetensors"), "path_outside"),
    "an index to another system's place": (sharded("C:\\secret.safetensors"), "path_outside"),
    "an index to a folder below": (sharded("below/model.safetensors"), "path_outside"),
    "an index to nothing": (sharded("model-00002-of-00002.safetensors"), "model_invalid"),
    "an index to a pickle": (sharded("pytorch_model.bin") | {"pytorch_model.bin": b"x"}, "model_invalid"),
    "an index of another form": (sharded(SHARD) | {INDEX: b"[]"}, "model_invalid"),
    "modules outside": (
        {"modules.json": as_json([{"path": "../up", "type": "sentence_transformers.models.Dense"}])},
        "path_outside",
    ),
    "cut weights": ({"model.safetensors": weights()[:-1]}, "weights_damaged"),
    "weights with more behind": ({"model.safetensors": weights() + b"x"}, "weights_damaged"),
    "an empty file": ({"model.safetensors": b""}, "weights_damaged"),
    "a header beyond the end": ({"model.safetensors": (5_000).to_bytes(8, "little") + b"{}"}, "weights_damaged"),
    "a shape that does not fit": (with_header({"w": tensor(0, 4, [10**12])}, b"0000"), "weights_damaged"),
    "a negative size": (with_header({"w": tensor(0, 4, [-1, -1])}, b"0000"), "weights_damaged"),
    "tensors that share bytes": (
        with_header({"v": tensor(0, 4, [1]), "w": tensor(0, 4, [1])}, b"0000"),
        "weights_damaged",
    ),
    "a gap between tensors": (with_header({"w": tensor(4, 8, [1])}, b"00000000"), "weights_damaged"),
    "an unknown number type": (with_header({"w": tensor(0, 4, [1], "OBJECT")}, b"0000"), "weights_damaged"),
    "a name twice": (
        with_header(b'{"w":' + as_json(tensor(0, 4, [1])) + b',"w":' + as_json(tensor(0, 4, [1])) + b"}", b"0000"),
        "weights_damaged",
    ),
    "a deep header": (with_header(b"[" * 100_000), "weights_damaged"),
    "a header that fills the memory": (
        {"model.safetensors": (10**15).to_bytes(8, "little") + b"{}"},
        "header_too_large",
    ),
    "a thousand million layers": (config(text_config={"num_hidden_layers": 10**9}), "sizes_implausible"),
    "layers in a list": (config(vision_config={"depths": [2, 10**9]}), "sizes_implausible"),
    "a wide layer": (config(text_config={"hidden_size": 10**9}), "sizes_implausible"),
    "many words": (config(text_config={"vocab_size": 900_000, "hidden_size": 900_000}), "sizes_implausible"),
    "many wide layers": (
        config(text_config={"num_hidden_layers": 900, "hidden_size": 900_000, "intermediate_size": 4}),
        "sizes_implausible",
    ),
}


@pytest.fixture
def site(hub: LocalHub) -> HuggingFaceHub:
    return HuggingFaceHub(endpoint=hub.endpoint, token="")


@pytest.mark.parametrize(("changed", "code"), UNSAFE.values(), ids=UNSAFE.keys())
def test_it_is_refused_on_the_hub_without_its_weights(
    hub_root: Path, site: HuggingFaceHub, request_log: RequestLog, changed: dict[str, bytes | None], code: str
) -> None:
    write_repository(hub_root, "demo/bad", clip_files(changed))
    report = site.preflight(repo_id="demo/bad")
    assert {problem.code for problem in report.problems} == {code}
    for problem in report.problems:
        assert problem.field == "repo_id"
        assert problem.message.endswith(".")
        assert len(problem.message) < 400
    assert all(request.status in (200, 206) for request in request_log.requests)


@pytest.mark.parametrize(("changed", "code"), UNSAFE.values(), ids=UNSAFE.keys())
def test_it_is_refused_in_a_folder_before_a_loader_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, bytes | None], code: str
) -> None:
    monkeypatch.setattr(registry, "import_module", lambda name: pytest.fail(f"{name} was asked to load it"))
    folder = write_repository(tmp_path, "demo/bad", clip_files(changed))
    with pytest.raises(EvaluationError) as refused:
        load_embedder(folder)
    assert refused.value.code == code
    assert refused.value.kind is ErrorKind.MODEL
    assert refused.value.message.endswith(".")


def test_every_reason_has_a_code_of_its_own() -> None:
    kinds = [ModelUnsafe, *ModelUnsafe.__subclasses__()]
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert {kind.code for kind in ModelUnsafe.__subclasses__()} - {code for _, code in UNSAFE.values()} == {
        "link_outside"
    }


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling"])
def test_links_out_of_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    folder = write_repository(tmp_path, "demo/clip", clip_files())
    (folder / name).unlink(missing_ok=True)
    (tmp_path / "secret").mkdir()
    (folder / name).symlink_to(tmp_path / "secret")
    with pytest.raises(LinkOutside, match=name) as refused:
        load_embedder(folder)
    assert refused.value.code == "link_outside"


def test_a_link_to_nothing_outside_is_refused_too(tmp_path: Path) -> None:
    folder = write_repository(tmp_path, "demo/clip", clip_files())
    (folder / "more.txt").symlink_to("../../../nothing")
    with pytest.raises(LinkOutside):
        check_folder_safety(folder)


def test_the_links_of_the_download_cache_are_its_own(tmp_path: Path) -> None:
    snapshot = tmp_path / "models--demo--clip" / "snapshots" / ("a" * 40)
    blobs = tmp_path / "models--demo--clip" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, (name, content) in enumerate(clip_files().items()):
        (blobs / str(number)).write_bytes(content)
        (snapshot / name).symlink_to(os.path.relpath(blobs / str(number), snapshot))
    check_folder_safety(snapshot)
    (snapshot / "README.md").unlink()
    (snapshot / "README.md").symlink_to("../../../models--other--private/blobs/0")
    with pytest.raises(LinkOutside):
        check_folder_safety(snapshot)


HONEST: dict[str, dict[str, Any]] = {
    "a template over messages": template(
        "{% for message in messages %}{% for part in message.content %}{{ part.text }}{% endfor %}{% endfor %}"
        "{% for i in range(messages|length - 1) %}{{ '-' * 40 }}{% endfor %}{% break_ %}".replace("{% break_ %}", "")
    ),
    "a template with marks for training": template(
        "{% generation %}{{ x }}{% endgeneration %}{% for m in n %}{% break %}{% endfor %}"
    ),
    "shards with their index": sharded(SHARD),
    "known attention": config(attn_implementation="sdpa", _attn_implementation="eager"),
    "a table of positions and marks": config(
        max_position_embeddings=32_768, rope_theta=5_000_000, image_token_id=151_655
    ),
    "long texts": {"tokenizer_config.json": as_json({"model_max_length": 10**30})},
    "an empty tensor": with_header(
        {"__metadata__": {"format": "pt"}, "a": tensor(0, 0, [0, 7]), "w": tensor(0, 4, [1])}, b"0000"
    ),
}


@pytest.mark.parametrize("changed", HONEST.values(), ids=HONEST.keys())
def test_honest_repositories_pass(
    hub_root: Path, site: HuggingFaceHub, tmp_path: Path, changed: dict[str, bytes | None]
) -> None:
    write_repository(hub_root, "demo/good", clip_files(changed))
    assert site.preflight(repo_id="demo/good").problems == ()
    check_folder_safety(write_repository(tmp_path / "other", "demo/good", clip_files(changed)))


def test_a_long_header_takes_two_requests_and_is_counted_whole(
    hub_root: Path, site: HuggingFaceHub, request_log: RequestLog
) -> None:
    entries = {f"layer.{number:05}": tensor(number, number + 1, [1], "U8") for number in range(4_000)}
    write_repository(hub_root, "demo/long", clip_files(with_header(entries, b"0" * 4_000)))
    report = site.preflight(repo_id="demo/long")
    assert report.problems == ()
    assert report.parameters == 4_000
    assert [request.status for request in request_log.gets("model.safetensors")] == [206, 206]
