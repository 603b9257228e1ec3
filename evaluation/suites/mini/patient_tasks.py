"""Tasks that mean one patient: follow-up films, radiograph and CT, and texts about a patient's image."""

from collections.abc import Sequence
from pathlib import Path

from evaluation.suites.building import ImageWriter
from evaluation.suites.mini.drafting import SAME_PATIENT, TELL_REPORT, below, draft_task
from evaluation.suites.mini.library import Parts, copy_case
from evaluation.suites.mini.source import Source
from evaluation.suites.mini.sources import chest, skin
from evaluation.suites.pairing import Case, generator, link_evidence, sample, tell_caption, with_question
from evaluation.suites.records import Evidence, Record, TaskDraft, TrainingPair
from evaluation.vocabulary import Family, Parser, PoolScope

DISTRACTORS = 19
TEXT_QUESTION = "Describe this {title}."


def follow_up_task(writer: ImageWriter, raw: Path) -> TaskDraft:
    """A patient's first film, and the last among first films of other patients."""
    patients = chest.read_hannover(raw)
    firsts = {patient: copy_case(writer, chest.HANNOVER, films[0].case).evidence for patient, films in patients.items()}
    rng = generator("Hannover-CXR_follow_up")
    records = []
    for patient, films in patients.items():
        if films[-1].day > films[0].day:
            last = copy_case(writer, chest.HANNOVER, films[-1].case).evidence
            others = [firsts[other] for other in sorted(patients) if other != patient]
            records.append(Record(SAME_PATIENT, firsts[patient], (last, *sample(others, DISTRACTORS, rng))))
    return draft_task(
        "Hannover-CXR_follow_up",
        "Later chest radiograph of the same patient",
        source=chest.HANNOVER,
        family=Family.IMAGE_TO_IMAGE,
        parser=Parser.IMAGE_I2I_VG,
        rule="the last film of the same patient; the others are first films of other patients",
        records=records,
        same_patient=True,
    )


def bridging_tasks(writer: ImageWriter, raw: Path) -> list[TaskDraft]:
    """From a radiograph to the CT images of the same patient and back; one query a patient."""
    pairs = []
    for images in chest.read_covid(raw).values():
        films = [image.case for image in images if image.is_radiograph]
        slices = [image.case for image in images if not image.is_radiograph]
        if films and slices:
            film = copy_case(writer, chest.COVID, films[0])
            scans = [copy_case(writer, chest.COVID, case) for case in slices]
            scan = Evidence(
                images=tuple(image for case in scans for image in case.images), patients=frozenset({film.patient})
            )
            pairs.append((film.evidence, scan))
    backwards = [(scan, film) for film, scan in pairs]
    return [
        _bridge("Covid_radiograph_to_ct", "CT images of the patient of a chest radiograph", pairs),
        _bridge("Covid_ct_to_radiograph", "Chest radiograph of the patient of CT images", backwards),
    ]


def _bridge(name: str, title: str, pairs: Sequence[tuple[Evidence, Evidence]]) -> TaskDraft:
    return draft_task(
        name,
        title,
        source=chest.COVID,
        family=Family.MODALITY_BRIDGING,
        parser=Parser.IMAGE_I2I,
        rule="the other modality's images of the same patient",
        records=link_evidence(pairs, instruction=SAME_PATIENT),
        pool=PoolScope.GLOBAL,
        same_patient=True,
    )


def notes_task(writer: ImageWriter, raw: Path) -> TaskDraft:
    """A patient's first radiograph and the clinical notes on it."""
    cases = [
        copy_case(writer, chest.COVID, image.case)
        for images in chest.read_covid(raw).values()
        for image in [image for image in images if image.is_radiograph and image.case.caption][:1]
    ]
    return _text_task("Covid_notes", "Clinical notes on a chest radiograph", chest.COVID, cases)


def description_tasks(
    writer: ImageWriter, raw: Path, lesions: Parts
) -> tuple[list[TaskDraft], dict[str, list[TrainingPair]]]:
    """Images and sentences composed from the publisher's table, for NIH films and HAM10000; and training pairs."""
    films = [copy_case(writer, chest.NIH, case) for case, _ in chest.read_nih(raw)]
    root = skin.HAM.image_root
    question = TEXT_QUESTION.format(title=skin.HAM.title)
    pairs = [
        TrainingPair(TELL_REPORT, below(root, with_question(case, question)), Evidence(text=case.caption))
        for case in lesions.train
    ]
    tasks = [
        _text_task("NIH-CXR_description", "Description of a chest radiograph", chest.NIH, films),
        _text_task("HAM10000_description", "Description of a dermoscopy image", skin.HAM, lesions.test),
    ]
    return tasks, {"HAM10000_description": pairs}


def _text_task(name: str, title: str, source: Source, cases: Sequence[Case]) -> TaskDraft:
    return draft_task(
        name,
        title,
        source=source,
        family=Family.IMAGE_TO_REPORT,
        parser=Parser.IMAGE_QA,
        rule="the text on the same image; the others belong to other patients",
        records=tell_caption(
            cases,
            instruction=TELL_REPORT,
            question=TEXT_QUESTION.format(title=source.title),
            distractors=DISTRACTORS,
            rng=generator(name),
        ),
    )
