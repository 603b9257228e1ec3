"""PMC-CLIP: a small checkpoint as its trainer writes it, against the forward pass written out from the papers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional
from transformers import BertTokenizer

from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import ConversionRefused, ModelInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.official_networks import Random, State, convert_tiny, write_word_pieces
from tests.evaluation.embedders.open_clip_layouts import CLIP_DEVIATION, CLIP_MEAN
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone
from tests.evaluation.embedders.tiny_bert import BERT_WIDTH, bert, bert_state, tokens_of

STEM, DEPTHS, PIXELS, DIMENSION = 4, (2, 1, 2, 1), 96, 24
PLACES = (PIXELS // 32) ** 2 + 1
FEATURES = STEM * 32  # two heads of 64
WORDS = ("opacity", "no", "effusion")
VOCABULARY = 5 + 2 * (94 - 26) + len(WORDS)


def image_state() -> State:
    random = Random(11)
    state: State = {
        "conv1.weight": random.weight(STEM // 2, 3, 3, 3),
        "conv2.weight": random.weight(STEM // 2, STEM // 2, 3, 3),
        "conv3.weight": random.weight(STEM, STEM // 2, 3, 3),
        **random.batch_norm("bn1", STEM // 2),
        **random.batch_norm("bn2", STEM // 2),
        **random.batch_norm("bn3", STEM),
    }
    channels = STEM
    for stage, depth in enumerate(DEPTHS, start=1):
        width = STEM * 2 ** (stage - 1)
        for block in range(depth):
            name = f"layer{stage}.{block}"
            state |= {
                f"{name}.conv1.weight": random.weight(width, channels, 1, 1),
                f"{name}.conv2.weight": random.weight(width, width, 3, 3),
                f"{name}.conv3.weight": random.weight(4 * width, width, 1, 1),
                **random.batch_norm(f"{name}.bn1", width),
                **random.batch_norm(f"{name}.bn2", width),
                **random.batch_norm(f"{name}.bn3", 4 * width),
            }
            if block == 0:
                state[f"{name}.downsample.0.weight"] = random.weight(4 * width, channels, 1, 1)
                state |= random.batch_norm(f"{name}.downsample.1", 4 * width)
            channels = 4 * width
    state["attnpool.positional_embedding"] = random.vector(PLACES, FEATURES)
    for name in ("q_proj", "k_proj", "v_proj"):
        state |= random.linear(f"attnpool.{name}", FEATURES, FEATURES)
    return state | random.linear("attnpool.c_proj", DIMENSION, FEATURES)


def image_forward(state: State, pixels: torch.Tensor, *, heads: int = FEATURES // 64) -> torch.Tensor:
    """One picture, (1, 3, side, side): CLIP's ResNet with the attention of the mean over all places."""

    def norm(maps: torch.Tensor, name: str) -> torch.Tensor:
        kinds = ("running_mean", "running_var", "weight", "bias")
        return functional.batch_norm(maps, *(state[f"{name}.{kind}"] for kind in kinds))

    maps = pixels
    for number, stride in ((1, 2), (2, 1), (3, 1)):
        maps = functional.conv2d(maps, state[f"conv{number}.weight"], stride=stride, padding=1)
        maps = norm(maps, f"bn{number}").relu()
    maps = functional.avg_pool2d(maps, 2)
    for stage, depth in enumerate(DEPTHS, start=1):
        for block in range(depth):
            name = f"layer{stage}.{block}"
            inner = norm(functional.conv2d(maps, state[f"{name}.conv1.weight"]), f"{name}.bn1").relu()
            inner = functional.conv2d(inner, state[f"{name}.conv2.weight"], padding=1)
            inner = norm(inner, f"{name}.bn2").relu()
            if block == 0:
                halves = (lambda maps: functional.avg_pool2d(maps, 2)) if stage > 1 else (lambda maps: maps)
                inner, maps = halves(inner), halves(maps)
                maps = norm(functional.conv2d(maps, state[f"{name}.downsample.0.weight"]), f"{name}.downsample.1")
            inner = norm(functional.conv2d(inner, state[f"{name}.conv3.weight"]), f"{name}.bn3")
            maps = (inner + maps).relu()
    places = maps[0].flatten(1).T
    places = torch.cat([places.mean(dim=0, keepdim=True), places]) + state["attnpool.positional_embedding"]
    matrix = {name: (state[f"attnpool.{name}.weight"], state[f"attnpool.{name}.bias"]) for name in PROJECTIONS}
    attended, _ = functional.multi_head_attention_forward(
        places[:1, None],
        places[:, None],
        places[:, None],
        FEATURES,
        heads,
        None,
        torch.cat([matrix[name][1] for name in PROJECTIONS[:3]]),
        None,
        None,
        add_zero_attn=False,
        dropout_p=0,
        out_proj_weight=matrix["c_proj"][0],
        out_proj_bias=matrix["c_proj"][1],
        training=False,
        use_separate_proj_weight=True,
        q_proj_weight=matrix["q_proj"][0],
        k_proj_weight=matrix["k_proj"][0],
        v_proj_weight=matrix["v_proj"][0],
    )
    return attended[0, 0]


PROJECTIONS = ("q_proj", "k_proj", "v_proj", "c_proj")


def official_state() -> State:
    random = Random(12)
    state = {f"visual.{name}": tensor for name, tensor in image_state().items()}
    state |= bert_state(bert(VOCABULARY), "text_encoder.", pooler=True)
    state["text_projection"] = random.weight(BERT_WIDTH, DIMENSION)
    # What joins both towers, and what predicts masked words.
    state |= {"logit_scale": torch.tensor(4.4), "positional_embedding": random.vector(77, BERT_WIDTH)}
    state |= random.norm("ln_final", BERT_WIDTH) | random.linear("fusion_module.resblocks.0.mlp.c_fc", 8, BERT_WIDTH)
    return state | {"mlm_projection": random.vector(BERT_WIDTH, 9), "img_special_token": random.vector(1, 1, DIMENSION)}


def as_trained(state: State) -> dict[str, Any]:
    return {"epoch": 80, "state_dict": {f"module.{name}": tensor for name, tensor in state.items()}}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_word_pieces(tmp_path_factory.mktemp("pmc") / "tokenizer", WORDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: Path) -> Path:
    base = tmp_path_factory.mktemp("pmc")
    return convert_tiny("pmc-clip", as_trained(official_state()), base / "official", tokenizer=tokenizer)


def unit(row: torch.Tensor) -> np.ndarray[Any, Any]:
    return functional.normalize(row.double(), dim=0).numpy()


@torch.inference_mode()
def test_images_go_through_clips_resnet(folder: Path, image_files: list[Path]) -> None:
    embedder = load_embedder(folder)
    for path in image_files:
        image = Image.open(path).convert("RGB")
        width, height = (int(PIXELS * side / min(image.size)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.BICUBIC)
        left, top = round((width - PIXELS) / 2), round((height - PIXELS) / 2)
        values = np.asarray(image.crop((left, top, left + PIXELS, top + PIXELS))) / 255
        values = ((values - CLIP_MEAN) / CLIP_DEVIATION).transpose(2, 0, 1)
        expected = image_forward(image_state(), torch.tensor(values[np.newaxis], dtype=torch.float32))
        row = embed_inputs(embedder, [EmbeddingInput(images=(path,))], batch_size=1)[0]
        assert row @ unit(expected) > 1 - 1e-5


@pytest.mark.parametrize("text", ["no opacity", "effusion " * 100])
@torch.inference_mode()
def test_texts_are_padded_to_77_without_a_mask(folder: Path, tokenizer: Path, text: str) -> None:
    tokens = tokens_of(BertTokenizer.from_pretrained(tokenizer), text, 77)
    padded = [*tokens, *[0] * (77 - len(tokens))]
    model = bert(VOCABULARY)
    everything = torch.ones((1, 77), dtype=torch.long)
    state = model(input_ids=torch.tensor([padded]), attention_mask=everything).last_hidden_state[0, 0]
    projection = official_state()["text_projection"]
    embedder = load_embedder(folder)
    row = embed_inputs(embedder, [EmbeddingInput(text=text)], batch_size=1)[0]
    assert row @ unit(state @ projection) > 1 - 1e-5
    masked = model(input_ids=torch.tensor([tokens])).last_hidden_state[0, 0]
    assert (row @ unit(masked @ projection) < 0.999) == (len(tokens) < 77)
    assert embedder._towers.token_counts([text]) == [77]
    assert embedder.cuts([text]) == [len(tokens) == 77]


def test_a_batch_of_one_equals_a_batch_of_many(folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(folder)
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < 1e-6
    assert len({row.tobytes() for row in many}) == len(mixed_inputs)


def test_it_says_what_it_is(folder: Path) -> None:
    description = load_embedder(folder).description
    assert (description.family, description.dimension) == (EmbedderFamily.PMC_CLIP, DIMENSION)
    assert description.encode_config["text_padding"] == "full length, no mask"
    assert description.encode_config["image_pixels"] == PIXELS


@pytest.mark.parametrize(
    "name", ["visual.layer3.1.conv2.weight", "visual.attnpool.c_proj.bias", "text_projection", "visual.conv3.weight"]
)
def test_incomplete_checkpoints_are_not_converted(tokenizer: Path, tmp_path: Path, name: str) -> None:
    state = official_state()
    del state[name]
    with pytest.raises(ConversionRefused):
        convert_tiny("pmc-clip", as_trained(state), tmp_path / "official", tokenizer=tokenizer)


def test_a_converted_folder_that_was_damaged_is_refused(folder: Path, tmp_path: Path) -> None:
    import shutil

    from safetensors.torch import load_file, save_file

    damaged = shutil.copytree(folder, tmp_path / "damaged")
    tensors = load_file(damaged / "model.safetensors")
    del tensors["image.attnpool.q_proj.bias"]
    save_file(tensors, damaged / "model.safetensors")
    with pytest.raises(ModelInvalid, match="q_proj"):
        load_embedder(damaged)


def test_what_a_gpu_computes_in_is_close_to_float32(
    folder: Path, mixed_inputs: list[EmbeddingInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = embed_inputs(load_embedder(folder), mixed_inputs, batch_size=3)
    monkeypatch.setattr("evaluation.embedders.pmc_clip.compute_dtype", lambda _device, _config: torch.bfloat16)
    embedder = load_embedder(folder)
    assert embedder.description.encode_config["dtype"] == "bfloat16"
    rows = embed_inputs(embedder, mixed_inputs, batch_size=3)
    assert np.einsum("ij,ij->i", exact, rows).min() > 0.99
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6


def test_the_vector_of_an_image_depends_on_nothing_else(folder: Path, image_files: list[Path]) -> None:
    assert_images_stand_alone(load_embedder(folder), image_files)
