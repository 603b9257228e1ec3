"""The rule that keeps test and training apart: no patient and no image on both sides."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from evaluation.errors import SuiteInvalid
from evaluation.suites.records import Evidence, Record, TaskDraft, TrainingPair, patients_of


def refuse_shared_patients(drafts: Iterable[TaskDraft], training: Iterable[TrainingPair]) -> None:
    """Check that no patient of a test record is in a training pair, nor on both sides of a record by accident.

    Raises:
        SuiteInvalid: naming the task, the record and the patients.
    """
    trained = patients_of(side for pair in training for side in (pair.query, pair.positive))
    for draft in drafts:
        for number, record in enumerate(draft.records):
            _refuse(draft, number, patients_of((record.query, *record.candidates)) & trained, "training pairs")
            if not draft.same_patient:
                _refuse(draft, number, record.query.patients & patients_of(record.candidates), "the candidates")


def _refuse(draft: TaskDraft, number: int, shared: frozenset[str], where: str) -> None:
    if shared:
        names = ", ".join(sorted(shared)[:5])
        raise SuiteInvalid(
            f"task {draft.spec.name}, record {number}: patient {names} is also in {where}; split the source by patient"
        )


def refuse_shared_images(
    drafts: Iterable[TaskDraft], training: Iterable[TrainingPair], digests: Mapping[str, str]
) -> None:
    """Check by content that no test image is a training image.

    `digests` maps each image's path below the suite's folder to the hash of its bytes.

    Raises:
        SuiteInvalid: naming the task and both files.
    """
    trained = {digests[path]: path for pair in training for side in (pair.query, pair.positive) for path in side.images}
    for draft in drafts:
        for path in sorted(_test_images(draft)):
            if digests[path] in trained:
                raise SuiteInvalid(
                    f"task {draft.spec.name}: {path} has the same bytes as the training image "
                    f"{trained[digests[path]]}; leave one of the two out"
                )


def _test_images(draft: TaskDraft) -> set[str]:
    return {
        str(Path(draft.spec.image_root) / path)
        for record in draft.records
        for side in _sides(record)
        for path in side.images
    }


def _sides(record: Record) -> tuple[Evidence, ...]:
    return (record.query, *record.candidates)
