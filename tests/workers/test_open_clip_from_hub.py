"""Repositories in open_clip's layout, from the hub's listing to the vector."""

import json
from pathlib import Path

import numpy as np
import torch

from evaluation.decoding import decode
from evaluation.embedders.registry import load_embedder
from evaluation.errors import PicklesOnly
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.official_networks import write_word_pieces
from tests.evaluation.embedders.test_open_clip import (
    WORDS,
    biomedclip_config,
    biomedclip_state,
    save_repository,
)
from workers.hub import HuggingFaceHub
from workers.local_hub.server import running_hub

BATCH = [decode(EmbeddingInput(text=text)) for text in ("no opacity", "Effusion")]
REPOSITORY = "someone/BiomedCLIP-safetensors"


def write(folder: Path, tokenizer: Path) -> None:
    save_repository(folder, biomedclip_state(), biomedclip_config(), write_word_pieces(tokenizer, WORDS))


def test_a_repository_is_checked_fetched_and_loaded(hub_root: Path, tmp_path: Path) -> None:
    write(hub_root / REPOSITORY, tmp_path / "tokenizer")
    torch.save({"weight": torch.ones(1)}, hub_root / REPOSITORY / "open_clip_pytorch_model.bin")
    with running_hub(hub_root) as hub:
        site = HuggingFaceHub(endpoint=hub.endpoint)
        report = site.preflight(repo_id=REPOSITORY)
        assert report.problems == ()
        folder = site.download(repo_id=REPOSITORY, commit=report.commit, cache_folder=tmp_path / "cache")
    assert sorted(path.name for path in folder.iterdir()) == [
        "open_clip_config.json",
        "open_clip_model.safetensors",
        "vocab.txt",
    ]
    embedder = load_embedder(folder)
    assert embedder.description.family is EmbedderFamily.OPEN_CLIP
    assert np.array_equal(embedder.embed(BATCH), load_embedder(hub_root / REPOSITORY).embed(BATCH))


def test_the_official_pickle_is_refused_before_it_is_fetched(hub_root: Path, tmp_path: Path) -> None:
    write(hub_root / REPOSITORY, tmp_path / "tokenizer")
    weights = hub_root / REPOSITORY / "open_clip_model.safetensors"
    weights.rename(weights.with_name("open_clip_pytorch_model.bin"))
    with running_hub(hub_root) as hub:
        report = HuggingFaceHub(endpoint=hub.endpoint).preflight(repo_id=REPOSITORY)
    assert PicklesOnly.code in [problem.code for problem in report.problems]


def test_code_that_open_clips_config_asks_for_is_a_problem(hub_root: Path, tmp_path: Path) -> None:
    write(hub_root / REPOSITORY, tmp_path / "tokenizer")
    config = {**biomedclip_config(), "auto_map": {"AutoModel": "code.Own"}}
    (hub_root / REPOSITORY / "open_clip_config.json").write_text(json.dumps(config))
    with running_hub(hub_root) as hub:
        report = HuggingFaceHub(endpoint=hub.endpoint).preflight(repo_id=REPOSITORY)
    assert any("open_clip_config.json has 'auto_map'" in problem.message for problem in report.problems)
