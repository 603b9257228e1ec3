"""lite-dual: real towers against independent ways to run them, and a repository that is read back as written."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from efficientnet_lite_pytorch import EfficientNet
from PIL import Image
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sklearn.datasets import load_sample_image

from evaluation.decoding import decode
from evaluation.embedders import packaged
from evaluation.embedders.lite_dual import LinearProjection, build_lite_dual
from evaluation.embedders.lite_towers import FrozenTowers, load_pretrained_towers
from evaluation.embedders.registry import load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import ModelInvalid
from evaluation.inputs import EmbeddingInput
from tests.evaluation.embedders.standing_alone import assert_images_stand_alone

DAISY, MONASTERY = 985, 663
TEXTS = ["a nodule in the left lung", "no", "the heart is not enlarged " * 80]


@pytest.fixture(scope="module")
def towers() -> FrozenTowers:
    return load_pretrained_towers()


@pytest.fixture(scope="module")
def projections() -> tuple[LinearProjection, LinearProjection]:
    generator = np.random.default_rng(5)
    image, text = (
        LinearProjection(
            generator.normal(size=(24, features)).astype(np.float32), generator.normal(size=24).astype(np.float32)
        )
        for features in (1280, 384)
    )
    return image, text


@pytest.fixture(scope="module")
def lite_folder(
    tmp_path_factory: pytest.TempPathFactory,
    towers: FrozenTowers,
    projections: tuple[LinearProjection, LinearProjection],
) -> Path:
    folder = tmp_path_factory.mktemp("models") / "lite"
    image, text = projections
    build_lite_dual(folder, towers=towers, image_projection=image, text_projection=text, training={"seed": 5})
    return folder


@torch.inference_mode()
def test_image_features_are_what_imagenets_classifier_reads(towers: FrozenTowers) -> None:
    network = EfficientNet.from_name("efficientnet-lite0").eval()
    network.load_state_dict(torch.load(packaged.efficientnet_file(), weights_only=True))
    read_by_classifier: list[torch.Tensor] = []
    network._fc.register_forward_pre_hook(lambda _, inputs: read_by_classifier.append(inputs[0]))
    for name, label in (("flower.jpg", DAISY), ("china.jpg", MONASTERY)):
        image = Image.fromarray(load_sample_image(name))
        pixels = np.asarray(image.resize((224, 224), Image.Resampling.BICUBIC), dtype=np.float32)
        scores = network(torch.from_numpy(((pixels - 127) / 128).transpose(2, 0, 1)[np.newaxis]))
        assert label in scores[0].topk(3).indices
        expected = read_by_classifier.pop()[0].numpy()
        assert np.abs(towers.image_features([image])[0] - expected / np.linalg.norm(expected)).max() < 1e-5


def test_text_features_equal_sentence_transformers(towers: FrozenTowers) -> None:
    reference = SentenceTransformer(str(packaged.minilm_folder()), device="cpu", local_files_only=True)
    assert np.abs(towers.text_features(TEXTS) - reference.encode(TEXTS)).max() < 1e-5


def test_features_have_unit_length_and_fixed_shapes(towers: FrozenTowers) -> None:
    images = towers.image_features([Image.new("RGB", (30, 50), "white")] * 33)
    texts = towers.text_features(["a"] * 65)
    assert (images.shape, texts.shape) == ((33, 1280), (65, 384))
    assert (images.dtype, texts.dtype) == (np.float32, np.float32)
    assert np.abs(np.linalg.norm(images, axis=1) - 1).max() < 1e-5
    assert towers.image_features([]).shape == (0, 1280)


def test_the_repository_projects_the_features(
    lite_folder: Path,
    towers: FrozenTowers,
    projections: tuple[LinearProjection, LinearProjection],
    image_files: list[Path],
) -> None:
    image, text = projections
    embedder = load_embedder(lite_folder)
    source = EmbeddingInput(images=tuple(image_files[:2]), text="pneumonia", instruction="Find it")
    parts = []
    for path in source.images:
        vector = image.weight @ towers.image_features([Image.open(path).convert("RGB")])[0] + image.bias
        parts.append(vector / np.linalg.norm(vector))
    pictures = np.mean(parts, axis=0)
    words = [text.weight @ towers.text_features([part])[0] + text.bias for part in ("pneumonia", "Find it")]
    words = [vector / np.linalg.norm(vector) for vector in words]
    expected = np.mean([pictures, *words], axis=0)
    assert np.abs(embedder.embed([decode(source)])[0] - expected).max() < 1e-5
    assert (embedder.description.dimension, embedder.description.family) == (24, "lite_dual")


def test_a_batch_of_one_equals_a_batch_of_many(lite_folder: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    embedder = load_embedder(lite_folder)
    many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
    assert np.abs(many - one).max() < 1e-5


def test_writing_again_gives_the_same_bytes(
    lite_folder: Path, tmp_path: Path, projections: tuple[LinearProjection, LinearProjection]
) -> None:
    image, text = projections
    build_lite_dual(
        tmp_path,
        towers=load_pretrained_towers(),
        image_projection=image,
        text_projection=text,
        training={"seed": 5},
    )
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        assert (tmp_path / name).read_bytes() == (lite_folder / name).read_bytes()


def test_a_projection_of_another_shape_is_refused(
    tmp_path: Path, towers: FrozenTowers, projections: tuple[LinearProjection, LinearProjection]
) -> None:
    image, text = projections
    with pytest.raises(ValueError, match="image projection"):
        build_lite_dual(tmp_path, towers=towers, image_projection=text, text_projection=image, training={})


@pytest.mark.parametrize(
    "name", ["image_projection.bias", "image_tower._conv_head.weight", "text_tower.embeddings.LayerNorm.bias"]
)
def test_a_repository_that_lacks_a_weight_is_refused(lite_folder: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(lite_folder, tmp_path / "lacking")
    tensors = load_file(folder / "model.safetensors")
    del tensors[name]
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelInvalid, match="lacking"):
        load_embedder(folder)


def test_a_repository_without_text_configuration_is_refused(lite_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(lite_folder, tmp_path / "bare")
    (folder / "config.json").write_text(json.dumps({"model_type": "medboard-lite-dual"}))
    with pytest.raises(ModelInvalid, match="text_config"):
        load_embedder(folder)


def test_changed_pickled_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = tmp_path / "changed.pth"
    changed.write_bytes(b"something else")
    monkeypatch.setattr(packaged.EfficientnetLite0ModelFile, "get_model_file_path", lambda: str(changed))
    with pytest.raises(ModelInvalid, match="pinned"):
        load_pretrained_towers()


def test_the_vector_of_an_image_depends_on_nothing_else(lite_folder: Path, image_files: list[Path]) -> None:
    assert_images_stand_alone(load_embedder(lite_folder), image_files)
