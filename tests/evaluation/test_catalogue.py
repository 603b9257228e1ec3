"""The packaged catalogue against the published facts about the release."""

from collections import Counter

from evaluation.suites.medheb.catalogue import dataset_rows, medheb_suite, task_rows
from evaluation.vocabulary import Domain, EvidenceForm, Family, PairingType, Parser, PoolScope, Split

SUITE = medheb_suite()
BY_NAME = {spec.name: spec for spec in SUITE.tasks}


def test_has_107_distinct_tasks_in_three_forms():
    assert len(BY_NAME) == len(SUITE.tasks) == 107
    forms = Counter(spec.evidence_form for spec in SUITE.tasks)
    assert forms == {EvidenceForm.IMAGE_2D: 69, EvidenceForm.VOLUME_3D: 31, EvidenceForm.TEXT: 7}


def test_has_the_published_splits_pools_and_parsers():
    assert Counter(spec.split for spec in SUITE.tasks) == {Split.IN_DISTRIBUTION: 96, Split.HELD_OUT: 11}
    assert Counter(spec.pool for spec in SUITE.tasks) == {PoolScope.LOCAL: 88, PoolScope.GLOBAL: 19}
    assert {spec.parser for spec in SUITE.tasks} == set(Parser)


def test_covers_every_family_and_domain():
    assert {spec.family for spec in SUITE.tasks} == set(Family)
    assert {spec.domain for spec in SUITE.tasks} == set(Domain)


def test_held_out_sources_are_the_published_six():
    held_out = Counter(dataset for spec in SUITE.tasks if spec.split is Split.HELD_OUT for dataset in spec.datasets)
    assert sorted(held_out.values()) == [1, 1, 2, 3, 4]
    assert sum(held_out.values()) == 11


def test_pairing_type_follows_the_family():
    pairing = {spec.family: spec.pairing_type for spec in SUITE.tasks}
    assert pairing[Family.REGION_GROUNDING] is pairing[Family.IMAGE_TO_IMAGE] is PairingType.IMAGE_IMAGE
    assert pairing[Family.TEXT_TO_TEXT] is PairingType.TEXT_TEXT
    assert pairing[Family.MODALITY_BRIDGING] is PairingType.MODALITY_BRIDGING
    image_text = (Family.IMAGE_TO_LABEL, Family.TEXT_TO_IMAGE, Family.QUESTION_ANSWERING, Family.IMAGE_TO_REPORT)
    assert {pairing[family] for family in image_text} == {PairingType.IMAGE_TEXT}


def test_54_data_sets_with_provenance_serve_the_tasks():
    rows = dataset_rows()
    assert len({row["dataset_key"] for row in rows}) == len(rows) == 54
    assert all(row["provenance"] and row["licence_basis"] for row in rows)
    used = {key for row in task_rows() for key in row["datasets"].split(";")}
    assert used == {row["dataset_key"] for row in rows}


def test_images_are_shown_only_with_a_checked_open_licence():
    assert BY_NAME["PathMNIST_cls"].images_may_be_shown
    assert not BY_NAME["DermaMNIST_cls"].images_may_be_shown, "non-commercial"
    assert not BY_NAME["MIMIC_CXR_report"].images_may_be_shown, "credentialed"
    assert not BY_NAME["Path-VQA"].images_may_be_shown, "licence not checked"
    assert not BY_NAME["Gastrointestinal"].images_may_be_shown, "one of its two sources may not be shown"
