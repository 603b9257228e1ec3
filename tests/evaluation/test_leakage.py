"""The leakage check refuses a patient or an image on both sides."""

from dataclasses import replace

import pytest

from evaluation.errors import SuiteInvalid
from evaluation.suites.leakage import refuse_shared_images, refuse_shared_patients
from evaluation.suites.records import Evidence, Record, TaskDraft, TrainingPair
from evaluation.suites.specs import declare_task
from evaluation.vocabulary import Domain, Family, Parser


def person(name: str, image: str = "") -> Evidence:
    return Evidence(images=(image or f"{name}.png",), patients=frozenset({f"set/{name}"}))


def task(*records: Record) -> TaskDraft:
    spec = declare_task(
        "Task",
        "Task",
        family=Family.IMAGE_TO_IMAGE,
        domain=Domain.THORACIC,
        parser=Parser.IMAGE_I2I_VG,
        datasets=("set",),
        image_root="2D_Images/set",
        rule="same label",
        licence="none",
        shown=True,
    )
    return TaskDraft(spec, records)


def pair(patient: str) -> TrainingPair:
    side = person(patient)
    return TrainingPair("", replace(side, images=(f"2D_Images/set/{patient}.png",)), Evidence(text="label"))


def test_disjoint_patients_pass() -> None:
    refuse_shared_patients([task(Record("", person("a"), (person("b"), person("c"))))], [pair("d")])


@pytest.mark.parametrize("trained", ["a", "b", "c"])
def test_a_test_patient_in_training_is_refused(trained: str) -> None:
    draft = task(Record("", person("x"), (person("y"),)), Record("", person("a"), (person("b"), person("c"))))
    with pytest.raises(SuiteInvalid, match=rf"task Task, record 1: patient set/{trained} is also in training pairs"):
        refuse_shared_patients([draft], [pair(trained)])


def test_a_query_patient_among_the_candidates_is_refused_unless_meant() -> None:
    draft = task(Record("", person("a"), (person("b"), person("a", "other.png"))))
    with pytest.raises(SuiteInvalid, match="patient set/a is also in the candidates"):
        refuse_shared_patients([draft], [])
    refuse_shared_patients([replace(draft, same_patient=True)], [])


def test_equal_bytes_under_two_names_are_refused() -> None:
    draft = task(Record("", person("a"), (person("b"),)))
    digests = {"2D_Images/set/a.png": "1", "2D_Images/set/b.png": "2", "2D_Images/set/d.png": "3"}
    refuse_shared_images([draft], [pair("d")], digests)
    with pytest.raises(SuiteInvalid, match=r"2D_Images/set/b.png has the same bytes as .* 2D_Images/set/d.png"):
        refuse_shared_images([draft], [pair("d")], {**digests, "2D_Images/set/d.png": "2"})
