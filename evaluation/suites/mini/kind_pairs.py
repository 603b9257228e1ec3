"""Training pairs that say what kind of picture an image is, and texts on other kinds and things to tell it from."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from evaluation.suites.mini.drafting import below
from evaluation.suites.mini.kind_words import SITES_WITH_OTHERS, THINGS, Kind, all_kinds
from evaluation.suites.mini.library import Parts
from evaluation.suites.mini.source import Source
from evaluation.suites.mini.sources import chest, eye, microscopy, organs, skin
from evaluation.suites.pairing import Case, generator
from evaluation.suites.records import Evidence, TrainingPair

FILE = "Kinds"
CAPTIONS_OF_AN_IMAGE = 2
# The kind of every image of a source; those of HAM10000 and of the CT slices differ by image.
_KINDS = (
    (chest.KERMANY, "radiograph/chest"),
    (organs.BUSI, "ultrasound/breast"),
    (eye.GRADING, "fundus_camera/retina"),
    (microscopy.ORAL, "h_and_e/mouth"),
    (microscopy.BLOOD_CELLS, "stained_smear/blood_cell"),
)


def kind_training(raw: Path, parts: dict[str, Parts]) -> dict[str, list[TrainingPair]]:
    """One file: each training image with captions of its kind, and texts that mean the same with each other.

    Pairs have no instruction, because a picture shows its kind whatever is asked. Pairs of one kind have one label.
    """
    kinds = {kind.key: kind for kind in all_kinds()}
    pairs = [
        pair for source, case, key in _kinds_of_images(raw, parts) for pair in _image_pairs(source, case, kinds[key])
    ]
    return {FILE: [*pairs, *_text_pairs(kinds.values())]}


def _kinds_of_images(raw: Path, parts: dict[str, Parts]) -> Iterator[tuple[Source, Case, str]]:
    for source, key in _KINDS:
        for case in parts[source.dataset].train:
            yield source, case, key
    for case in parts[organs.CT_LEVEL.dataset].train:
        yield organs.CT_LEVEL, case, f"ct/{case.label}"
    sites = skin.read_sites(raw)
    for case in parts[skin.HAM.dataset].train:
        site = sites[Path(case.images[0]).stem]
        if site not in SITES_WITH_OTHERS:
            yield skin.HAM, case, f"dermoscopy/{site}"


def _image_pairs(source: Source, case: Case, kind: Kind) -> Iterator[TrainingPair]:
    captions = kind.captions
    chosen = generator(f"kind: {case.images[0]}").permutation(len(captions))[:CAPTIONS_OF_AN_IMAGE]
    for number in chosen:
        yield TrainingPair("", below(source.image_root, case.evidence), Evidence(text=captions[number]), kind.key)


def _text_pairs(kinds: Iterable[Kind]) -> Iterator[TrainingPair]:
    """Two wordings of each kind, and both names of each everyday thing."""
    for kind in kinds:
        yield _text_pair(kind.captions[0], kind.captions[-1], kind.key)
    for one, other in THINGS:
        yield _text_pair(one, other, one)


def _text_pair(one: str, other: str, label: str) -> TrainingPair:
    return TrainingPair("", Evidence(text=one), Evidence(text=other), label)
