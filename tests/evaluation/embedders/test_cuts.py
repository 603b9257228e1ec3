"""Which texts a model would cut: at its limit, and one token beyond."""

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer

from evaluation.embedders.chance import ChanceEmbedder
from evaluation.embedders.kinds import sees_volumes
from evaluation.embedders.lite_towers import load_pretrained_towers
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.text_limit import TextLimit
from evaluation.errors import ProbeTooLong


def test_clip_cuts_beyond_its_positions(clip_folder):
    # one token a byte and a mark at each end
    assert load_embedder(clip_folder).cuts(["a" * 75, " " + "a" * 75 + " ", "a" * 76, ""]) == [
        False,
        False,
        True,
        False,
    ]


def test_siglip_cuts_beyond_its_full_length(siglip_folder):
    # one token a byte and a mark at the end
    assert load_embedder(siglip_folder).cuts(["a" * 63, "a" * 64]) == [False, True]


def test_qwen_cuts_beyond_its_limit(qwen_folder):
    assert load_embedder(qwen_folder).cuts(["a" * 8_192, "a" * 8_193, "é" * 4_097]) == [False, True, True]


@pytest.mark.parametrize("load", [lambda: load_embedder(minilm_folder()), load_pretrained_towers])
def test_minilm_cuts_beyond_256_word_pieces(load):
    # "heart" is one word piece, and there is a mark at each end
    assert load().cuts(["heart " * 254, "heart " * 255]) == [False, True]


def test_a_model_without_limit_cuts_nothing(tmp_path):
    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    weights = np.random.default_rng(0).standard_normal((tokenizer.get_vocab_size(), 8)).astype(np.float32)
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)]).save(str(tmp_path))
    assert load_embedder(tmp_path).cuts(["heart " * 5_000]) == [False]


def test_chance_cuts_nothing():
    assert ChanceEmbedder(dimension=4, seed=1).cuts(["x" * 100_000]) == [False]


def test_no_texts(clip_folder):
    assert load_embedder(clip_folder).cuts([]) == []


def test_a_text_that_would_be_cut_is_named(clip_folder):
    limit = TextLimit(load_embedder(clip_folder))
    limit.require_whole(["short"], where="chest_radiograph.L4")
    with pytest.raises(ProbeTooLong, match=r"chest_radiograph\.L5: CLIPModel .* of 1 texts.*'no evidence"):
        limit.require_whole(["short", "no evidence of " + "a" * 70], where="chest_radiograph.L5")


def test_a_mean_of_slices_is_no_volume(clip_folder, qwen_folder):
    assert not sees_volumes(load_embedder(clip_folder).description)
    assert sees_volumes(load_embedder(qwen_folder).description)
