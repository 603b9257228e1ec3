"""Demo tasks on findings: image to label, image to image, text to image."""

from evaluation.suites.demo import head
from evaluation.suites.demo.drawing import HEAD_ROOT, Gallery
from evaluation.suites.demo.modalities import Modality
from evaluation.suites.demo.specs import (
    FIND_IMAGE,
    LABEL_QUESTION,
    MATCH_LABEL,
    NAME_LABEL,
    PHRASE,
    cases_of,
    draft_task,
)
from evaluation.suites.pairing import Case, find_caption, find_label, generator, match_label, name_label
from evaluation.suites.records import TaskDraft
from evaluation.vocabulary import Domain, Family, Parser, PoolScope, Split


def _suffix(split: Split) -> str:
    return "" if split is Split.IN_DISTRIBUTION else "B"


def _machine(split: Split) -> str:
    return "" if split is Split.IN_DISTRIBUTION else ", machine B"


def label_task(modality: Modality, gallery: Gallery, split: Split = Split.IN_DISTRIBUTION) -> TaskDraft:
    return draft_task(
        f"{modality.dataset}{_suffix(split)}_cls",
        f"Finding of a {modality.title}{_machine(split)}",
        family=Family.IMAGE_TO_LABEL,
        domain=modality.domain,
        parser=Parser.IMAGE_CLS,
        dataset=f"{modality.dataset}{_suffix(split)}",
        image_root=modality.image_root,
        rule="the name of the finding that was drawn",
        records=name_label(
            cases_of(gallery, modality),
            instruction=NAME_LABEL,
            question=LABEL_QUESTION.format(title=modality.title),
            labels=modality.findings,
        ),
        split=split,
    )


def head_label_task(gallery: Gallery) -> TaskDraft:
    return draft_task(
        "DemoHead_cls",
        "Finding of a head MR volume",
        family=Family.IMAGE_TO_LABEL,
        domain=Domain.NEURO,
        parser=Parser.VOLUME_I2T,
        dataset="DemoHead",
        image_root=HEAD_ROOT,
        rule="the name of the finding that was drawn",
        records=name_label(
            [pair.first for pair in gallery.heads],
            instruction=NAME_LABEL,
            question=LABEL_QUESTION.format(title="head MR volume"),
            labels=head.FINDINGS,
        ),
    )


def match_task(modality: Modality, gallery: Gallery, split: Split = Split.IN_DISTRIBUTION) -> TaskDraft:
    name = f"{modality.dataset}{_suffix(split)}_i2i"
    cases = cases_of(gallery, modality)
    return draft_task(
        name,
        f"Another {modality.title} with the same finding{_machine(split)}",
        family=Family.IMAGE_TO_IMAGE,
        domain=modality.domain,
        parser=Parser.IMAGE_I2I_VG,
        dataset=f"{modality.dataset}{_suffix(split)}",
        image_root=modality.image_root,
        rule="another patient's image with the same finding; all others have another finding",
        records=match_label(cases, cases, instruction=MATCH_LABEL, distractors=9, rng=generator(name)),
        split=split,
    )


def head_match_task(gallery: Gallery) -> TaskDraft:
    cases = [pair.second for pair in gallery.heads]
    return draft_task(
        "DemoHead_i2i",
        "Another head MR volume with the same finding",
        family=Family.IMAGE_TO_IMAGE,
        domain=Domain.NEURO,
        parser=Parser.VOLUME_I2I,
        dataset="DemoHead",
        image_root=HEAD_ROOT,
        rule="another patient's T2 volume with the same finding; all others have another finding",
        records=match_label(cases, cases, instruction=MATCH_LABEL, distractors=9, rng=generator("DemoHead_i2i")),
    )


def find_task(modality: Modality, gallery: Gallery, split: Split = Split.IN_DISTRIBUTION) -> TaskDraft:
    name = f"{modality.dataset}{_suffix(split)}_t2i"
    return draft_task(
        name,
        f"{modality.title.capitalize()} for the name of a finding{_machine(split)}",
        family=Family.TEXT_TO_IMAGE,
        domain=modality.domain,
        parser=Parser.IMAGE_T2I,
        dataset=f"{modality.dataset}{_suffix(split)}",
        image_root=modality.image_root,
        rule="the image with the named finding; all others have another finding",
        records=find_label(
            cases_of(gallery, modality),
            instruction=FIND_IMAGE,
            phrase=PHRASE.format(title=modality.title, label="{label}"),
            distractors=9,
            rng=generator(name),
        ),
        split=split,
    )


def head_find_task(gallery: Gallery) -> TaskDraft:
    return draft_task(
        "DemoHead_t2i",
        "Head MR volume for a report",
        family=Family.TEXT_TO_IMAGE,
        domain=Domain.NEURO,
        parser=Parser.VOLUME_T2I,
        dataset="DemoHead",
        image_root=HEAD_ROOT,
        rule="the volume that the report describes",
        records=find_caption(_distinct([pair.first for pair in gallery.heads]), instruction=FIND_IMAGE),
        pool=PoolScope.GLOBAL,
    )


def _distinct(cases: list[Case]) -> list[Case]:
    """The first case of each caption, so that a caption has one relevant case."""
    return list({case.caption: case for case in reversed(cases)}.values())[::-1]
