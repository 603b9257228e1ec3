"""The demo hub: built whole or not at all, and every repository of it goes the way of a submission."""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluation.embedders.protocol import DecodedInput
from evaluation.embedders.registry import load_embedder
from evaluation.inputs import EmbeddingInput
from evaluation.suites.demo.suite import build_demo
from workers import demo_hub
from workers.demo_hub import DemoHubError, build_demo_hub
from workers.hub import HuggingFaceHub
from workers.local_hub.server import running_hub

TRAINING_FILES = ("DemoAbdomen.jsonl", "DemoReports.jsonl")
TRAINING_RECORDS = 12


@pytest.fixture(scope="module")
def demo_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo suite with a short train split, so that training takes seconds."""
    folder = tmp_path_factory.mktemp("demo") / "suite"
    build_demo(folder)
    for path in folder.glob("Train_Data/*.jsonl"):
        if path.name not in TRAINING_FILES:
            path.unlink()
            continue
        with path.open(encoding="utf-8") as stream:
            head = list(itertools.islice(stream, TRAINING_RECORDS))
        path.write_text("".join(head), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def demo_root(demo_suite: Path) -> Iterator[Path]:
    root = demo_suite.parent / "hub"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    build_demo_hub(root, demo_suite)
    torch.set_num_threads(threads)
    yield root
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def endpoint(demo_root: Path) -> Iterator[str]:
    with running_hub(demo_root) as hub:
        yield hub.endpoint


@pytest.mark.parametrize(
    ("name", "adapter", "family", "licence"),
    [
        ("clip-tiny", "", "clip", "cc0-1.0"),
        ("siglip-tiny", "", "siglip", "cc0-1.0"),
        ("qwen3-vl-tiny", "", "qwen3_vl", "cc0-1.0"),
        ("qwen3-vl-tiny", "qwen3-vl-tiny-lora", "qwen3_vl", "cc0-1.0"),
        ("lite-dual", "", "lite_dual", "apache-2.0"),
        ("minilm", "", "sentence_transformers", "apache-2.0"),
        ("chance", "", "chance", "cc0-1.0"),
    ],
)
def test_a_demo_repository_passes_downloads_loads_and_embeds(
    endpoint: str, tmp_path: Path, *, name: str, adapter: str, family: str, licence: str
) -> None:
    hub = HuggingFaceHub(endpoint=endpoint)
    adapter_id = f"demo/{adapter}" if adapter else ""
    report = hub.preflight(repo_id=f"demo/{name}", adapter_repo_id=adapter_id)
    assert report.passed, report.problems
    assert (report.family, report.licence) == (family, licence)
    folder = hub.download(repo_id=report.repo_id, commit=report.commit, cache_folder=tmp_path / "cache")
    adapter_folder = None
    if adapter:
        adapter_folder = hub.download_adapter(
            repo_id=report.adapter_repo_id, commit=report.adapter_commit, cache_folder=tmp_path / "cache"
        )
    embedder = load_embedder(folder, adapter_folder=adapter_folder)
    vectors = embedder.embed([DecodedInput(EmbeddingInput(text="left lower lobe"))])
    assert vectors.shape == (1, embedder.description.dimension)
    assert np.isfinite(vectors).all()


def test_the_gated_repository_is_refused(endpoint: str) -> None:
    report = HuggingFaceHub(endpoint=endpoint).preflight(repo_id="demo/gated-tiny")
    assert [problem.code for problem in report.problems] == ["repository_gated"]
    assert report.gated


def test_cards_say_that_random_weights_have_learned_nothing(demo_root: Path) -> None:
    cards = {path.parent.name: path.read_text(encoding="utf-8") for path in demo_root.glob("demo/*/README.md")}
    assert len(cards) == 8
    for name in cards.keys() - {"minilm", "lite-dual"}:
        assert "random weights" in cards[name]
        assert "- random-weights" in cards[name]
    assert "synthetic" in cards["lite-dual"]


def small_repositories(folder: Path, demo_suite: Path) -> None:
    (folder / "one").mkdir(parents=True)
    (folder / "one" / "config.json").write_text("{}")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    (folder / "Train_Data").mkdir(parents=True)
    (folder / "suite.json").write_text("{}")
    (folder / "Train_Data" / "pairs.jsonl").write_text("{}\n")
    return folder


def test_a_whole_hub_is_kept_and_one_of_another_suite_is_built_anew(
    tmp_path: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_hub, "_write_repositories", small_repositories)
    root = tmp_path / "hub"
    build_demo_hub(root, suite)
    (root / "demo" / "one" / "kept.txt").write_text("")
    build_demo_hub(root, suite)
    assert (root / "demo" / "one" / "kept.txt").exists()
    (suite / "Train_Data" / "pairs.jsonl").write_text("{}\n{}\n")
    build_demo_hub(root, suite)
    assert not (root / "demo" / "one" / "kept.txt").exists()
    assert (root / "demo" / "one" / "config.json").exists()


def test_an_interrupted_build_leaves_no_root_and_the_next_starts_afresh(
    tmp_path: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(folder: Path, demo_suite: Path) -> None:
        (folder / "half").mkdir(parents=True)
        raise KeyboardInterrupt

    root = tmp_path / "hub"
    monkeypatch.setattr(demo_hub, "_write_repositories", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_demo_hub(root, suite)
    assert not root.exists()
    monkeypatch.setattr(demo_hub, "_write_repositories", small_repositories)
    build_demo_hub(root, suite)
    assert [path.name for path in (root / "demo").iterdir()] == ["one"]
    assert not list(tmp_path.glob("*.partial"))


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, suite: Path) -> None:
    root = tmp_path / "hub"
    root.mkdir()
    (root / "thesis.txt").write_text("precious")
    with pytest.raises(DemoHubError, match="not a demo hub"):
        build_demo_hub(root, suite)
    assert (root / "thesis.txt").read_text() == "precious"
