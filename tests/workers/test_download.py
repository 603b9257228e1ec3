"""Downloads over real HTTP: what is fetched, what is not, and what is refused before or after."""

import json
from pathlib import Path

import pytest

from evaluation.errors import ErrorKind, EvaluationError, ModelInvalid, ModelUnsafe, ModelUnsupported
from evaluation.hub.errors import DownloadFailed, HubUnavailable, RepositoryGated, RevisionMissing
from tests.workers.hub_helpers import CLIP_CONFIG, RequestLog, clip_files, weights, write_repository
from workers.hub import HuggingFaceHub
from workers.hub.errors import ModelTooLarge
from workers.local_hub.server import LocalHub

UNWANTED = {
    "modeling.py": b"raise SystemExit",
    "pytorch_model.bin": b"pickle",
    "model.onnx": b"x",
    "extra/config.json": b"{}",
    "run.sh": b"",
    "other.safetensors": b"x",
}


@pytest.fixture
def site(hub: LocalHub) -> HuggingFaceHub:
    return HuggingFaceHub(endpoint=hub.endpoint)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def commit_of(site: HuggingFaceHub, repo_id: str) -> str:
    return site.preflight(repo_id=repo_id).commit


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_only_allowed_files_arrive_with_equal_bytes(hub_root: Path, site: HuggingFaceHub, cache: Path) -> None:
    files = clip_files({"model.safetensors": weights(rows=500, columns=999), "odd [name]*.txt": b"odd"})
    write_repository(hub_root, "demo/clip", files | UNWANTED)
    folder = site.download(repo_id="demo/clip", commit=commit_of(site, "demo/clip"), cache_folder=cache)
    assert content_of(folder) == files
    assert cache in folder.parents


def test_a_second_download_fetches_no_weights(
    hub_root: Path, site: HuggingFaceHub, cache: Path, request_log: RequestLog
) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    commit = commit_of(site, "demo/clip")
    first = site.download(repo_id="demo/clip", commit=commit, cache_folder=cache)
    whole = [request for request in request_log.gets("model.safetensors") if request.sent == len(weights())]
    request_log.requests.clear()
    assert site.download(repo_id="demo/clip", commit=commit, cache_folder=cache) == first
    assert whole
    assert all(request.sent < 100_002 for request in request_log.gets("model.safetensors"))
    assert not [request for request in request_log.requests if request.method == "HEAD"]


def test_the_commit_asked_for_is_what_arrives_after_main_moved(
    hub_root: Path, site: HuggingFaceHub, cache: Path
) -> None:
    older = "ab" * 20
    kept = {f".revisions/{older}/{path}": content for path, content in clip_files({"old.txt": b"old"}).items()}
    write_repository(hub_root, "demo/clip", clip_files({"new.txt": b"new"}) | kept)
    folder = site.download(repo_id="demo/clip", commit=older, cache_folder=cache)
    assert "old.txt" in content_of(folder)
    assert "new.txt" not in content_of(folder)


def test_a_branch_or_unknown_commit_is_refused(hub_root: Path, site: HuggingFaceHub, cache: Path) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    for commit in ("main", "f" * 40):
        with pytest.raises(RevisionMissing):
            site.download(repo_id="demo/clip", commit=commit, cache_folder=cache)
    assert not cache.exists()


def test_an_adapter_is_downloaded_by_itself(hub_root: Path, site: HuggingFaceHub, cache: Path) -> None:
    files = {
        "adapter_config.json": json.dumps({"peft_type": "LORA", "base_model_name_or_path": "demo/clip"}).encode(),
        "adapter_model.safetensors": weights(),
    }
    write_repository(hub_root, "demo/clip", clip_files())
    write_repository(hub_root, "demo/lora", files)
    report = site.preflight(repo_id="demo/clip", adapter_repo_id="demo/lora")
    folder = site.download_adapter(repo_id="demo/lora", commit=report.adapter_commit, cache_folder=cache)
    assert content_of(folder) == files
    with pytest.raises(ModelUnsupported):
        site.download(repo_id="demo/lora", commit=report.adapter_commit, cache_folder=cache)
    with pytest.raises(ModelInvalid):
        site.download_adapter(repo_id="demo/clip", commit=report.commit, cache_folder=cache)


REFUSED = {
    "pickle": ({"model.safetensors": None, "pytorch_model.bin": b"x"}, ModelUnsafe),
    "own code": ({"config.json": json.dumps(CLIP_CONFIG | {"auto_map": {"A": "b.C"}}).encode()}, ModelUnsafe),
    "modules with code": ({"modules.json": b'[{"path": "", "type": "evil.Module"}]'}, ModelUnsafe),
    "modules outside": (
        {"modules.json": b'[{"path": "../up", "type": "sentence_transformers.models.Dense"}]'},
        ModelUnsafe,
    ),
    "unknown family": ({"config.json": b'{"model_type": "resnet"}'}, ModelUnsupported),
    "damaged weights": ({"model.safetensors": weights()[:20]}, ModelInvalid),
    "unsafe beside damaged": (
        {"model.safetensors": weights()[:20], "tokenizer_config.json": b'{"auto_map": {"A": "b.C"}}'},
        ModelUnsafe,
    ),
}


@pytest.mark.parametrize(("changed", "kind"), REFUSED.values(), ids=REFUSED.keys())
def test_a_malicious_or_broken_repository_is_refused_before_any_download(
    hub_root: Path, site: HuggingFaceHub, cache: Path, changed: dict[str, bytes | None], kind: type[EvaluationError]
) -> None:
    write_repository(hub_root, "demo/bad", clip_files(changed))
    with pytest.raises(kind) as caught:
        site.download(repo_id="demo/bad", commit=commit_of(site, "demo/bad"), cache_folder=cache)
    assert caught.value.kind is ErrorKind.MODEL
    assert not cache.exists()


def test_code_below_a_module_is_refused_after_the_download(hub_root: Path, site: HuggingFaceHub, cache: Path) -> None:
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    files = clip_files({"config.json": b'{"model_type": "bert"}', "modules.json": json.dumps(modules).encode()})
    files["1_Pooling/config.json"] = b'{"auto_map": {"A": "b.C"}}'
    write_repository(hub_root, "demo/bad", files)
    with pytest.raises(ModelUnsafe):
        site.download(repo_id="demo/bad", commit=commit_of(site, "demo/bad"), cache_folder=cache)


def test_a_repository_over_the_limit_is_refused_before_any_download(hub_root: Path, hub: LocalHub, cache: Path) -> None:
    files = clip_files({"model.safetensors": weights(rows=100, columns=100)})
    write_repository(hub_root, "demo/large", files)
    total = sum(map(len, files.values()))
    commit = commit_of(HuggingFaceHub(endpoint=hub.endpoint), "demo/large")
    with pytest.raises(ModelTooLarge) as caught:
        HuggingFaceHub(endpoint=hub.endpoint, max_bytes=total - 1).download(
            repo_id="demo/large", commit=commit, cache_folder=cache
        )
    assert caught.value.kind is ErrorKind.LIMIT
    assert not cache.exists()
    at_limit = HuggingFaceHub(endpoint=hub.endpoint, max_bytes=total)
    assert at_limit.download(repo_id="demo/large", commit=commit, cache_folder=cache).is_dir()


def test_a_gated_repository_needs_a_reader(hub_root: Path, hub: LocalHub, cache: Path) -> None:
    write_repository(hub_root, "demo/gated", clip_files(), gated="manual", readers=["reader"])
    reader = HuggingFaceHub(endpoint=hub.endpoint, token="reader")
    commit = commit_of(reader, "demo/gated")
    with pytest.raises(RepositoryGated) as caught:
        HuggingFaceHub(endpoint=hub.endpoint).download(repo_id="demo/gated", commit=commit, cache_folder=cache)
    assert caught.value.kind is ErrorKind.MODEL
    assert content_of(reader.download(repo_id="demo/gated", commit=commit, cache_folder=cache)) == clip_files()


def test_a_hub_that_is_down_can_be_tried_again(closed_endpoint: str, cache: Path) -> None:
    with pytest.raises(HubUnavailable) as caught:
        HuggingFaceHub(endpoint=closed_endpoint).download(repo_id="demo/clip", commit="a" * 40, cache_folder=cache)
    assert caught.value.kind is ErrorKind.INFRASTRUCTURE


def test_a_file_damaged_in_the_cache_is_found(hub_root: Path, site: HuggingFaceHub, cache: Path) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    commit = commit_of(site, "demo/clip")
    folder = site.download(repo_id="demo/clip", commit=commit, cache_folder=cache)
    (folder / "model.safetensors").resolve().write_bytes(b"cut")
    with pytest.raises(DownloadFailed, match="damaged") as caught:
        site.download(repo_id="demo/clip", commit=commit, cache_folder=cache)
    assert caught.value.kind is ErrorKind.INFRASTRUCTURE
