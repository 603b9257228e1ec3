"""Repositories in their authors' layouts, from the hub's listing to the vector."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluation.decoding import decode
from evaluation.embedders.registry import load_embedder
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.layouts import write_adapter, write_blip2, write_qwen2_vl
from tests.evaluation.embedders.siglip_layouts import write_siglip, write_siglip2_of_native_resolution
from workers.hub import HuggingFaceHub
from workers.local_hub.server import running_hub

BATCH = [decode(EmbeddingInput(text=text)) for text in ("a nodule", "No effusion")]

REPOSITORIES: dict[str, tuple[EmbedderFamily, Callable[[Path], None]]] = {
    "Salesforce/blip2-itm-vit-g": (EmbedderFamily.BLIP2, lambda folder: write_blip2(folder, 1, image_token=True)),
    "google/medsiglip-448": (EmbedderFamily.SIGLIP, lambda folder: write_siglip(folder, 1, text_tokens=64, pixels=64)),
    "google/siglip2-base-patch16-naflex": (
        EmbedderFamily.SIGLIP,
        lambda folder: write_siglip2_of_native_resolution(folder, 1),
    ),
    "qihoo360/RzenEmbed": (
        EmbedderFamily.RZEN_EMBED,
        lambda folder: write_qwen2_vl(folder, 1, name="qihoo360/RzenEmbed", tied=False),
    ),
}


@pytest.mark.parametrize("repo_id", REPOSITORIES)
def test_a_repository_is_checked_fetched_and_loaded(hub_root: Path, tmp_path: Path, repo_id: str) -> None:
    family, write = REPOSITORIES[repo_id]
    write(hub_root / repo_id)
    with running_hub(hub_root) as hub:
        site = HuggingFaceHub(endpoint=hub.endpoint)
        report = site.preflight(repo_id=repo_id)
        assert report.problems == ()
        folder = site.download(repo_id=repo_id, commit=report.commit, cache_folder=tmp_path / "cache")
    embedder = load_embedder(folder)
    assert embedder.description.family is family
    assert np.array_equal(embedder.embed(BATCH), load_embedder(hub_root / repo_id).embed(BATCH))


def test_a_base_and_its_adapter_in_an_old_layout_are_checked_fetched_and_loaded(hub_root: Path, tmp_path: Path) -> None:
    base, adapter = "Qwen/Qwen2-VL-2B-Instruct", "someone/VLM2Vec-V2.0-safetensors"
    write_qwen2_vl(hub_root / base, 1)
    write_adapter(hub_root / adapter, hub_root / base, 2, dora=True)
    with running_hub(hub_root) as hub:
        site = HuggingFaceHub(endpoint=hub.endpoint)
        report = site.preflight(repo_id=base, adapter_repo_id=adapter)
        assert report.problems == ()
        cache = tmp_path / "cache"
        folder = site.download(repo_id=base, commit=report.commit, cache_folder=cache)
        added = site.download_adapter(repo_id=adapter, commit=report.adapter_commit, cache_folder=cache)
    embedder = load_embedder(folder, adapter_folder=added)
    assert embedder.description.family is EmbedderFamily.QWEN2_VL
    expected = load_embedder(hub_root / base, adapter_folder=hub_root / adapter).embed(BATCH)
    assert np.array_equal(embedder.embed(BATCH), expected)
    assert np.abs(expected - load_embedder(folder).embed(BATCH)).max() > 0.01
