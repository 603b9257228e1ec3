"""Preflight reports over real HTTP: every kind of problem, all together, in time and without weights."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from evaluation.repositories import inspection
from leaderboard.ports import PreflightReport, model_hub
from tests.workers.hub_helpers import CARD, CLIP_CONFIG, RequestLog, clip_files, weights, write_repository
from workers.hub import HuggingFaceHub, preflight
from workers.local_hub.server import LocalHub

ADAPTER_CONFIG = {"peft_type": "LORA", "base_model_name_or_path": "demo/qwen", "r": 4}


@pytest.fixture
def site(hub: LocalHub) -> HuggingFaceHub:
    return HuggingFaceHub(endpoint=hub.endpoint, token="")


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def codes(report: PreflightReport) -> list[tuple[str, str]]:
    return sorted((problem.code, problem.field) for problem in report.problems)


def adapter_files(**changed: object) -> dict[str, bytes]:
    return {"adapter_config.json": as_json(ADAPTER_CONFIG | changed), "adapter_model.safetensors": weights()}


def test_a_good_repository_passes_with_its_facts(hub_root: Path, site: HuggingFaceHub) -> None:
    files = clip_files({"onnx/config.json": b"{}", "notes.pdf": b"x" * 999})
    write_repository(hub_root, "demo/clip", files)
    report = site.preflight(repo_id="demo/clip")
    assert report.passed, report.problems
    assert len(report.commit) == 40
    assert (report.repo_id, report.family, report.architecture) == ("demo/clip", "clip", "CLIPModel")
    assert report.parameters == 3 * 4 + 5
    assert report.size_bytes == sum(len(content) for content in clip_files().values())
    assert report.licence == "apache-2.0"
    assert not report.gated
    assert site.preflight(repo_id="demo/clip", revision="main") == report
    assert site.preflight(repo_id="demo/clip", revision=report.commit) == report


def test_the_site_finds_this_hub_through_its_settings(hub_root: Path, hub: LocalHub, settings: Any) -> None:
    settings.MODEL_HUB_BACKEND = "workers.hub.HuggingFaceHub"
    settings.HUB_ENDPOINT = hub.endpoint
    settings.HUB_TOKEN = "reader"
    write_repository(hub_root, "demo/private", clip_files(), private=True, readers=["reader"])
    assert model_hub().preflight(repo_id="demo/private").passed


def test_an_adapter_passes_with_its_base(hub_root: Path, site: HuggingFaceHub) -> None:
    qwen = as_json({"model_type": "qwen3_vl", "architectures": ["Qwen3VLForConditionalGeneration"]})
    write_repository(hub_root, "demo/qwen", clip_files({"config.json": qwen}))
    write_repository(hub_root, "demo/lora", adapter_files())
    report = site.preflight(repo_id="demo/qwen", adapter_repo_id="demo/lora", adapter_revision="main")
    assert report.passed, report.problems
    assert report.family == "qwen3_vl"
    assert report.adapter_repo_id == "demo/lora"
    assert len(report.adapter_commit) == 40
    assert report.adapter_commit != report.commit
    base = site.preflight(repo_id="demo/qwen")
    assert report.size_bytes == base.size_bytes + sum(map(len, adapter_files().values()))


@pytest.mark.parametrize("base", ["demo/qwen", "DEMO/Qwen", "/data/models/qwen", "./qwen"])
def test_an_adapter_may_name_its_base_by_id_or_by_the_folder_of_its_training(
    hub_root: Path, site: HuggingFaceHub, base: str
) -> None:
    write_repository(hub_root, "demo/qwen", clip_files({"config.json": b'{"model_type": "qwen3_vl"}'}))
    write_repository(hub_root, "demo/lora", adapter_files(base_model_name_or_path=base))
    assert site.preflight(repo_id="demo/qwen", adapter_repo_id="demo/lora").passed


@pytest.mark.parametrize("base", ["other/qwen", "demo/qwen-large", "/data/models/other", "", None, 7])
def test_an_adapter_of_another_base_is_refused(hub_root: Path, site: HuggingFaceHub, base: object) -> None:
    write_repository(hub_root, "demo/qwen", clip_files({"config.json": b'{"model_type": "qwen3_vl"}'}))
    write_repository(hub_root, "demo/lora", adapter_files(base_model_name_or_path=base))
    report = site.preflight(repo_id="demo/qwen", adapter_repo_id="demo/lora")
    assert codes(report) == [("adapter_mismatch", "adapter_repo_id")]


def test_a_family_without_adapters_refuses_one(hub_root: Path, site: HuggingFaceHub) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    write_repository(hub_root, "demo/lora", adapter_files(base_model_name_or_path="demo/clip"))
    report = site.preflight(repo_id="demo/clip", adapter_repo_id="demo/lora")
    assert codes(report) == [("model_unsupported", "adapter_repo_id")]


MODEL_PROBLEMS = {
    "no config": ({"config.json": None}, {"model_invalid"}),
    "config is not JSON": ({"config.json": b"{"}, {"model_invalid"}),
    "config is a list": ({"config.json": b"[]"}, {"model_invalid"}),
    "modules is an object": ({"modules.json": b"{}"}, {"model_invalid"}),
    "unknown family": ({"config.json": as_json({"model_type": "resnet"})}, {"model_unsupported"}),
    "model type is no name": ({"config.json": as_json({"model_type": ["clip"]})}, {"model_unsupported"}),
    "only pickled weights": ({"model.safetensors": None, "pytorch_model.bin": b"x"}, {"weights_pickled"}),
    "no weights": ({"model.safetensors": None}, {"model_invalid"}),
    "weights of an unused name": ({"model.safetensors": None, "best.safetensors": weights()}, {"model_invalid"}),
    "own code": ({"config.json": as_json(CLIP_CONFIG | {"auto_map": {"AutoModel": "code.M"}})}, {"own_code"}),
    "own code for the tokenizer": (
        {"tokenizer_config.json": as_json({"auto_map": {"AutoTokenizer": ["code.T", None]}})},
        {"own_code"},
    ),
    "own attention": (
        {"config.json": as_json(CLIP_CONFIG | {"_attn_implementation_internal": "someone/kernel"})},
        {"attention_unknown"},
    ),
    "modules with code": (
        {"modules.json": as_json([{"idx": 0, "name": "0", "path": "", "type": "custom.Module"}])},
        {"own_modules"},
    ),
    "weights are cut": ({"model.safetensors": weights()[:30]}, {"weights_damaged"}),
    "weights are empty": ({"model.safetensors": b""}, {"weights_damaged"}),
    "header claims too much": (
        {
            "model.safetensors": len(
                header := as_json({"w": {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4]}})
            ).to_bytes(8, "little")
            + header
            + b"0000"
        },
        {"weights_damaged"},
    ),
    "header is a list": ({"model.safetensors": (2).to_bytes(8, "little") + b"[]"}, {"weights_damaged"}),
    "an adapter as the model": (
        {"config.json": None, "model.safetensors": None} | adapter_files(),
        {"model_unsupported"},
    ),
}


@pytest.mark.parametrize(("changed", "expected"), MODEL_PROBLEMS.values(), ids=MODEL_PROBLEMS.keys())
def test_each_problem_of_a_model_has_its_code_and_field(
    hub_root: Path, site: HuggingFaceHub, changed: dict[str, bytes | None], expected: set[str]
) -> None:
    write_repository(hub_root, "demo/clip", clip_files(changed))
    report = site.preflight(repo_id="demo/clip")
    assert {problem.code for problem in report.problems} == expected
    assert {problem.field for problem in report.problems} == {"repo_id"}
    assert not any(problem.passing for problem in report.problems)
    assert len(report.commit) == 40


ADAPTER_PROBLEMS = {
    "no adapter config": ({"config.json": b"{}"}, {"model_invalid"}),
    "not LoRA": (adapter_files(peft_type="IA3"), {"model_unsupported"}),
    "pickled": ({"adapter_config.json": as_json(ADAPTER_CONFIG), "adapter_model.bin": b"x"}, {"weights_pickled"}),
    "own code": (adapter_files(auto_mapping={"parent_library": "code"}), {"own_code"}),
    "config is not JSON": (adapter_files() | {"adapter_config.json": b"{"}, {"model_invalid"}),
}


@pytest.mark.parametrize(("files", "expected"), ADAPTER_PROBLEMS.values(), ids=ADAPTER_PROBLEMS.keys())
def test_each_problem_of_an_adapter_has_its_code_and_field(
    hub_root: Path, site: HuggingFaceHub, files: dict[str, bytes], expected: set[str]
) -> None:
    write_repository(hub_root, "demo/qwen", clip_files({"config.json": b'{"model_type": "qwen3_vl"}'}))
    write_repository(hub_root, "demo/lora", files)
    report = site.preflight(repo_id="demo/qwen", adapter_repo_id="demo/lora")
    assert {problem.code for problem in report.problems} == expected
    assert {problem.field for problem in report.problems} == {"adapter_repo_id"}


def test_problems_of_model_and_adapter_are_reported_together(hub_root: Path, hub: LocalHub) -> None:
    own_code = as_json(CLIP_CONFIG | {"auto_map": {"AutoModel": "code.M"}, "model_type": "unheard-of"})
    changed = {"config.json": own_code, "model.safetensors": None, "pytorch_model.bin": b"x", "README.md": b"y" * 5000}
    write_repository(hub_root, "demo/bad", clip_files(changed))
    write_repository(hub_root, "demo/lora", adapter_files(peft_type="IA3"))
    site = HuggingFaceHub(endpoint=hub.endpoint, max_bytes=4000)
    report = site.preflight(repo_id="demo/bad", adapter_repo_id="demo/lora", adapter_revision="v9")
    assert codes(report) == [
        ("model_too_large", "repo_id"),
        ("model_unsupported", "repo_id"),
        ("own_code", "repo_id"),
        ("revision_missing", "adapter_revision"),
        ("weights_pickled", "repo_id"),
    ]
    assert all(problem.message.endswith(".") for problem in report.problems)


@pytest.mark.parametrize(
    "repo_id", ["", "clip", "a/b/c", "demo/cl ip", "../clip", "demo/..", "demo/a--b", "https://hub.example/demo/clip"]
)
def test_an_id_that_cannot_be_one_is_refused_without_a_request(
    site: HuggingFaceHub, request_log: RequestLog, repo_id: str
) -> None:
    report = site.preflight(repo_id=repo_id, revision="-x y", adapter_repo_id="?", adapter_revision="../..")
    assert codes(report) == [
        ("repo_id_invalid", "adapter_repo_id"),
        ("repo_id_invalid", "repo_id"),
        ("revision_invalid", "adapter_revision"),
        ("revision_invalid", "revision"),
    ]
    assert request_log.requests == []


def test_an_adapter_revision_needs_an_adapter(hub_root: Path, site: HuggingFaceHub) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    report = site.preflight(repo_id="demo/clip", adapter_revision="main")
    assert codes(report) == [("repo_id_invalid", "adapter_repo_id")]


def test_missing_and_private_repositories_and_revisions(hub_root: Path, site: HuggingFaceHub) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    write_repository(hub_root, "demo/private", clip_files(), private=True)
    assert codes(site.preflight(repo_id="demo/none")) == [("repository_missing", "repo_id")]
    assert codes(site.preflight(repo_id="demo/private")) == [("repository_missing", "repo_id")]
    assert codes(site.preflight(repo_id="demo/clip", revision="v9")) == [("revision_missing", "revision")]
    both = site.preflight(repo_id="demo/none", adapter_repo_id="demo/nor-this")
    assert codes(both) == [("repository_missing", "adapter_repo_id"), ("repository_missing", "repo_id")]


@pytest.mark.parametrize("token", ["", "stranger"])
def test_a_gated_repository_is_refused_with_what_can_be_seen(hub_root: Path, hub: LocalHub, token: str) -> None:
    changed = {"pytorch_model.bin": b"x", "model.safetensors": None}
    write_repository(hub_root, "demo/gated", clip_files(changed), gated="manual", readers=["reader"])
    report = HuggingFaceHub(endpoint=hub.endpoint, token=token).preflight(repo_id="demo/gated")
    assert codes(report) == [("repository_gated", "repo_id")]
    assert report.gated
    assert len(report.commit) == 40
    assert report.licence == "apache-2.0"


def test_a_gated_repository_that_let_the_site_in_passes(hub_root: Path, hub: LocalHub) -> None:
    write_repository(hub_root, "demo/gated", clip_files(), gated="manual", readers=["reader"])
    report = HuggingFaceHub(endpoint=hub.endpoint, token="reader").preflight(repo_id="demo/gated")
    assert report.passed
    assert report.gated


def test_a_token_of_the_machine_is_never_sent(hub_root: Path, hub: LocalHub) -> None:
    write_repository(hub_root, "demo/gated", clip_files(), gated="manual", readers=["machine-token"])
    Path(constants.HF_TOKEN_PATH).parent.mkdir(parents=True)
    Path(constants.HF_TOKEN_PATH).write_text("machine-token")
    report = HuggingFaceHub(endpoint=hub.endpoint).preflight(repo_id="demo/gated")
    assert codes(report) == [("repository_gated", "repo_id")]


def test_no_weights_are_downloaded(hub_root: Path, site: HuggingFaceHub, request_log: RequestLog) -> None:
    shards = {f"model-0000{number}-of-00003.safetensors": weights(rows=1000, columns=500) for number in (1, 2, 3)}
    write_repository(hub_root, "demo/sharded", clip_files({"model.safetensors": None} | shards))
    report = site.preflight(repo_id="demo/sharded")
    assert report.passed, report.problems
    assert report.parameters == 3 * 500_005
    assert report.size_bytes > 6_000_000
    assert request_log.sent < 3 * 100_001 + 10_000
    assert not Path(constants.HF_HUB_CACHE).exists()


def test_weights_stored_twice_are_counted_once(hub_root: Path, site: HuggingFaceHub) -> None:
    again = {"model-00001-of-00001.safetensors": weights(), "other.safetensors": weights()}
    write_repository(hub_root, "demo/twice", clip_files(again))
    assert site.preflight(repo_id="demo/twice").parameters == 17


def test_a_text_model_counts_the_weights_of_its_modules(hub_root: Path, site: HuggingFaceHub) -> None:
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Dense", "type": "sentence_transformers.models.Dense"},
    ]
    files = clip_files({"config.json": as_json({"model_type": "bert", "architectures": ["BertModel"]})})
    files |= {"modules.json": as_json(modules), "1_Dense/model.safetensors": weights(), "1_Dense/config.json": b"{}"}
    write_repository(hub_root, "demo/text", files)
    report = site.preflight(repo_id="demo/text")
    assert report.passed, report.problems
    assert (report.family, report.architecture, report.parameters) == ("sentence_transformers", "BertModel", 34)


@pytest.mark.parametrize(
    ("front_matter", "licence"),
    [
        ("license: mit", "mit"),
        ("license: other\nlicense_name: own-terms", "own-terms"),
        ("license: other", "other"),
        ("license:\n- mit\n- cc-by-4.0", "mit, cc-by-4.0"),
        ("tags: [x]", ""),
    ],
)
def test_licence_is_read_from_the_card(hub_root: Path, site: HuggingFaceHub, front_matter: str, licence: str) -> None:
    card = CARD.replace("license: apache-2.0", front_matter) if "tags" not in front_matter else "no card"
    write_repository(hub_root, "demo/clip", clip_files({"README.md": card.encode()}))
    assert site.preflight(repo_id="demo/clip").licence == licence


def test_a_hub_that_is_down_is_one_passing_problem(closed_endpoint: str) -> None:
    started = time.monotonic()
    report = HuggingFaceHub(endpoint=closed_endpoint).preflight(repo_id="demo/clip", adapter_repo_id="demo/lora")
    assert time.monotonic() - started < 5
    assert [(problem.code, problem.passing) for problem in report.problems] == [("hub_unavailable", True)]
    assert (report.commit, report.parameters, report.size_bytes) == ("", None, None)


def test_a_hub_that_never_answers_is_given_up_in_time(silent_endpoint: str) -> None:
    started = time.monotonic()
    report = HuggingFaceHub(endpoint=silent_endpoint).preflight(repo_id="demo/clip", adapter_repo_id="demo/lora")
    assert time.monotonic() - started < 5
    assert [(problem.code, problem.passing) for problem in report.problems] == [("hub_unavailable", True)]


def test_a_hub_that_trickles_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    class Trickle(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            while not ended.wait(0.05):
                self.wfile.write(b" ")

        def log_message(self, *args: object) -> None:
            pass

    monkeypatch.setattr(preflight, "SECONDS", 0.5)
    with ThreadingHTTPServer(("127.0.0.1", 0), Trickle) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        started = time.monotonic()
        site = HuggingFaceHub(endpoint=f"http://127.0.0.1:{server.server_address[1]}")
        report = site.preflight(repo_id="demo/clip")
        elapsed = time.monotonic() - started
        ended.set()
        server.shutdown()
        thread.join()
    assert elapsed < 2
    assert codes(report) == [("hub_unavailable", "repo_id")]


def test_a_fault_of_ours_is_a_problem_and_in_the_log(
    hub_root: Path, site: HuggingFaceHub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write_repository(hub_root, "demo/clip", clip_files())

    def broken(*_: object) -> None:
        raise IndexError

    monkeypatch.setattr(inspection, "family_of_config", broken)
    assert codes(site.preflight(repo_id="demo/clip")) == [("check_failed", "repo_id")]
    assert "IndexError" in caplog.text


class _FixedAnswer(BaseHTTPRequestHandler):
    answer = (200, b"", {})

    def do_GET(self) -> None:
        status, body, headers = self.answer
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def answering(status: int, body: bytes, headers: dict[str, str]) -> Iterator[str]:
    handler = type("Handler", (_FixedAnswer,), {"answer": (status, body, headers)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "body", "headers", "code", "passing"),
    [
        (500, b"oops", {}, "hub_unavailable", True),
        (503, b"", {}, "hub_unavailable", True),
        (429, b"", {"Retry-After": "60"}, "hub_unavailable", True),
        (401, b"", {"X-Error-Message": "Invalid credentials in Authorization header"}, "hub_unavailable", True),
        (200, b"<html>Please sign in</html>", {}, "hub_unavailable", True),
        (200, b"[1, 2]", {}, "hub_unavailable", True),
        (200, b'{"id": "demo/clip"}', {}, "hub_unavailable", True),
        (200, b'{"id": "demo/clip", "sha": "main"}', {}, "hub_unavailable", True),
        (403, b"", {}, "repository_forbidden", False),
        (403, b"", {"X-Error-Message": "Access to this resource is disabled."}, "repository_forbidden", False),
    ],
)
def test_answers_of_a_troubled_hub(
    *, status: int, body: bytes, headers: dict[str, str], code: str, passing: bool
) -> None:
    with answering(status, body, headers) as endpoint:
        report = HuggingFaceHub(endpoint=endpoint, token="x").preflight(repo_id="demo/clip")
    assert [(problem.code, problem.passing) for problem in report.problems] == [(code, passing)]
