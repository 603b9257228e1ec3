"""Text repositories: only with their own modules, only texts, only complete."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel

from evaluation.decoding import decode
from evaluation.embedders.packaged import minilm_folder
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import InputUnsupported, ModelInvalid, ModelUnsafe, ModelUnsupported
from evaluation.inputs import EmbeddingInput


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_embedder(minilm_folder())


@pytest.fixture(scope="module")
def text_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text repository of random weights: BERT of two layers, mean pooling."""
    folder = tmp_path_factory.mktemp("models") / "text-tiny"
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2
    )
    BertModel(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "modules.json", "1_Pooling/config.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(minilm_folder() / name, folder / name)
    pooling = json.loads((folder / "1_Pooling" / "config.json").read_text())
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({**pooling, "word_embedding_dimension": 16}))
    return folder


def test_embeddings_equal_a_mean_written_out_here(minilm: Embedder) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    model = BertModel.from_pretrained(minilm_folder(), dtype=torch.float32).eval()
    words = ["a nodule in the left lung", "no acute finding"]
    rows = embed_inputs(minilm, [EmbeddingInput(text=text) for text in words], batch_size=2)
    for row, text in zip(rows, words, strict=True):
        with torch.inference_mode():
            states = model(input_ids=torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0]
        mean = states.mean(dim=0).numpy()
        assert np.abs(row - mean / np.linalg.norm(mean)).max() < 1e-5
    assert minilm.description.dimension == 384
    assert minilm.description.kinds == ("text",)


def test_real_meaning_is_near(minilm: Embedder) -> None:
    query, near, far = embed_inputs(
        minilm,
        [EmbeddingInput(text=text) for text in ("heart attack", "myocardial infarction", "a bicycle in the rain")],
        batch_size=3,
    )
    assert query @ near > query @ far + 0.2


def test_a_batch_of_one_equals_a_batch_of_many(minilm: Embedder) -> None:
    sources = [EmbeddingInput(text="word " * length, instruction="Find it" * (length % 2)) for length in (1, 9, 40)]
    many, one = (embed_inputs(minilm, sources, batch_size=size) for size in (3, 1))
    assert np.abs(many - one).max() < 1e-5


def test_images_are_refused_before_anything_is_read(minilm: Embedder, image_files: list[Path]) -> None:
    sources = [EmbeddingInput(text="a"), EmbeddingInput(text="b", images=(Path("nowhere.png"),))]
    with pytest.raises(InputUnsupported, match=r"nowhere\.png.*cannot embed image"):
        embed_inputs(minilm, sources, batch_size=1)
    with pytest.raises(InputUnsupported):
        minilm.embed([decode(EmbeddingInput(images=(image_files[0],)))])


def test_missing_weights_are_refused_but_not_an_unused_head(text_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(text_folder, tmp_path / "lacking")
    tensors = load_file(folder / "model.safetensors")
    headless = {name: tensor for name, tensor in tensors.items() if not name.startswith("pooler.")}
    assert len(headless) < len(tensors)
    save_file(headless, folder / "model.safetensors", metadata={"format": "pt"})
    assert load_embedder(folder).description.dimension == 16
    del headless["encoder.layer.1.output.dense.weight"]
    save_file(headless, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelInvalid, match=r"layer\.1\.output\.dense"):
        load_embedder(folder)


def test_modules_of_the_repositorys_own_are_refused(text_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(text_folder, tmp_path / "own")
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "modeling_own.Transformer"
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "modeling_own.py").write_text("raise SystemExit('this must never run')")
    with pytest.raises(ModelUnsafe, match="modeling_own"):
        load_embedder(folder)


def test_without_modules_there_is_no_guessing_of_a_pooling(text_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(text_folder, tmp_path / "bare")
    (folder / "modules.json").unlink()
    with pytest.raises(ModelUnsupported, match="bert"):
        load_embedder(folder)


def test_pickled_weights_are_refused(text_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(text_folder, tmp_path / "pickled")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelUnsafe, match=r"pytorch_model\.bin"):
        load_embedder(folder)
