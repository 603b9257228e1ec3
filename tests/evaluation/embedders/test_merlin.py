"""MERLIN: a small checkpoint in the official layout against the forward pass written out from its description."""

import json
from pathlib import Path

import nibabel
import numpy as np
import pytest
import torch
from scipy.ndimage import map_coordinates
from torch.nn import functional
from transformers import LongformerConfig, LongformerModel

from evaluation.decoding import DecodedInput, decode
from evaluation.decoding.volumes import Volume
from evaluation.embedders.kinds import sees_volumes
from evaluation.embedders.merlin import merlin_grid, merlin_text
from evaluation.embedders.registry import load_embedder
from evaluation.errors import ConversionRefused, InputUnsupported, ModelInvalid
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.official_networks import (
    RESNET_WIDTHS,
    Random,
    State,
    convert_tiny,
    resnet_forward,
    resnet_state,
    write_byte_pairs,
)

DEPTHS = (1, 2, 1, 1)
FEATURES, DIMENSION, WIDTH = 4 * RESNET_WIDTHS[-1], 16, 128
IMAGE, TEXT = "encode_image.i3_resnet.", "encode_text.text_encoder."
MARKS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def text_model() -> LongformerModel:
    torch.manual_seed(6)
    config = LongformerConfig(
        vocab_size=256 + len(MARKS),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=4098,
        type_vocab_size=1,
        attention_window=[512, 512],
        pad_token_id=1,
        layer_norm_eps=1e-5,
        initializer_range=0.3,
    )
    return LongformerModel(config).eval()


def official_state() -> State:
    random = Random(12)
    state = {IMAGE + name: tensor for name, tensor in resnet_state(random, depths=DEPTHS, volume=True).items()}
    for head, count in (("classifier", 1692), ("contrastive_head", DIMENSION)):
        state[f"{IMAGE}{head}.weight"] = random.weight(count, FEATURES, 1, 1, 1)
        state[f"{IMAGE}{head}.bias"] = random.vector(count)
    state |= {TEXT + name: tensor for name, tensor in text_model().state_dict().items()}
    state |= random.linear("encode_text.linear_layer", DIMENSION, WIDTH)
    return state | {"logit_scale": torch.tensor(1.0)}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_byte_pairs(tmp_path_factory.mktemp("longformer"), MARKS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: Path) -> Path:
    return convert_tiny("merlin", official_state(), tmp_path_factory.mktemp("merlin"), tokenizer=tokenizer)


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two bodies in air: stored from the left and back, with voxels of their own."""
    base = tmp_path_factory.mktemp("scans")
    generator = np.random.default_rng(2)
    paths = []
    for number, (shape, sizes) in enumerate((((50, 44, 30), (6, 7, 5)), ((80, 70, 90), (4.4, 5, 2.5)))):
        tissue = generator.normal(40, 120, size=[side // 6 + 2 for side in shape])
        places = np.meshgrid(*(np.arange(side) / 6 for side in shape), indexing="ij")
        values = map_coordinates(tissue, places, order=1)
        outside = (
            sum(
                ((np.arange(side) / side - 0.5) ** 2).reshape([-1 if a == b else 1 for b in range(3)])
                for a, side in enumerate(shape)
            )
            > 0.18
        )
        values[np.broadcast_to(outside, shape)] = -1024
        affine = np.diag([-sizes[0], -sizes[1], sizes[2], 1.0])
        path = base / f"{number}.nii.gz"
        nibabel.save(nibabel.Nifti1Image(np.round(values).astype(np.int16), affine), path)
        paths.append(path)
    return paths


def expected_grid(path: Path) -> torch.Tensor:
    """Right, front, head; 1.5 x 1.5 x 3 mm; -1000..1000 as 0..1; zeros around; the middle 224 x 224 x 160."""
    image = nibabel.as_closest_canonical(nibabel.load(path))
    values, sizes = image.get_fdata(), image.header.get_zooms()
    axes = []
    for side, size, wanted in zip(values.shape, sizes, (1.5, 1.5, 3.0), strict=True):
        count = round((side - 1) * float(size) / wanted + 1)
        axes.append(np.arange(count) * wanted / float(size))
    values = map_coordinates(values, np.meshgrid(*axes, indexing="ij"), order=1, mode="nearest")
    values = np.clip((values + 1000) / 2000, 0, 1)
    for axis, wanted in enumerate((224, 224, 160)):
        missing = max(0, wanted - values.shape[axis])
        around = [(0, 0)] * 3
        around[axis] = (missing // 2, missing - missing // 2)
        values = np.pad(values, around)
        start = values.shape[axis] // 2 - wanted // 2
        values = np.take(values, range(start, start + wanted), axis)
    return torch.tensor(values, dtype=torch.float32)


@torch.inference_mode()
def image_features(path: Path) -> torch.Tensor:
    state = {name.removeprefix(IMAGE): tensor for name, tensor in official_state().items()}
    depth_first = expected_grid(path).permute(2, 0, 1)[None, None]
    return resnet_forward(state, depth_first.repeat(1, 3, 1, 1, 1), depths=DEPTHS).mean(dim=(2, 3, 4))


def unit(vector: torch.Tensor) -> np.ndarray:
    return functional.normalize(vector, dim=-1).numpy()


def test_volumes_equal_the_published_description(folder: Path, scans: list[Path]) -> None:
    embedder, state = load_embedder(folder), official_state()
    for path in scans:
        row = embedder.embed([decode(EmbeddingInput(images=(path,), is_volume=True))])[0]
        projected = functional.linear(
            image_features(path),
            state[f"{IMAGE}contrastive_head.weight"].flatten(1),
            state[f"{IMAGE}contrastive_head.bias"],
        )
        assert row @ unit(projected)[0] > 1 - 1e-5
        assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


@torch.inference_mode()
def test_texts_equal_the_published_description(folder: Path) -> None:
    state, model = official_state(), text_model()
    numbers = json.loads((folder / "vocab.json").read_text())
    embedder = load_embedder(folder)
    for text, prepared in (
        ("Liver: Normal.", "liver : normal ."),
        ("3.5cm cyst, NO\nascites", "3 . 5cm cyst , no ascites"),
    ):
        tokens = [numbers["<s>"], *(numbers[sign] for sign in prepared.replace(" ", "Ġ")), numbers["</s>"]]
        first = model(torch.tensor([tokens])).last_hidden_state[:, 0]
        projected = functional.linear(
            first, state["encode_text.linear_layer.weight"], state["encode_text.linear_layer.bias"]
        )
        row = embedder.embed([decode(EmbeddingInput(text=text))])[0]
        assert row @ unit(projected)[0] > 1 - 1e-5


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        ("Gallbladder: Normal. Spleen: Normal.", "gallbladder : normal . spleen : normal ."),
        ("T2-weighted (1.5T)...  end_1", "t2 - weighted ( 1 . 5t )... end_1"),
    ],
)
def test_words_and_runs_of_signs_are_set_apart(text: str, prepared: str) -> None:
    """As NLTK's wordpunct_tokenize, whose pattern is a run of word characters or a run of other signs."""
    assert merlin_text(text) == prepared


def test_a_batch_of_one_equals_a_batch_of_many(folder: Path, scans: list[Path]) -> None:
    sources = [
        EmbeddingInput(text="no ascites"),
        EmbeddingInput(text="pleural effusion " * 30, instruction="Find the scan"),
        EmbeddingInput(images=(scans[0],), is_volume=True),
        EmbeddingInput(images=(scans[1],), is_volume=True, text="cyst"),
    ]
    batch = [decode(source) for source in sources]
    many, alone = load_embedder(folder).embed(batch), load_embedder(folder)
    assert np.abs(many - np.concatenate([alone.embed([decoded]) for decoded in batch])).max() < 1e-5


def test_the_voxel_size_and_the_window_reach_the_model() -> None:
    values = np.full((10, 10, 10), 200, dtype=np.float32)
    thin, thick = (merlin_grid(Volume(values, (size, size, size))) for size in (1.5, 6.0))
    # 9 * 1.5 / 1.5 + 1 = 10 and 9 * 1.5 / 3 + 1 = 5.5 (rounded to even: 6) voxels; 9 * 6 / 1.5 + 1 = 37 and 19
    assert (np.count_nonzero(thin), np.count_nonzero(thick)) == (10 * 10 * 6, 37 * 37 * 19)
    assert thin.max() == pytest.approx(0.6)
    assert thin.shape == (224, 224, 160)
    loud = merlin_grid(Volume(np.full((4, 4, 4), 3000, dtype=np.float32), (1.5, 1.5, 3)))
    assert sorted(set(loud.ravel().tolist())) == [0, 1]


def test_plane_images_and_pictures_of_slices_are_refused(folder: Path, image_files: list[Path]) -> None:
    embedder = load_embedder(folder)
    with pytest.raises(InputUnsupported, match="cannot embed image"):
        embedder.embed([decode(EmbeddingInput(images=(image_files[0],)))])
    with pytest.raises(InputUnsupported, match="no voxel size"):
        embedder.embed([decode(EmbeddingInput(images=tuple(image_files), is_volume=True))])


def test_a_probing_suite_gives_it_whole_volumes(folder: Path) -> None:
    assert sees_volumes(load_embedder(folder).description)


def test_texts_are_cut_at_1024_tokens_and_that_is_told(folder: Path) -> None:
    embedder = load_embedder(folder)
    texts = ["x" * 1022, "x" * 1023, "x." * 400]
    assert embedder.cuts(texts) == [False, True, True]  # a space stands around each full stop
    assert embedder.token_counts([DecodedInput(EmbeddingInput(text=text)) for text in texts]) == [1024] * 3


def test_an_image_encoder_alone_gives_image_features(tmp_path: Path, scans: list[Path]) -> None:
    state = {name.removeprefix(IMAGE): tensor for name, tensor in official_state().items() if name.startswith(IMAGE)}
    heads = ("classifier.", "contrastive_head.")
    backbone = {name: tensor for name, tensor in state.items() if not name.startswith(heads)}
    folder = convert_tiny("astra-ct", {"state_dict": backbone, "meta": {}}, tmp_path, tokenizer=None)
    embedder = load_embedder(folder)
    assert embedder.description.encode_config["name"] == "astra-ct"
    scan = EmbeddingInput(images=(scans[0],), is_volume=True)
    row = embedder.embed([decode(scan)])[0]
    assert row @ unit(image_features(scans[0]))[0] > 1 - 1e-5
    assert (embedder.description.dimension, embedder.description.kinds) == (FEATURES, ("volume",))
    with pytest.raises(InputUnsupported, match="cannot embed text"):
        embedder.embed([decode(EmbeddingInput(text="a cyst"))])
    with pytest.raises(InputUnsupported, match="cannot be embedded with image-features"):
        embedder.embed([DecodedInput(EmbeddingInput(images=scan.images, is_volume=True, instruction="Find it"))])
    with pytest.raises(ModelInvalid, match="choose the encode config image-features"):
        load_embedder(folder, encode_config="default")


def test_a_checkpoint_with_other_tensors_is_refused(tmp_path: Path, tokenizer: Path) -> None:
    whole = official_state()
    for number, (name, tensor, message) in enumerate(
        (
            (f"{IMAGE}layer2.1.bn3.running_var", None, r"lacks .*layer2\.1\.bn3\.running_var"),
            (f"{IMAGE}layer3.0.conv2.weight", torch.ones(8, 8, 3, 3), r"\(8, 8, 3, 3\); \(8, 8, 3, 3, 3\) is needed"),
            (f"{TEXT}encoder.layer.0.extra", torch.ones(2), "holds .*layer.0.extra"),
            ("encode_text.linear_layer.weight", None, "lack encode_text.linear_layer.weight"),
        )
    ):
        state = {key: value for key, value in whole.items() if key != name}
        if tensor is not None:
            state[name] = tensor
        with pytest.raises(ConversionRefused, match=message):
            convert_tiny("merlin", state, tmp_path / str(number), tokenizer=tokenizer)
