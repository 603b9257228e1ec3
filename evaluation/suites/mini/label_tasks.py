"""Tasks on labels: image to label, image to image of the same label, label to image."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.suites.building import ImageWriter
from evaluation.suites.mini.drafting import (
    FIND_IMAGE,
    LABEL_QUESTION,
    MATCH_LABEL,
    NAME_LABEL,
    PHRASE,
    below,
    draft_task,
)
from evaluation.suites.mini.library import Parts, copy_parts, labels_of, trained_cases, with_enough
from evaluation.suites.mini.near_copies import join_near_copies
from evaluation.suites.mini.source import RawCase, Source
from evaluation.suites.mini.sources import chest, eye, microscopy, organs, skin, vqa_rad
from evaluation.suites.pairing import Case, find_label, generator, match_label, name_label, with_question
from evaluation.suites.records import Evidence, TaskDraft, TrainingPair
from evaluation.vocabulary import Family, Parser

DISTRACTORS = 9


@dataclass(frozen=True, slots=True)
class Labelled:
    """A source whose images have one label each, and the kinds of task that it gives (`cls`, `i2i`, `t2i`)."""

    source: Source
    read: Callable[[Path], Sequence[RawCase]]
    kinds: tuple[str, ...]


def _read_nih(raw: Path) -> list[RawCase]:
    """Images with one finding or none, so that no second finding can be right."""
    return [case for case, _ in chest.read_nih(raw) if case.label]


def _read_isic(raw: Path) -> list[RawCase]:
    return [case for case in skin.read_isic(raw) if case.label != "melanoma"]


def _read_organs(raw: Path) -> list[RawCase]:
    cases = {question.case.file: question.case for question in vqa_rad.read_vqa_rad(raw)}
    return [cases[file] for file in sorted(cases)]


def _joined(read: Callable[[Path], list[RawCase]]) -> Callable[[Path], list[RawCase]]:
    """The reader, with near copies counted as one patient, for sources without patient ids."""
    return lambda raw: join_near_copies(read(raw))


def _read_grading(raw: Path) -> list[RawCase]:
    return [case for case, _ in graded_eyes(raw)]


def graded_eyes(raw: Path) -> list[tuple[RawCase, str]]:
    """The graded photographs and oedema risks. Copies of a photograph of the segmentation set get its patient."""
    graded = eye.read_grading(raw)
    joined = join_near_copies([case for case, _ in graded], eye.read_segmentation(raw))
    return [(case, risk) for case, (_, risk) in zip(joined, graded, strict=True)]


def segmented_eyes(raw: Path) -> frozenset[str]:
    """Patients of the segmentation set, which is held out."""
    return frozenset(case.patient for case in eye.read_segmentation(raw))


LABELLED = (
    Labelled(chest.KERMANY, _joined(chest.read_kermany), ("cls", "i2i", "t2i")),
    Labelled(chest.NIH, _read_nih, ("cls",)),
    Labelled(skin.HAM, skin.read_ham, ("cls", "i2i", "t2i")),
    Labelled(skin.ISIC, _read_isic, ("cls", "i2i")),
    Labelled(skin.PAD, skin.read_pad, ("cls", "t2i")),
    Labelled(organs.BUSI, _joined(organs.read_busi), ("cls", "i2i")),
    Labelled(organs.POCUS, organs.read_pocus, ("cls",)),
    Labelled(organs.MAMMOGRAPHY, organs.read_mammography, ("cls",)),
    Labelled(organs.CT_LEVEL, organs.read_ct_levels, ("cls", "i2i", "t2i")),
    Labelled(eye.GRADING, _read_grading, ("cls", "i2i")),
    Labelled(vqa_rad.VQA_RAD, _read_organs, ("cls", "t2i")),
    Labelled(microscopy.ORAL, _joined(microscopy.read_oral), ("cls", "i2i")),
    Labelled(microscopy.COLON, microscopy.read_colon, ("cls", "t2i")),
    Labelled(microscopy.BREAST, microscopy.read_breast, ("cls",)),
    Labelled(microscopy.BONE, microscopy.read_bone, ("cls", "i2i")),
    Labelled(microscopy.BLOOD_CELLS, _joined(microscopy.read_blood_cells), ("cls", "t2i")),
    Labelled(microscopy.MALARIA, microscopy.read_malaria, ("cls",)),
)


def label_parts(writer: ImageWriter, raw: Path) -> dict[str, Parts]:
    """The cases of every labelled source by data set, split by patient."""
    return {
        entry.source.dataset: copy_parts(writer, entry.source, entry.read(raw), _only_test(entry.source, raw))
        for entry in LABELLED
    }


def trained_files(raw: Path, source: Source) -> list[Path]:
    """The images below `raw` that the train split has of a labelled source."""
    (entry,) = (entry for entry in LABELLED if entry.source == source)
    return [case.file for case in trained_cases(source, entry.read(raw), _only_test(source, raw))]


def _only_test(source: Source, raw: Path) -> frozenset[str]:
    return segmented_eyes(raw) if source == eye.GRADING else frozenset()


def label_tasks(parts: dict[str, Parts]) -> list[TaskDraft]:
    """All tasks on labels."""
    makers = {"cls": _name_task, "i2i": _match_task, "t2i": _find_task}
    return [
        makers[kind](entry.source, with_enough(parts[entry.source.dataset].test))
        for entry in LABELLED
        for kind in entry.kinds
    ]


def _name_task(source: Source, cases: Sequence[Case]) -> TaskDraft:
    return draft_task(
        f"{source.dataset}_cls",
        f"Label of a {source.title}",
        source=source,
        family=Family.IMAGE_TO_LABEL,
        parser=Parser.IMAGE_CLS,
        rule="the publisher's label of the image",
        records=name_label(
            cases,
            instruction=NAME_LABEL,
            question=LABEL_QUESTION.format(title=source.title),
            labels=labels_of(cases),
        ),
    )


def _match_task(source: Source, cases: Sequence[Case]) -> TaskDraft:
    name = f"{source.dataset}_i2i"
    return draft_task(
        name,
        f"Another {source.title} with the same label",
        source=source,
        family=Family.IMAGE_TO_IMAGE,
        parser=Parser.IMAGE_I2I_VG,
        rule="another patient's image with the publisher's same label; all others have another label",
        records=match_label(cases, cases, instruction=MATCH_LABEL, distractors=DISTRACTORS, rng=generator(name)),
    )


def _find_task(source: Source, cases: Sequence[Case]) -> TaskDraft:
    name = f"{source.dataset}_t2i"
    return draft_task(
        name,
        f"{source.title.capitalize()} for a label",
        source=source,
        family=Family.TEXT_TO_IMAGE,
        parser=Parser.IMAGE_T2I,
        rule="an image with the publisher's named label; all others have another label",
        records=find_label(
            cases,
            instruction=FIND_IMAGE,
            phrase=PHRASE.format(title=source.title, label="{label}"),
            distractors=DISTRACTORS,
            rng=generator(name),
        ),
    )


def label_training(parts: dict[str, Parts]) -> dict[str, list[TrainingPair]]:
    """Case to label, label to case, and case to the next patient's case with its label, for the trained sources."""
    files = {}
    for entry in LABELLED:
        cases = parts[entry.source.dataset].train
        if cases:
            files[entry.source.dataset] = [pair for case in cases for pair in _pairs(entry.source, case, cases)]
    return files


def _pairs(source: Source, case: Case, cases: Sequence[Case]) -> list[TrainingPair]:
    root, label = source.image_root, case.label
    image = below(root, case.evidence)
    asked = below(root, with_question(case, LABEL_QUESTION.format(title=source.title)))
    phrase = Evidence(text=PHRASE.format(title=source.title, label=label))
    pairs = [
        TrainingPair(NAME_LABEL, asked, Evidence(text=label), label),
        TrainingPair(FIND_IMAGE, phrase, image, label),
    ]
    same = [other for other in cases if other.label == label]
    following = same[(same.index(case) + 1) % len(same)]
    if following.patient != case.patient:
        pairs.append(TrainingPair(MATCH_LABEL, image, below(root, following.evidence), label))
    return pairs
