"""The choice of anchors: one label, one image of each cluster, as many of each stratum as asked for, always the same."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import SuiteInvalid
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.selection import select_anchors
from evaluation.vocabulary import Modality


def data_set(*strata: str, clusters_may_differ: bool = True, name: str = "drawn") -> DataSet:
    return DataSet(
        name=name,
        title="Drawn",
        modality=Modality.FUNDUS,
        version="1",
        licence="none",
        images_may_be_shown=True,
        strata=strata,
        read=lambda _: Reading((), ()),
        notes="",
        clusters_may_differ=clusters_may_differ,
    )


def candidate(number: int, *labels: str, cluster: str = "", unfit: str = "") -> Candidate:
    return Candidate(
        where=f"table.csv, row {number}",
        name=f"image-{number:03d}",
        file=Path(f"image-{number}.png"),
        cluster=cluster or f"patient-{number}",
        labels=labels,
        label_source="told",
        unfit=unfit,
    )


def names(chosen: tuple[Candidate, ...]) -> list[str]:
    return [found.name for found in chosen]


def test_reasons_are_counted_one_for_each_row_left_out() -> None:
    rows = [
        candidate(2, "glaucoma"),
        candidate(3, "glaucoma", "cataract"),
        candidate(4),
        candidate(5, "glaucoma", unfit="poor_quality"),
        candidate(6, "drusen"),
        candidate(7, "cataract", cluster="patient-8"),
        candidate(8, "glaucoma"),
        candidate(9, "cataract"),
    ]
    selection = select_anchors(data_set("cataract", "glaucoma"), rows, strata=("cataract", "glaucoma"), per_label=9)
    assert names(selection.chosen) == ["image-009", "image-002"]
    assert selection.dropped == {
        "cluster_in_two_strata": 2,
        "no_label": 1,
        "poor_quality": 1,
        "several_labels": 1,
        "stratum_not_asked_for": 1,
    }


def test_a_cluster_gives_one_image() -> None:
    rows = [candidate(number, "glaucoma", cluster="patient-1") for number in range(2, 7)]
    selection = select_anchors(data_set("glaucoma"), rows, strata=("glaucoma",), per_label=9)
    assert len(selection.chosen) == 1
    assert selection.dropped == {"another_image_of_cluster": 4}


def test_a_second_label_in_a_stratum_that_is_not_asked_for_leaves_the_patient_in() -> None:
    rows = [candidate(2, "glaucoma", cluster="patient-1"), candidate(3, "drusen", cluster="patient-1")]
    selection = select_anchors(data_set("glaucoma", "drusen"), rows, strata=("glaucoma",), per_label=9)
    assert names(selection.chosen) == ["image-002"]


def test_where_clusters_must_agree_the_rows_are_named() -> None:
    rows = [candidate(2, "glaucoma", cluster="lesion-1"), candidate(3, "cataract", cluster="lesion-1")]
    with pytest.raises(SuiteInvalid, match=r"'lesion-1' is in two strata \(glaucoma at .*row 2, cataract at .*row 3\)"):
        select_anchors(
            data_set("glaucoma", "cataract", clusters_may_differ=False),
            rows,
            strata=("glaucoma", "cataract"),
            per_label=9,
        )


def test_an_empty_stratum_names_the_rows_that_were_left_out() -> None:
    rows = [candidate(2, "glaucoma"), candidate(3, "cataract", "glaucoma")]
    with pytest.raises(
        SuiteInvalid, match=r"cataract \(left out: table.csv, row 3 \(several_labels\)\); drusen \(in no row\)"
    ):
        select_anchors(data_set("glaucoma"), rows, strata=("glaucoma", "cataract", "drusen"), per_label=9)


def test_two_rows_of_one_image_are_an_error() -> None:
    twin = Candidate("table.csv, row 9", "image-002", Path("x.png"), "patient-9", ("glaucoma",), "told")
    with pytest.raises(SuiteInvalid, match=r"'image-002' stands twice, at table\.csv, row 2 and table\.csv, row 9"):
        select_anchors(data_set("glaucoma"), [candidate(2, "glaucoma"), twin], strata=("glaucoma",), per_label=9)


def test_the_draw_depends_on_the_data_sets_name_and_not_on_the_order_of_rows() -> None:
    rows = [candidate(number, "glaucoma") for number in range(100)]
    first = select_anchors(data_set("glaucoma"), rows, strata=("glaucoma",), per_label=10)
    turned = select_anchors(data_set("glaucoma"), rows[::-1], strata=("glaucoma",), per_label=10)
    other = select_anchors(data_set("glaucoma", name="other"), rows, strata=("glaucoma",), per_label=10)
    assert names(first.chosen) == names(turned.chosen)
    assert names(first.chosen) != names(other.chosen)
    # Neither the first ten nor ten in a row.
    assert names(first.chosen) != [found.name for found in rows[:10]]
    assert first.dropped == {"over_limit_of_stratum": 90}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]) | st.just(""),
            st.integers(0, 6),
            st.booleans(),
        ),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 4),
)
def test_whatever_the_table_the_rules_hold(rows: list[tuple[str, int, bool]], per_label: int) -> None:
    candidates = [
        candidate(number, *filter(None, [label]), cluster=f"patient-{patient}", unfit="bad" if unfit else "")
        for number, (label, patient, unfit) in enumerate(rows)
    ]
    usable = {
        patient: {label for label, other, unfit in rows if other == patient and label and not unfit}
        for patient in range(7)
    }
    filled = {label for labels in usable.values() if len(labels) == 1 for label in labels}
    if not filled:
        return
    strata = tuple(sorted(filled))
    kept_labels = {patient: labels & filled for patient, labels in usable.items()}
    selection = select_anchors(data_set(*strata), candidates, strata=strata, per_label=per_label)
    by_label = Counter(found.labels[0] for found in selection.chosen)
    clusters = Counter(labels.pop() for labels in map(set, kept_labels.values()) if len(labels) == 1)
    assert by_label == {label: min(per_label, clusters[label]) for label in strata}
    assert len({found.cluster for found in selection.chosen}) == len(selection.chosen)
    assert len(candidates) == len(selection.chosen) + sum(selection.dropped.values())
