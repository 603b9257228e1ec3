"""What the hub's side offers to the site besides preflight's findings, over real HTTP: ways to encode, and lines."""

import json
from pathlib import Path

import pytest

from evaluation.embedders.encode_config import encode_config
from evaluation.vocabulary import EmbedderFamily
from leaderboard.ports import FoundLine, PreflightProblem
from tests.workers.hub_helpers import clip_files, write_repository
from workers.hub import HuggingFaceHub
from workers.hub.encode_choices import encode_choices
from workers.local_hub.server import LocalHub

FILES = ("medboard.txt", "README.md")
LINE = "medboard-owner: abc"


@pytest.fixture
def site(hub: LocalHub) -> HuggingFaceHub:
    return HuggingFaceHub(endpoint=hub.endpoint, token="")


def test_preflight_offers_the_familys_configs_the_default_first(hub_root: Path, site: HuggingFaceHub) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    report = site.preflight(repo_id="demo/clip")
    found = [(one.name, one.number_type, one.sha256) for one in report.encode_configs]
    other = {name: encode_config(EmbedderFamily.CLIP, name).sha256 for name, _, _ in found[1:]}
    assert found == [
        ("default", "bfloat16", ""),
        ("chexzero", "bfloat16", other["chexzero"]),
        ("default-float32", "float32", other["default-float32"]),
        ("chexzero-float32", "float32", other["chexzero-float32"]),
    ]
    assert report.encode_configs[2].differences == ("gpu dtype: float32",)
    assert set(report.encode_configs[0].reads) == {"text", "image", "images", "volume"}


def test_where_the_family_is_not_known_nothing_is_offered(hub_root: Path, site: HuggingFaceHub) -> None:
    config = json.dumps({"model_type": "mystery"}).encode()
    write_repository(hub_root, "demo/odd", clip_files({"config.json": config}))
    assert site.preflight(repo_id="demo/odd").encode_configs == ()


def test_a_systems_own_config_is_the_default_and_two_names_for_one_are_offered_once() -> None:
    found = encode_choices(EmbedderFamily.MERLIN, {"system": "astra-ct"})
    assert [(one.name, one.sha256 == "") for one in found][:2] == [("astra-ct", True), ("default", False)]
    assert found[0].reads == ("volume",)
    assert "image-features" not in [one.name for one in found]
    assert "text: lower case, words and signs apart; first token, projected, unit length" in found[1].differences


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("medboard.txt", LINE),
        ("medboard.txt", f"first\r\n   {LINE}  \r\nlast"),
        ("README.md", f"---\nlicense: mit\n---\n# Model\n<!-- {LINE} -->\n"),
        ("README.md", f"text\n<!--{LINE}-->"),
    ],
)
def test_a_line_is_found_alone_or_as_a_comment(hub_root: Path, site: HuggingFaceHub, name: str, content: str) -> None:
    write_repository(hub_root, "demo/clip", clip_files({name: content.encode()}))
    commit = site.preflight(repo_id="demo/clip").commit
    assert site.find_line(repo_id="demo/clip", line=LINE, files=FILES) == FoundLine(name, commit)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("medboard.txt", f"x {LINE}"),
        ("medboard.txt", f"{LINE}d"),
        ("medboard.txt", LINE.upper()),
        ("notes/medboard.txt", LINE),
        ("other.txt", LINE),
        ("README.md", f"`{LINE}`"),
    ],
)
def test_part_of_a_line_or_another_file_is_no_proof(
    hub_root: Path, site: HuggingFaceHub, name: str, content: str
) -> None:
    write_repository(hub_root, "demo/clip", clip_files({name: content.encode()}))
    assert site.find_line(repo_id="demo/clip", line=LINE, files=FILES) is None


@pytest.mark.parametrize(
    ("repo_id", "content", "code"),
    [("demo/nobody", b"", "repository_missing"), ("demo/clip", b"\xff\xfe\x00", "model_invalid"), ("demo/clip", b"a" * 10_000_001, "model_invalid")],
)  # fmt: skip
def test_what_cannot_be_read_is_told(
    hub_root: Path, site: HuggingFaceHub, repo_id: str, content: bytes, code: str
) -> None:
    write_repository(hub_root, "demo/clip", clip_files({"medboard.txt": content}))
    found = site.find_line(repo_id=repo_id, line=LINE, files=FILES)
    assert isinstance(found, PreflightProblem)
    assert found.code == code


def test_a_silent_hub_can_pass() -> None:
    found = HuggingFaceHub(endpoint="http://127.0.0.1:9", token="").find_line(repo_id="a/b", line=LINE, files=FILES)
    assert isinstance(found, PreflightProblem)
    assert found.passing
