"""Draws the demo suite's patients and saves their images."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.suites.building import ImageWriter
from evaluation.suites.demo import chest, head
from evaluation.suites.demo.canvas import MACHINE_A, MACHINE_B, Box, Pixels
from evaluation.suites.demo.modalities import MODALITIES, Modality
from evaluation.suites.pairing import Case, generator

Part = Literal["train", "test", "held_out"]
CHEST_ROOT = "3D_Images/DemoChest"
HEAD_ROOT = "3D_Images/DemoHead"
PER_FINDING: dict[Part, int] = {"train": 14, "test": 7, "held_out": 6}
VOLUMES_PER_FINDING: dict[Part, int] = {"train": 7, "test": 6}
MIN_CROP = 16


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawn patient: the case, the side of the finding, and the crop of the finding where it has a place."""

    case: Case
    side: str
    crop: str | None


@dataclass(frozen=True, slots=True)
class Bridged:
    """Two pieces of evidence of one patient; the image roots of both are the same."""

    first: Case
    second: Case


@dataclass(frozen=True, slots=True)
class Gallery:
    """Everybody who was drawn for one part of the suite.

    `repeats` are second exposures (other machine) of the radiographs in `drawn`, in the same order.
    """

    drawn: dict[str, tuple[Drawn, ...]]
    repeats: tuple[str, ...]
    heads: tuple[Bridged, ...]
    chests: tuple[Bridged, ...]


def draw_part(writer: ImageWriter, part: Part) -> Gallery:
    """Draw everybody of the train or test part, or (2D only, the other machine) of the held-out part."""
    held_out = part == "held_out"
    return Gallery(
        drawn={modality.dataset: _draw_modality(writer, modality, part) for modality in MODALITIES},
        repeats=() if part != "test" else _draw_repeats(writer, part),
        heads=() if held_out else _draw_heads(writer, part),
        chests=() if held_out else _draw_chests(writer, part),
    )


def _names(part: Part, findings: tuple[str, ...], per_finding: int) -> list[tuple[str, str]]:
    """Pairs of patient name and finding; the findings take turns, so that any first few are mixed."""
    return [(f"{part}-{number:03d}", findings[number % len(findings)]) for number in range(per_finding * len(findings))]


def _draw_modality(writer: ImageWriter, modality: Modality, part: Part) -> tuple[Drawn, ...]:
    look = MACHINE_B if part == "held_out" else MACHINE_A
    drawn = []
    for name, finding in _names(part, modality.findings, PER_FINDING[part]):
        picture = modality.draw(finding, generator(f"{modality.dataset}/{name}"), look)
        image = writer.save(modality.image_root, f"{name}.png", picture.pixels)
        crop = None
        if picture.box is not None and part != "held_out":
            crop = writer.save(modality.image_root, f"{name}-crop.png", _cut(picture.pixels, picture.box))
        case = Case(f"{modality.dataset}/{name}", (image,), finding, picture.caption)
        drawn.append(Drawn(case, picture.side, crop))
    return tuple(drawn)


def _cut(pixels: Pixels, box: Box) -> Pixels:
    left, top, right, bottom = box
    return pixels[top : max(bottom, top + MIN_CROP), left : max(right, left + MIN_CROP)]


def _draw_repeats(writer: ImageWriter, part: Part) -> tuple[str, ...]:
    radiograph = MODALITIES[0]
    return tuple(
        writer.save(
            radiograph.image_root,
            f"{name}-repeat.png",
            radiograph.draw(finding, generator(f"{radiograph.dataset}/{name}"), MACHINE_B).pixels,
        )
        for name, finding in _names(part, radiograph.findings, PER_FINDING[part])
    )


def _draw_heads(writer: ImageWriter, part: Part) -> tuple[Bridged, ...]:
    pairs = []
    for name, finding in _names(part, head.FINDINGS, VOLUMES_PER_FINDING[part]):
        rng = generator(f"DemoHead/{name}")
        patient = head.imagine_head(finding, rng)
        caption = head.head_report(patient)
        first, second = (
            Case(
                f"DemoHead/{name}",
                _save_slices(writer, HEAD_ROOT, f"{name}/{contrast}", slices),
                finding,
                caption,
                is_volume=True,
            )
            for contrast in ("T1", "T2")
            for slices in (head.draw_head_volume(patient, contrast, rng, MACHINE_A),)
        )
        pairs.append(Bridged(first, second))
    return tuple(pairs)


def _draw_chests(writer: ImageWriter, part: Part) -> tuple[Bridged, ...]:
    pairs = []
    for name, finding in _names(part, chest.FINDINGS, VOLUMES_PER_FINDING[part]):
        rng: np.random.Generator = generator(f"DemoChest/{name}")
        patient = chest.imagine_chest(finding, rng)
        film = chest.draw_radiograph(patient, rng, MACHINE_A)
        image = writer.save(CHEST_ROOT, f"{name}/radiograph.png", film.pixels)
        slices = _save_slices(writer, CHEST_ROOT, f"{name}/CT", chest.draw_chest_volume(patient, rng, MACHINE_A))
        key = f"DemoChest/{name}"
        pairs.append(
            Bridged(
                Case(key, (image,), finding, film.caption), Case(key, slices, finding, film.caption, is_volume=True)
            )
        )
    return tuple(pairs)


def _save_slices(writer: ImageWriter, root: str, name: str, slices: tuple[Pixels, ...]) -> tuple[str, ...]:
    return tuple(writer.save(root, f"{name}/{number:02d}.png", pixels) for number, pixels in enumerate(slices))
