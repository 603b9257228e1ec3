"""Training pairs that say what kind of picture an image is, and texts on other kinds and things to tell it from."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evaluation.suites.mini.drafting import below
from evaluation.suites.mini.kind_words import SITES, THINGS, Kind, all_kinds
from evaluation.suites.mini.library import Parts
from evaluation.suites.mini.source import Source
from evaluation.suites.mini.sources import chest, eye, microscopy, organs, skin
from evaluation.suites.pairing import Case, generator
from evaluation.suites.records import Evidence, TrainingPair

KINDS, SITES_OF_SKIN = "Kinds", "Skin-Sites"
CAPTIONS_OF_AN_IMAGE = 2
# The kind of every image of a source; the CT slices differ by image.
_KINDS = (
    (chest.KERMANY, "radiograph/chest"),
    (skin.HAM, "dermoscopy/skin"),
    (organs.BUSI, "ultrasound/breast"),
    (eye.GRADING, "fundus_camera/retina"),
    (microscopy.ORAL, "h_and_e/mouth"),
    (microscopy.BLOOD_CELLS, "stained_smear/blood_cell"),
)


def kind_training(raw: Path, parts: dict[str, Parts]) -> dict[str, list[TrainingPair]]:
    """Two files. One has each training image with captions of its kind, and texts on kinds and things with each other.

    The other has HAM10000's images with their site: apart, because a caption without a site is true beside one with it.
    Pairs have no instruction, because a picture shows its kind whatever is asked. Pairs of one kind have one label.
    """
    kinds = {kind.key: kind for kind in all_kinds()}
    pairs = [
        pair
        for source, case, key in _kinds_of_images(parts)
        for pair in _image_pairs(source, case, kinds[key].captions, key)
    ]
    sites = skin.read_sites(raw)
    sited = [(case, sites[Path(case.images[0]).stem]) for case in parts[skin.HAM.dataset].train]
    site_pairs = [
        pair for case, site in sited if site in SITES for pair in _image_pairs(skin.HAM, case, SITES[site], site)
    ]
    return {KINDS: [*pairs, *_text_pairs(kinds.values())], SITES_OF_SKIN: site_pairs}


def _kinds_of_images(parts: dict[str, Parts]) -> Iterator[tuple[Source, Case, str]]:
    for source, key in _KINDS:
        for case in parts[source.dataset].train:
            yield source, case, key
    for case in parts[organs.CT_LEVEL.dataset].train:
        yield organs.CT_LEVEL, case, f"ct/{case.label}"


def _image_pairs(source: Source, case: Case, captions: Sequence[str], label: str) -> Iterator[TrainingPair]:
    chosen = generator(f"kind: {case.images[0]}").permutation(len(captions))[:CAPTIONS_OF_AN_IMAGE]
    for number in chosen:
        yield TrainingPair("", below(source.image_root, case.evidence), Evidence(text=captions[number]), label)


def _text_pairs(kinds: Iterable[Kind]) -> Iterator[TrainingPair]:
    """Two wordings of each kind, and both names of each everyday thing."""
    for kind in kinds:
        yield _text_pair(kind.captions[0], kind.captions[-1], kind.key)
    for one, other in THINGS:
        yield _text_pair(one, other, one)


def _text_pair(one: str, other: str, label: str) -> TrainingPair:
    return TrainingPair("", Evidence(text=one), Evidence(text=other), label)
