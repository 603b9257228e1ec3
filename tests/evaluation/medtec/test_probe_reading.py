"""Probe files read strictly: whatever is wrong is an error that names file and place, never a default."""

import copy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.errors import SuiteInvalid
from evaluation.probe_types import ProbeTaskSpec
from evaluation.suites.medtec.probe_reading import PROBES, probe_set_for, read_probe_file, read_probe_sets
from evaluation.vocabulary import (
    AnchorSelection,
    Level,
    Modality,
    NegationSubtype,
    PhrasingStyle,
    ProbeTaskKind,
)
from tests.evaluation.medtec.probe_changes import pick

BRAIN_FILE = PROBES / "brain_mri.yaml"
BRAIN = yaml.load(BRAIN_FILE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
SMALL = {**BRAIN, "sets": BRAIN["sets"][:2]}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def refused(path, said):
    with pytest.raises(SuiteInvalid) as caught:
        read_probe_file(path, Modality.BRAIN_MRI)
    assert str(path) in caught.value.message
    assert said in caught.value.message


def written(folder, value):
    path = folder / "brain_mri.yaml"
    path.write_text(yaml.safe_dump(value, allow_unicode=True), encoding="utf-8")
    return path


def test_reading_gives_what_the_file_says():
    sets = read_probe_sets(Modality.BRAIN_MRI)
    assert [each.sha256 for each in sets] == [item["sha256"] for item in BRAIN["sets"]]
    first = sets[0].probes[0]
    assert (list(first.positives), list(first.negatives)) == (
        BRAIN["sets"][0]["probes"][0]["positives"],
        BRAIN["sets"][0]["probes"][0]["negatives"],
    )
    assert first.source.startswith("concept: ")


def test_reading_again_gives_the_same_object():
    assert read_probe_sets(Modality.BRAIN_MRI) is read_probe_sets(Modality.BRAIN_MRI)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda value: value.pop("sets"), "missing key 'sets'"),
        (lambda value: value.update(note=""), "unknown key 'note'"),
        (lambda value: value.update(schema_version=2), "schema_version is 2"),
        (lambda value: value.update(modality="fundus"), "modality is 'fundus', expected 'brain_mri'"),
        (lambda value: value.update(modality="head"), "'head' is none of"),
        (lambda value: value.update(sets={}), "sets: list is expected, not dict"),
        (lambda value: value["sets"].append("L1"), "set 2: an object is expected, not str"),
        (lambda value: value["sets"][1].update(level="L6"), "set 1: level: 'L6' is none of"),
        (lambda value: value["sets"][1].update(style=1), "set 1: style: 1 is none of"),
        (lambda value: value["sets"][1].update(subtype="none"), "set 1: subtype: 'none' is none of"),
        (lambda value: value["sets"][1].update(selection="some"), "set 1: selection: 'some' is none of"),
        (lambda value: value["sets"][1].update(version=1), "set 1: version: str is expected, not int"),
        (lambda value: value["sets"][1].update(probes=None), "set 1: probes: list is expected"),
        (lambda value: value["sets"][1].pop("sha256"), "set 1: missing key 'sha256'"),
        (lambda value: value["sets"][1].update(sha256="0" * 64), "set 1: its sha256 is not that of its texts"),
        (lambda value: value["sets"].append(value["sets"][0]), "set 2: a set of this level"),
        (
            lambda value: value["sets"][1]["probes"][2].update(positives=[]),
            "set 1: probe 2: positives: at least one text",
        ),
        (
            lambda value: value["sets"][1]["probes"][2]["negatives"].append(""),
            "set 1: probe 2: negatives: item 8: the text is empty",
        ),
        (
            lambda value: value["sets"][1]["probes"][2]["negatives"].append(None),
            "set 1: probe 2: negatives: item 8: str is expected, not NoneType",
        ),
        (
            lambda value: value["sets"][1]["probes"][2]["negatives"].append("two\nlines"),
            "has a line break",
        ),
        (lambda value: value["sets"][1]["probes"][2].update(weight=1), "set 1: probe 2: unknown key 'weight'"),
        (
            lambda value: value["sets"][1]["probes"][2]["negatives"].reverse(),
            "its sha256 is not that of its texts. Run 'build probes'",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_file_and_place(tmp_path, change, said):
    value = copy.deepcopy(SMALL)
    change(value)
    refused(written(tmp_path, value), said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"modality: \xff", "is not UTF-8 at byte 10"),
        (b"a: [1", "is not plain YAML"),
        (b"a: 1\na: 2\n", "a key stands twice"),
        (b"a: !!python/object/apply:os.getcwd []\n", "is not plain YAML"),
        (b"a: 1\n---\nb: 2\n", "is not plain YAML"),
        (b"? [1, 2]\n: 3\n", "an object is expected|unknown key|not plain YAML"),
        (b"a: 2020-99-99\n", "is not plain YAML"),
        (b"", "an object is expected, not NoneType"),
        (b"a: \x00", "is not plain YAML"),
    ],
)
def test_what_is_no_plain_yaml_is_refused(tmp_path, content, said):
    path = tmp_path / "brain_mri.yaml"
    path.write_bytes(content)
    with pytest.raises(SuiteInvalid, match=said):
        read_probe_file(path, Modality.BRAIN_MRI)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    refused(tmp_path / "brain_mri.yaml", "No such file or directory")


def test_deep_nesting_is_refused(tmp_path):
    path = tmp_path / "brain_mri.yaml"
    path.write_text("[" * 5000 + "]" * 5000, encoding="utf-8")
    with pytest.raises(SuiteInvalid):
        read_probe_file(path, Modality.BRAIN_MRI)


def _places(value, place=()):
    """Every place in nested lists and mappings."""
    yield place
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*place, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _places(inner, (*place, number))


@settings(max_examples=150)
@given(place=st.sampled_from([each for each in _places(SMALL) if each]), other=ANYTHING)
def test_any_other_value_at_any_place_is_refused_or_says_the_same(tmp_path_factory, place, other):
    value = copy.deepcopy(SMALL)
    inner = value
    for step in place[:-1]:
        inner = inner[step]
    before = inner[place[-1]]
    inner[place[-1]] = other
    path = written(tmp_path_factory.mktemp("probes"), value)
    try:
        sets = read_probe_file(path, Modality.BRAIN_MRI)
    except SuiteInvalid as error:
        assert str(path) in error.message  # noqa: PT017 (either outcome is right)
        return
    # What the hash leaves out may be any text; a shorter list of sets is a file of fewer sets.
    assert place[-1] == "source" or other == before or (place == ("sets",) and sets == ()), place


def task(**changes):
    fields = {
        "name": "brain_mri.L5",
        "title": "Brain MRI, negation",
        "kind": ProbeTaskKind.CELL,
        "modality": Modality.BRAIN_MRI,
        "level": Level.L5,
        "style": PhrasingStyle.TEMPLATE,
        "subtype": NegationSubtype.MIXED,
        "selection": AnchorSelection.FINDING,
        "dataset": "brain",
        "data_path": "anchors/brain.csv",
        "probes_sha256": pick(read_probe_sets(Modality.BRAIN_MRI), Level.L5).sha256,
        "licence": "CC0",
        "images_may_be_shown": True,
    }
    return ProbeTaskSpec(**{**fields, **changes})


def test_a_task_finds_its_probe_set():
    assert probe_set_for(task()) is pick(read_probe_sets(Modality.BRAIN_MRI), Level.L5)
    reversed_set = pick(read_probe_sets(Modality.BRAIN_MRI), Level.L5, reversed_set=True)
    spec = task(selection=AnchorSelection.NO_FINDING, probes_sha256=reversed_set.sha256)
    assert probe_set_for(spec) is reversed_set


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"probes_sha256": "0" * 64}, "was made with other probe texts"),
        ({"probes_sha256": ""}, "was made with other probe texts"),
        ({"modality": None}, "names no modality"),
        ({"subtype": None}, "brain_mri has no probe set of L5, template, finding"),
        ({"level": Level.L1, "subtype": None, "style": PhrasingStyle.REPORT}, "has no probe set of L1, report"),
        ({"modality": Modality.DERMOSCOPY, "selection": AnchorSelection.NO_FINDING}, "dermoscopy has no probe set"),
    ],
)
def test_a_task_without_its_probe_set_is_refused_by_name(changes, said):
    with pytest.raises(SuiteInvalid, match=r"'brain_mri\.L5'") as caught:
        probe_set_for(task(**changes))
    assert said in caught.value.message
