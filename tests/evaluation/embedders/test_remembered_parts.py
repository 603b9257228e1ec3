"""An image is passed once, however many questions are asked about it, and its vector depends on nothing else."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from evaluation.decoding import DecodedInput
from evaluation.embedders import dual_encoder
from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.inputs import EmbeddingInput
from evaluation.types import ModelDescription

SIZE = (2, 2)


class CountingTowers:
    """Image vector: (brightness, 1); text vector: (0, length). Keeps the passes of images of ours, and the texts."""

    description = ModelDescription("test", "test", dimension=2, parameters=0, kinds=ALL_KINDS)

    def __init__(self) -> None:
        self.passes: list[list[float]] = []
        self.texts_seen: list[str] = []

    def image_features(self, images: Sequence[Image.Image]) -> np.ndarray:
        brightness = [float(np.asarray(image).mean()) for image in images]
        if any(image.size == SIZE for image in images):  # and not those with which sizes of passes are tried
            self.passes.append(brightness)
        return np.array([[each, 1.0] for each in brightness], dtype=np.float32)

    def text_features(self, texts: Sequence[str]) -> np.ndarray:
        self.texts_seen += texts
        return np.array([[0.0, len(text)] for text in texts], dtype=np.float32)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]


def question(name: str, brightness: int, text: str) -> DecodedInput:
    image = Image.new("RGB", SIZE, (brightness,) * 3)
    return DecodedInput(EmbeddingInput(text=text, images=(Path(name),)), (image,))


def volume(name: str, brightness: int, text: str = "") -> DecodedInput:
    picture = question(name, brightness, text)
    return DecodedInput(EmbeddingInput(text=text, images=(Path(name),), is_volume=True), picture.images * 8)


def test_an_image_goes_through_its_tower_once_for_all_questions() -> None:
    towers = CountingTowers()
    encoder = DualEncoder(towers)
    first = encoder.embed([question("a", 10, "x"), question("a", 10, "xyz"), question("b", 30, "x")])
    assert towers.passes == [[10, 30, 0, 0]]
    assert first.tolist() == [[5.0, 1.0], [5.0, 2.0], [15.0, 1.0]]
    again = encoder.embed([question("b", 30, "xyz"), question("c", 50, ""), question("a", 10, "")])
    assert towers.passes[1:] == [[50, 0, 0, 0]]
    assert again.tolist() == [[15.0, 2.0], [50.0, 1.0], [10.0, 1.0]]


def test_a_volume_and_its_slices_as_images_are_kept_apart() -> None:
    towers = CountingTowers()
    picture = question("a", 10, "")
    slices = DecodedInput(EmbeddingInput(images=(Path("a"),), is_volume=True), (*picture.images, *picture.images))
    DualEncoder(towers).embed([picture, slices])
    assert towers.passes == [[10, 10, 10, 0]]


def test_a_text_goes_through_its_tower_once_for_all_inputs_of_a_batch() -> None:
    towers = CountingTowers()
    rows = DualEncoder(towers).embed([question("a", 10, "x"), question("b", 30, " x "), question("b", 30, "xyz")])
    assert towers.texts_seen == ["x", "xyz"]
    assert rows.tolist() == [[5.0, 1.0], [15.0, 1.0], [15.0, 2.0]]


def test_a_volume_goes_through_its_tower_once_for_all_batches() -> None:
    towers = CountingTowers()
    encoder = DualEncoder(towers)
    encoder.embed([volume("a", 10), question("c", 50, ""), volume("b", 30)])
    assert towers.passes == [[10] * 8, [50] + [30] * 7, [30] + [0] * 3]
    again = encoder.embed([volume("b", 30, "xyz"), volume("a", 10, "x")])
    assert len(towers.passes) == 3
    assert again.tolist() == [[15.0, 2.0], [5.0, 1.0]]


def test_what_is_remembered_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(dual_encoder, "_REMEMBERED", 2)
    towers = CountingTowers()
    encoder = DualEncoder(towers)
    rows = encoder.embed([question(name, brightness, "") for brightness, name in enumerate("abc", start=1)])
    assert rows[:, 0].tolist() == [1, 2, 3], "a batch with more images than are remembered"
    for name, brightness in (("b", 2), ("c", 3), ("b", 2), ("a", 1), ("b", 2), ("c", 3)):
        encoder.embed([question(name, brightness, "")])
    assert [passed[0] for passed in towers.passes[1:]] == [1, 3], "c was used longest ago when a came back"


def test_what_was_seen_can_be_forgotten() -> None:
    towers = CountingTowers()
    encoder = DualEncoder(towers)
    encoder.embed([question("a", 10, "x")])
    encoder.forget()
    assert encoder.embed([question("a", 30, "x")]).tolist() == [[15.0, 1.0]], "another image of the same name"
    assert len(towers.passes) == 2
