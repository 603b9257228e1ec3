"""Many questions about one image in a batch cost one pass of the image; a row never depends on earlier batches."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from evaluation.decoding import DecodedInput
from evaluation.embedders import dual_encoder
from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.inputs import EmbeddingInput
from evaluation.types import ModelDescription


class CountingTowers:
    """Image vector: (brightness, 1); text vector: (0, length). Counts the images and keeps the texts that it is given."""

    description = ModelDescription("test", "test", dimension=2, parameters=0, kinds=ALL_KINDS)

    def __init__(self) -> None:
        self.images_seen = 0
        self.texts_seen: list[str] = []

    def image_features(self, images: Sequence[Image.Image]) -> np.ndarray:
        self.images_seen += len(images)
        return np.array([[np.asarray(image).mean(), 1.0] for image in images], dtype=np.float32)

    def text_features(self, texts: Sequence[str]) -> np.ndarray:
        self.texts_seen += texts
        return np.array([[0.0, len(text)] for text in texts], dtype=np.float32)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]


def question(name: str, brightness: int, text: str) -> DecodedInput:
    image = Image.new("RGB", (2, 2), (brightness,) * 3)
    return DecodedInput(EmbeddingInput(text=text, images=(Path(name),)), (image,))


def volume(name: str, brightness: int, text: str = "") -> DecodedInput:
    picture = question(name, brightness, text)
    return DecodedInput(EmbeddingInput(text=text, images=(Path(name),), is_volume=True), picture.images * 8)


def test_an_image_goes_through_its_tower_once_for_all_questions_of_a_batch() -> None:
    towers = CountingTowers()
    encoder = DualEncoder(towers)
    first = encoder.embed([question("a", 10, "x"), question("a", 10, "xyz"), question("b", 30, "x")])
    assert towers.images_seen == 2
    assert first.tolist() == [[5.0, 1.0], [5.0, 2.0], [15.0, 1.0]]
    again = encoder.embed([question("b", 30, "xyz"), question("a", 10, "")])
    assert towers.images_seen == 2, "the same images, in whatever order"
    assert again.tolist() == [[15.0, 2.0], [10.0, 1.0]]
    encoder.embed([question("b", 30, "xyz"), question("c", 10, "")])
    assert towers.images_seen == 4, "an image beside another one"


def test_a_volume_and_its_slices_as_images_are_kept_apart() -> None:
    towers = CountingTowers()
    picture = question("a", 10, "")
    slices = DecodedInput(EmbeddingInput(images=(Path("a"),), is_volume=True), (*picture.images, *picture.images))
    DualEncoder(towers).embed([picture, slices])
    assert towers.images_seen == 3


def test_a_text_goes_through_its_tower_once_for_all_inputs_of_a_batch() -> None:
    towers = CountingTowers()
    rows = DualEncoder(towers).embed([question("a", 10, "x"), question("b", 30, " x "), question("b", 30, "xyz")])
    assert towers.texts_seen == ["x", "xyz"]
    assert rows.tolist() == [[5.0, 1.0], [15.0, 1.0], [15.0, 2.0]]


def test_a_volume_goes_through_its_tower_alone_and_once_for_all_batches() -> None:
    class Calls(CountingTowers):
        def __init__(self) -> None:
            super().__init__()
            self.calls: list[int] = []

        def image_features(self, images: Sequence[Image.Image]) -> np.ndarray:
            self.calls.append(len(images))
            return super().image_features(images)

    towers = Calls()
    encoder = DualEncoder(towers)
    encoder.embed([volume("a", 10), question("c", 50, ""), volume("b", 30)])
    again = encoder.embed([volume("b", 30, "xyz"), volume("a", 10, "x")])
    assert sorted(towers.calls) == [1, 8, 8]
    assert again.tolist() == [[15.0, 2.0], [5.0, 1.0]]


def test_what_is_remembered_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(dual_encoder, "_REMEMBERED", 1)
    towers = CountingTowers()
    encoder = DualEncoder(towers)
    for name in ("a", "b", "b", "a"):
        encoder.embed([volume(name, 10)])
    assert towers.images_seen == 3 * 8


def test_what_was_seen_can_be_forgotten() -> None:
    towers = CountingTowers()
    encoder = DualEncoder(towers)
    encoder.embed([question("a", 10, "x")])
    encoder.forget()
    assert encoder.embed([question("a", 30, "x")]).tolist() == [[15.0, 1.0]], "another image of the same name"
    assert towers.images_seen == 2
