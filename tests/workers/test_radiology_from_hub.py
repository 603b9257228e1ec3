"""Converted folders of the radiology systems, from the hub's listing to the vector."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluation.decoding import DecodedInput
from evaluation.embedders.registry import load_embedder
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders import test_biovil, test_medimageinsight, test_merlin
from tests.evaluation.embedders.official_networks import convert_tiny, write_byte_pairs, write_word_pieces
from workers.hub import HuggingFaceHub
from workers.local_hub.server import running_hub

BATCH = [DecodedInput(EmbeddingInput(text=text)) for text in ("no effusion", "an opacity")]


def biovil(base: Path) -> Path:
    tokenizer = write_word_pieces(base / "tokenizer", test_biovil.WORDS)
    images, texts = test_biovil.image_state("biovil-t"), test_biovil.text_state()
    return convert_tiny("biovil-t", images, base / "official", tokenizer=tokenizer, second=texts)


def medimageinsight(base: Path) -> Path:
    marks = (test_medimageinsight.START, test_medimageinsight.END)
    tokenizer = write_byte_pairs(base / "tokenizer", marks, end_of_word="</w>")
    settings = {"unk_token": marks[1], "pad_token": marks[1], "bos_token": marks[0], "eos_token": marks[1]}
    (tokenizer / "tokenizer_config.json").write_text(json.dumps(settings))
    return convert_tiny(
        "medimageinsight", test_medimageinsight.official_state(), base / "official", tokenizer=tokenizer
    )


def merlin(base: Path) -> Path:
    tokenizer = write_byte_pairs(base / "tokenizer", test_merlin.MARKS)
    return convert_tiny("merlin", test_merlin.official_state(), base / "official", tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("family", "convert"),
    [
        (EmbedderFamily.BIOVIL, biovil),
        (EmbedderFamily.MEDIMAGEINSIGHT, medimageinsight),
        (EmbedderFamily.MERLIN, merlin),
    ],
)
def test_a_converted_folder_is_checked_fetched_and_loaded(
    hub_root: Path, tmp_path: Path, family: EmbedderFamily, convert: Callable[[Path], Path]
) -> None:
    repo_id = f"operator/{family}"
    (hub_root / "operator").mkdir(parents=True)
    converted = convert(tmp_path / "work").rename(hub_root / repo_id)
    with running_hub(hub_root) as hub:
        site = HuggingFaceHub(endpoint=hub.endpoint)
        report = site.preflight(repo_id=repo_id)
        assert report.problems == ()
        folder = site.download(repo_id=repo_id, commit=report.commit, cache_folder=tmp_path / "cache")
    embedder = load_embedder(folder)
    assert embedder.description.family is family
    assert np.array_equal(embedder.embed(BATCH), load_embedder(converted).embed(BATCH))
