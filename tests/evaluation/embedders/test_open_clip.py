"""open_clip's repositories: small checkpoints in the official layout against forward passes written out from the papers."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from torch.nn import functional
from transformers import BertTokenizer, CLIPTokenizer

from evaluation.embedders.clean_texts import clean_text
from evaluation.embedders.registry import detect_family, load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import ConversionRefused, ModelInvalid, ModelUnsupported, PicklesOnly
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.official_networks import (
    Random,
    State,
    convert_tiny,
    write_byte_pairs,
    write_word_pieces,
)
from tests.evaluation.embedders.open_clip_layouts import (
    CLIP_DEVIATION,
    CLIP_MEAN,
    WIDTH,
    clip_image_forward,
    clip_image_state,
    clip_text_forward,
    clip_text_state,
    timm_image_forward,
    timm_image_state,
)
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone
from tests.evaluation.embedders.tiny_bert import BERT_WIDTH, bert, bert_state, tokens_of

DIMENSION, HIDDEN, PATCH = 24, 40, 16
WORDS = ("opacity", "no", "pleural", "effusion", "heart")
VOCABULARY = 5 + 2 * (94 - 26) + len(WORDS)
CLIP_WORDS = 2 * 256 + 2
BERT_TEXTS = ["no opacity", "heart &amp;amp; lung\n  “no” effusion", "pleural effusion " * 200, "é"]
CLIP_TEXTS = ["no opacity", "Heart &amp; lung", "effusion " * 40]


def save_repository(folder: Path, state: State, config: dict[str, Any], tokenizer: Path) -> Path:
    shutil.copytree(tokenizer, folder)
    save_file({name: t.contiguous() for name, t in state.items()}, folder / "open_clip_model.safetensors")
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    return folder


def biomedclip_config(**changes: dict[str, Any]) -> dict[str, Any]:
    """As the official repository has it; the sizes are those of the tensors."""
    return {
        "model_cfg": {
            "embed_dim": 512,
            "vision_cfg": {
                "timm_model_name": "vit_base_patch16_224",
                "timm_model_pretrained": False,
                "timm_pool": "",
                "timm_proj": "linear",
                "image_size": 224,
                **changes.get("vision", {}),
            },
            "text_cfg": {
                "hf_model_name": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
                "hf_tokenizer_name": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
                "hf_proj_type": "mlp",
                "hf_pooler_type": "cls_last_hidden_state_pooler",
                "context_length": 256,
                **changes.get("text", {}),
            },
            **changes.get("model", {}),
        },
        "preprocess_cfg": {"mean": list(CLIP_MEAN), "std": list(CLIP_DEVIATION), **changes.get("preprocess", {})},
    }


def biomedclip_state() -> State:
    random = Random(3)
    state = timm_image_state(random, pixels=224, patch=PATCH, dimension=DIMENSION)
    state |= bert_state(bert(VOCABULARY), "text.transformer.")
    state["text.proj.0.weight"] = random.weight(HIDDEN, BERT_WIDTH)
    state["text.proj.2.weight"] = random.weight(DIMENSION, HIDDEN)
    state["logit_scale"] = torch.tensor(4.4)
    return state


def clip_config(activation: str) -> dict[str, Any]:
    vision = {"image_size": 64, "layers": 2, "width": WIDTH, "patch_size": PATCH}
    text = {"context_length": 77, "vocab_size": CLIP_WORDS, "width": WIDTH, "heads": 2, "layers": 2}
    model = {"embed_dim": DIMENSION, "vision_cfg": vision, "text_cfg": text} | (
        {"quick_gelu": True} if activation == "quick_gelu" else {}
    )
    mean = [0.5, 0.4, 0.3]
    preprocess = {"size": [64, 64], "mode": "RGB", "mean": mean, "std": [0.2, 0.3, 0.4], "interpolation": "bicubic"}
    return {
        "model_cfg": model,
        "preprocess_cfg": preprocess | {"resize_mode": "squash" if activation == "quick_gelu" else "shortest"},
    }


def clip_state(prefix: str = "") -> State:
    random = Random(9)
    state = clip_image_state(random, pixels=64, patch=PATCH, dimension=DIMENSION)
    state |= clip_text_state(random, words=CLIP_WORDS, tokens=77, dimension=DIMENSION, prefix=prefix)
    return state | {"logit_scale": torch.tensor(4.4)}


@pytest.fixture(scope="module")
def bert_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_word_pieces(tmp_path_factory.mktemp("bert") / "tokenizer", WORDS)


@pytest.fixture(scope="module")
def clip_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    marks = ("<|startoftext|>", "<|endoftext|>")
    return write_byte_pairs(tmp_path_factory.mktemp("clip") / "tokenizer", marks, end_of_word="</w>")


@pytest.fixture(scope="module")
def biomedclip(tmp_path_factory: pytest.TempPathFactory, bert_tokenizer: Path) -> Path:
    folder = tmp_path_factory.mktemp("biomedclip") / "repository"
    return save_repository(folder, biomedclip_state(), biomedclip_config(), bert_tokenizer)


@pytest.fixture(scope="module", params=["gelu", "quick_gelu"])
def activation(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, clip_tokenizer: Path, activation: str) -> Path:
    folder = tmp_path_factory.mktemp("plain") / "repository"
    return save_repository(folder, clip_state(), clip_config(activation), clip_tokenizer)


def unit(row: torch.Tensor) -> np.ndarray[Any, Any]:
    return functional.normalize(row.double(), dim=0).numpy()


def picture(path: Path, *, side: int, mean: Any, deviation: Any, squash: bool = False) -> torch.Tensor:
    """The shorter side to `side` with Pillow, then the middle square; or squeezed."""
    image = Image.open(path).convert("RGB")
    if squash:
        image = image.resize((side, side), Image.Resampling.BICUBIC)
    else:
        shorter = min(image.size)
        width, height = (side if length == shorter else int(side * length / shorter) for length in image.size)
        image = image.resize((width, height), Image.Resampling.BICUBIC)
        left, top = round((width - side) / 2), round((height - side) / 2)
        image = image.crop((left, top, left + side, top + side))
    values = (np.asarray(image, dtype=np.float64) / 255 - np.array(mean)) / np.array(deviation)
    return torch.tensor(values.transpose(2, 0, 1), dtype=torch.float32)


def embedded(folder: Path, inputs: list[EmbeddingInput], batch_size: int = 3) -> Any:
    return embed_inputs(load_embedder(folder), inputs, batch_size=batch_size)


@torch.inference_mode()
def test_biomedclips_images_go_through_timms_transformer(biomedclip: Path, image_files: list[Path]) -> None:
    state = biomedclip_state()
    rows = embedded(biomedclip, [EmbeddingInput(images=(path,)) for path in image_files])
    for row, path in zip(rows, image_files, strict=True):
        pixels = picture(path, side=224, mean=CLIP_MEAN, deviation=CLIP_DEVIATION)
        assert row @ unit(timm_image_forward(state, pixels)) > 1 - 1e-5


@torch.inference_mode()
def test_biomedclips_texts_are_cleaned_cut_at_256_and_read_at_the_first_token(
    biomedclip: Path, bert_tokenizer: Path
) -> None:
    state, model = biomedclip_state(), bert(VOCABULARY)
    tokenizer = BertTokenizer.from_pretrained(bert_tokenizer)
    rows = embedded(biomedclip, [EmbeddingInput(text=text) for text in BERT_TEXTS])
    cleaned = ["no opacity", 'heart & lung "no" effusion', ("pleural effusion " * 200).strip(), "é"]
    for row, text in zip(rows, cleaned, strict=True):
        tokens = tokens_of(tokenizer, text, 256)
        first = model(input_ids=torch.tensor([tokens])).last_hidden_state[0, 0]
        hidden = functional.gelu(state["text.proj.0.weight"] @ first)
        assert row @ unit(state["text.proj.2.weight"] @ hidden) > 1 - 1e-5


@torch.inference_mode()
def test_plain_clip_in_open_clips_layout(plain: Path, activation: str, image_files: list[Path]) -> None:
    state, quick = clip_state(), activation == "quick_gelu"
    tokenizer = CLIPTokenizer.from_pretrained(plain)
    rows = embedded(plain, [EmbeddingInput(images=(path,)) for path in image_files])
    for row, path in zip(rows, image_files, strict=True):
        pixels = picture(path, side=64, mean=[0.5, 0.4, 0.3], deviation=[0.2, 0.3, 0.4], squash=quick)
        assert row @ unit(clip_image_forward(state, pixels, quick=quick)) > 1 - 1e-5
    rows = embedded(plain, [EmbeddingInput(text=text) for text in CLIP_TEXTS])
    for row, text in zip(rows, ["no opacity", "Heart & lung", ("effusion " * 40).strip()], strict=True):
        tokens = tokens_of(tokenizer, text, 77)
        assert row @ unit(clip_text_forward(state, tokens, quick=quick)) > 1 - 1e-5


def test_a_text_tower_of_its_own_gives_the_same(
    plain: Path, activation: str, clip_tokenizer: Path, tmp_path: Path
) -> None:
    folder = save_repository(tmp_path / "own", clip_state("text."), clip_config(activation), clip_tokenizer)
    inputs = [EmbeddingInput(text=text) for text in CLIP_TEXTS]
    assert np.array_equal(embedded(folder, inputs), embedded(plain, inputs))


@pytest.mark.parametrize("projection", ["linear", None])
@torch.inference_mode()
def test_texts_may_be_projected_by_one_matrix_or_none(
    bert_tokenizer: Path, tmp_path: Path, projection: str | None
) -> None:
    state = {name: t for name, t in biomedclip_state().items() if not name.startswith("text.proj")}
    random = Random(8)
    dimension = DIMENSION if projection else BERT_WIDTH
    state["visual.head.proj.weight"] = random.weight(dimension, WIDTH)
    if projection:
        state["text.proj.weight"] = random.weight(dimension, BERT_WIDTH)
    folder = save_repository(
        tmp_path / "repository", state, biomedclip_config(text={"hf_proj_type": projection}), bert_tokenizer
    )
    embedder = load_embedder(folder)
    assert embedder.description.dimension == dimension
    tokens = BertTokenizer.from_pretrained(bert_tokenizer)(["no opacity"], return_tensors="pt")
    first = bert(VOCABULARY)(**tokens).last_hidden_state[0, 0]
    expected = state["text.proj.weight"] @ first if projection else first
    row = embed_inputs(embedder, [EmbeddingInput(text="no opacity")], batch_size=1)[0]
    assert row @ unit(expected) > 1 - 1e-5


def test_a_batch_of_one_equals_a_batch_of_many(
    biomedclip: Path, plain: Path, mixed_inputs: list[EmbeddingInput]
) -> None:
    for folder in (biomedclip, plain):
        many, one = (embedded(folder, mixed_inputs, size) for size in (len(mixed_inputs), 1))
        assert np.abs(many - one).max() < 1e-6
        assert len({row.tobytes() for row in many}) == len(mixed_inputs)


def test_it_says_what_it_is_and_counts_tokens(biomedclip: Path) -> None:
    embedder = load_embedder(biomedclip)
    description = embedder.description
    assert (description.family, description.dimension) == (EmbedderFamily.OPEN_CLIP, DIMENSION)
    counted = sum(t.numel() for name, t in biomedclip_state().items() if "position_ids" not in name) - 1
    assert description.parameters == counted
    config = description.encode_config
    assert (config["max_text_tokens"], config["image_pixels"], config["dtype"]) == (256, 224, "float32")
    towers = embedder._towers
    assert towers.token_counts(["no opacity", "opacity " * 300]) == [4, 256]
    assert embedder.cuts(["opacity " * 254, "opacity " * 255]) == [False, True]


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  a\n\tb ", "a b"),
        ("p &amp;lt; 0.05", "p < 0.05"),
        ("“quoted”", '"quoted"'),
        ("Ã©", "é"),
        ("ﬁbrosis", "fibrosis"),
    ],
)
def test_texts_are_cleaned_as_open_clip_cleans_them(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


def test_the_config_of_transformers_comes_first(biomedclip: Path, clip_folder: Path, tmp_path: Path) -> None:
    assert detect_family(biomedclip) is EmbedderFamily.OPEN_CLIP
    both = shutil.copytree(clip_folder, tmp_path / "both")
    shutil.copy(biomedclip / "open_clip_config.json", both)
    assert detect_family(both) is EmbedderFamily.CLIP


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vision": {"timm_model_name": "vit_base_patch16_siglip_224"}}, "timm_model_name 'vit_base_patch16_siglip"),
        ({"vision": {"timm_model_name": "convnext_base"}}, "convnext_base"),
        ({"vision": {"timm_model_name": ["vit_base_patch16_224"]}}, "timm_model_name"),
        ({"vision": {"timm_pool": "avg"}}, "timm_pool 'avg'"),
        ({"vision": {"timm_proj": "mlp"}}, "timm_proj 'mlp'"),
        ({"vision": {"ls_init_value": 1e-5}}, "vision_cfg sets ls_init_value"),
        ({"text": {"hf_model_name": "roberta-base"}}, "roberta-base"),
        ({"text": {"hf_model_name": "distilbert-base-uncased"}}, "distilbert"),
        ({"text": {"hf_pooler_type": "mean_pooler"}}, "hf_pooler_type 'mean_pooler'"),
        ({"text": {"embed_cls": True}}, "text_cfg sets embed_cls"),
        ({"model": {"multimodal_cfg": {}}}, "model_cfg sets multimodal_cfg"),
        ({"model": {"quick_gelu": 1}}, "quick_gelu 1"),
        ({"preprocess": {"resize_mode": "longest"}}, "resize_mode 'longest'"),
        ({"preprocess": {"interpolation": "random"}}, "interpolation 'random'"),
    ],
)
def test_other_networks_are_refused_by_name(biomedclip: Path, tmp_path: Path, changes: Any, message: str) -> None:
    folder = shutil.copytree(biomedclip, tmp_path / "other")
    (folder / "open_clip_config.json").write_text(json.dumps(biomedclip_config(**changes)))
    with pytest.raises(ModelUnsupported, match=message):
        load_embedder(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vision": {"image_size": 10**9}}, "image_size is 1000000000"),
        ({"vision": {"image_size": [224, 224]}}, "image_size"),
        ({"vision": {"image_size": 240}}, "image_size is 240, and the weights are for 224"),
        ({"text": {"context_length": 0}}, "context_length is 0"),
        ({"text": {"context_length": 1_000}}, "context_length is 1,000, and the weights have 512"),
        ({"preprocess": {"mean": [0.5]}}, "mean"),
        ({"preprocess": {"std": [0.5, 0.5, 0]}}, "std"),
        ({"model": {"vision_cfg": None}}, "no object 'vision_cfg'"),
    ],
)
def test_a_config_out_of_range_is_refused(biomedclip: Path, tmp_path: Path, changes: Any, message: str) -> None:
    folder = shutil.copytree(biomedclip, tmp_path / "other")
    (folder / "open_clip_config.json").write_text(json.dumps(biomedclip_config(**changes)))
    with pytest.raises(ModelInvalid, match=message):
        load_embedder(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("visual.trunk.norm.weight", None),
        ("text.proj.0.weight", None),
        ("visual.trunk.blocks.0.attn.qkv.weight", torch.ones(2, WIDTH)),
        ("visual.trunk.pos_embed", torch.ones(1, 3, WIDTH)),
        ("text.transformer.embeddings.word_embeddings.weight", torch.ones(3)),
        ("surplus", torch.ones(1)),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    bert_tokenizer: Path, tmp_path: Path, name: str, value: torch.Tensor | None
) -> None:
    state = biomedclip_state()
    state.pop(name, None)
    state |= {} if value is None else {name: value}
    folder = save_repository(tmp_path / "damaged", state, biomedclip_config(), bert_tokenizer)
    with pytest.raises(ModelInvalid):
        load_embedder(folder)


def test_a_repository_without_tokenizer_or_with_pickles_alone_is_refused(biomedclip: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(biomedclip, tmp_path / "repository")
    (folder / "vocab.txt").unlink()
    with pytest.raises(ModelInvalid, match="no tokenizer"):
        load_embedder(folder)
    (folder / "open_clip_model.safetensors").rename(folder / "open_clip_pytorch_model.bin")
    with pytest.raises(PicklesOnly, match=r"open_clip_pytorch_model\.bin"):
        load_embedder(folder)


def test_biomedclips_official_pickle_converts_to_the_same_vectors(
    biomedclip: Path, bert_tokenizer: Path, image_files: list[Path], tmp_path: Path
) -> None:
    folder = convert_tiny("biomedclip", biomedclip_state(), tmp_path / "official", tokenizer=bert_tokenizer)
    stored = load_file(folder / "model.safetensors")
    assert stored.keys() == biomedclip_state().keys()
    inputs = [EmbeddingInput(text="no opacity"), EmbeddingInput(images=(image_files[1],))]
    assert np.array_equal(embedded(folder, inputs), embedded(biomedclip, inputs))


@pytest.mark.parametrize("name", ["visual.head.proj.weight", "text.proj.2.weight", "visual.trunk.blocks.1.norm2.bias"])
def test_an_incomplete_pickle_is_not_converted(bert_tokenizer: Path, tmp_path: Path, name: str) -> None:
    state = biomedclip_state()
    del state[name]
    with pytest.raises(ConversionRefused):
        convert_tiny("biomedclip", state, tmp_path / "official", tokenizer=bert_tokenizer)


def test_what_a_gpu_computes_in_is_close_to_float32(
    biomedclip: Path, mixed_inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = embed_inputs(load_embedder(biomedclip), mixed_inputs, batch_size=3)
    monkeypatch.setattr("evaluation.embedders.open_clip.compute_dtype", lambda _device, _config: torch.bfloat16)
    embedder = load_embedder(biomedclip)
    assert embedder.description.encode_config["dtype"] == "bfloat16"
    rows = embed_inputs(embedder, mixed_inputs, batch_size=3)
    assert np.einsum("ij,ij->i", exact, rows).min() > 0.99
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6


def test_the_vector_of_an_image_depends_on_nothing_else(biomedclip: Path, plain: Path, image_files: list[Path]) -> None:
    for folder in (biomedclip, plain):
        assert_images_stand_alone(load_embedder(folder), image_files)
