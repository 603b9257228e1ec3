"""The manifest of a probing suite: derived from what lies in the folder, read back strictly, told from other suites."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import SuiteInvalid
from evaluation.manifest import read_manifest, spec_sha256, suite_kind, write_manifest
from evaluation.probe_manifest import probe_suite_sha256
from evaluation.probe_types import Anchor, Probe, ProbeSet
from evaluation.suites.medtec.suite import derive_tasks, read_probe_suite, selected, write_probe_suite
from evaluation.vocabulary import AnchorSelection, Level, Modality, NegationSubtype, PhrasingStyle, SuiteKind
from tests.evaluation.medtec.anchor_sets import anchor, write_told
from tests.evaluation.suite_folders import suite_of, task_spec

SPEC_FIELDS = {
    "name": "fundus.L4",
    "title": "Fundus, finding",
    "kind": "cell",
    "modality": "fundus",
    "level": "L4",
    "style": "template",
    "subtype": None,
    "selection": "all",
    "dataset": "told",
    "data_path": "anchors/told.csv",
    "probes_sha256": "0" * 64,
    "licence": "CC0",
    "images_may_be_shown": True,
    "notes": "",
}


def probes(level: Level, *concepts: str, **changes: Any) -> ProbeSet:
    """A probe set of chest radiographs with one probe a concept."""
    fields = {
        "modality": Modality.CHEST_RADIOGRAPH,
        "level": level,
        "style": PhrasingStyle.TEMPLATE,
        "subtype": None,
        "selection": AnchorSelection.ALL,
        "version": "1",
        "probes": tuple(Probe(concept, "{}", ("a",), ("b",), "told") for concept in concepts),
        "sha256": "1" * 64,
    }
    return ProbeSet(**(fields | changes))


def names(folder: Path, *sets: ProbeSet) -> list[str]:
    return [
        task.name
        for task in derive_tasks(folder, lambda modality: tuple(found for found in sets if found.modality is modality))
    ]


def test_a_cell_stands_for_each_probe_set_that_speaks_of_the_anchors(tmp_path: Path) -> None:
    write_told(tmp_path, [anchor(0, "nodule"), anchor(1, "no_finding")])
    mixed, finding = NegationSubtype.MIXED, AnchorSelection.FINDING
    found = names(
        tmp_path,
        probes(Level.L1, "chest_radiograph"),
        probes(Level.L3, "hand"),
        probes(Level.L4, "nodule", "no_finding", "mass"),
        probes(Level.L4, "nodule", "no_finding", style=PhrasingStyle.REPORT),
        probes(Level.L5, "nodule", subtype=mixed, selection=finding),
        probes(Level.L5, "nodule", subtype=NegationSubtype.HEDGED, selection=finding),
        probes(Level.L5, "nodule", subtype=mixed, selection=finding, style=PhrasingStyle.ONTOLOGY),
        probes(Level.L5, "no_finding", subtype=mixed, selection=AnchorSelection.NO_FINDING),
    )
    assert found == [
        "chest_radiograph.L1",
        "chest_radiograph.L4",
        "chest_radiograph.L4.report",
        "chest_radiograph.L5",
        "chest_radiograph.L5.hedged",
        "chest_radiograph.L5.ontology",
        "chest_radiograph.L5.no_finding",
    ]


def test_levels_that_the_labels_cannot_carry_are_left_out(tmp_path: Path) -> None:
    write_told(tmp_path, [anchor(0, "nodule")], levels=(Level.L1,))
    assert names(tmp_path, probes(Level.L1, "chest_radiograph"), probes(Level.L4, "nodule")) == ["chest_radiograph.L1"]


def test_a_label_without_probes_is_an_error(tmp_path: Path) -> None:
    write_told(tmp_path, [anchor(0, "nodule"), anchor(1, "zebra")])
    with pytest.raises(SuiteInvalid, match=r"told\.csv: chest_radiograph has no L4 probes for zebra"):
        names(tmp_path, probes(Level.L4, "nodule"))


def test_a_second_data_set_of_a_modality_is_named_and_the_catalogue_says_which_is_first(tmp_path: Path) -> None:
    for dataset in ("alpha", "nih_chestxray14"):
        changes = {"dataset": dataset, "path": f"images/{dataset}/0.png"}
        write_told(tmp_path, [anchor(0, "nodule", **changes)], title=dataset.title())
    tasks = derive_tasks(tmp_path, lambda _: (probes(Level.L4, "nodule"),))
    assert [(task.name, task.dataset) for task in tasks] == [
        ("chest_radiograph.L4", "nih_chestxray14"),
        ("chest_radiograph.L4@alpha", "alpha"),
    ]
    assert tasks[1].title == "Chest radiograph, finding, Alpha"


def test_selections() -> None:
    anchors = (anchor(0, "nodule"), anchor(1, "no_finding"))
    assert selected(anchors, AnchorSelection.ALL) == anchors
    assert selected(anchors, AnchorSelection.FINDING) == anchors[:1]
    assert selected(anchors, AnchorSelection.NO_FINDING) == anchors[1:]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    labels = [anchor(0, "nodule"), anchor(1, "no_finding"), anchor(2, "edema")]
    write_told(tmp_path, labels)
    suite = write_probe_suite(tmp_path, slug="medtec-told", version="1", title="Told", synthetic=True)
    assert read_probe_suite(tmp_path) == suite
    assert suite_kind(tmp_path) is SuiteKind.PROBING
    assert suite.tasks[0].title == "Chest radiograph, domain (synthetic)"
    # Four styles at L4 and L5, four subtypes beside the mixed one, the reversed row, and L1 to L3.
    assert len(suite.tasks) == 3 + 4 + 4 + 4 + 1
    assert len({spec_sha256(task) for task in suite.tasks}) == len(suite.tasks)
    assert probe_suite_sha256(suite) != probe_suite_sha256(dataclasses.replace(suite, version="2"))


def test_an_empty_folder_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(SuiteInvalid, match="holds no anchors"):
        write_probe_suite(tmp_path, slug="medtec", version="1", title="Told", synthetic=True)


def manifest(folder: Path, changes: dict[str, Any], task: dict[str, Any]) -> Path:
    head = {
        "schema_version": 1,
        "kind": "probing",
        "slug": "medtec",
        "version": "1",
        "title": "Told",
        "synthetic": True,
    }
    folder.mkdir(exist_ok=True)
    (folder / "suite.json").write_text(json.dumps(head | {"tasks": [SPEC_FIELDS | task]} | changes), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("changes", "task", "problem"),
    [
        ({"kind": "retrieval"}, {}, "declares no probing suite"),
        ({"slug": "Med TEC"}, {}, "slug 'Med TEC'"),
        ({"schema_version": 2}, {}, "schema_version is 2"),
        ({"colour": 1}, {}, "unknown key 'colour'"),
        ({"synthetic": 1}, {}, "synthetic: bool is expected, not int"),
        ({"tasks": [SPEC_FIELDS, SPEC_FIELDS]}, {}, "two tasks are called 'fundus.L4'"),
        ({}, {"name": "a b"}, "task 0: name 'a b'"),
        ({}, {"level": "L6"}, "task 0: level: 'L6' is none of"),
        ({}, {"level": None}, "task 0: a cell needs modality, level and style"),
        ({}, {"subtype": "mixed"}, "task 0: a negation subtype is given at L5 and nowhere else"),
        ({}, {"level": "L5"}, "task 0: a negation subtype is given at L5 and nowhere else"),
        ({}, {"probes_sha256": ""}, "task 0: probes_sha256 must be 64 hexadecimal digits"),
        ({}, {"kind": "retrieval"}, "is a task of retrieval, so it has no level"),
        ({}, {"data_path": "../x"}, "task 0: data_path"),
        ({}, {"notes": 1}, "task 0: notes: str is expected, not int"),
        ({}, {"colour": 1}, "task 0: unknown key 'colour'"),
    ],
)
def test_a_broken_manifest_is_refused(
    changes: dict[str, Any], task: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SuiteInvalid) as caught:
        read_probe_suite(manifest(tmp_path, changes, task))
    assert problem in caught.value.message


def test_either_reader_refuses_the_other_kind_of_suite(tmp_path: Path) -> None:
    probing = manifest(tmp_path / "probing", {}, {})
    with pytest.raises(SuiteInvalid, match="declares a probing suite"):
        read_manifest(probing / "suite.json")
    retrieval = tmp_path / "retrieval"
    retrieval.mkdir()
    write_manifest(retrieval, suite_of(task_spec()))
    assert suite_kind(retrieval) is SuiteKind.RETRIEVAL
    with pytest.raises(SuiteInvalid, match="declares no probing suite"):
        read_probe_suite(retrieval)


def test_a_kind_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteInvalid, match="kind: 'listening' is none of retrieval, probing"):
        suite_kind(manifest(tmp_path, {"kind": "listening"}, {}))
    (tmp_path / "suite.json").write_text("[]", encoding="utf-8")
    with pytest.raises(SuiteInvalid, match="an object is expected, not list"):
        suite_kind(tmp_path)


def test_the_concept_of_an_anchor_follows_the_level() -> None:
    skin: Anchor = anchor(0, "melanoma", modality=Modality.DERMOSCOPY, region="back")
    assert [skin.concept(level) for level in Level] == ["dermoscopy", "dermoscopy", "back", "melanoma", "melanoma"]
