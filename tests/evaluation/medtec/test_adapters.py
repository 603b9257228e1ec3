"""Every adapter on a small table in its publisher's format, whole and broken; and on the real data that there are."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from evaluation.errors import DataMissing, RecordInvalid, SuiteInvalid
from evaluation.probe_types import Anchor
from evaluation.suites.medtec.anchors.building import build_anchor_set
from evaluation.suites.medtec.anchors.catalogue import DATA_SETS
from evaluation.suites.medtec.anchors.manifest import AnchorHeader, read_anchor_set
from tests.evaluation.medtec.published import (
    FOLDERS,
    TABLES,
    Folders,
    Published,
    chexpert_row,
    merlin_row,
    odir_row,
    write_folders,
    write_image,
    write_published,
    write_table,
)

BY_NAME = {published.name: published for published in TABLES}
whole_sets = pytest.mark.parametrize("published", TABLES, ids=[published.name for published in TABLES])
folder_sets = pytest.mark.parametrize("published", FOLDERS, ids=[published.name for published in FOLDERS])
# Those whose class stands in one cell; Open-i's index is an open list.
labelled_sets = pytest.mark.parametrize(
    "published", [found for found in TABLES if found.label], ids=[found.name for found in TABLES if found.label]
)


def build(name: str, source: Path, folder: Path, **options: object) -> AnchorHeader:
    return build_anchor_set(DATA_SETS[name], source=source, folder=folder, **options)


def anchors_of(folder: Path, name: str) -> dict[str, Anchor]:
    anchors = read_anchor_set(folder / "anchors" / f"{name}.csv").anchors
    return {anchor.anchor_id.removeprefix(f"{name}/"): anchor for anchor in anchors}


@whole_sets
def test_a_whole_table_gives_the_anchors_counted_by_hand(published: Published, tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", published)
    header = build(published.name, source, tmp_path / "suite", strata=published.strata)
    assert header.labels == published.expected
    assert header.rows == sum(header.labels.values()) + sum(header.dropped.values())
    assert Counter(anchor.label for anchor in anchors_of(tmp_path / "suite", published.name).values()) == header.labels


@whole_sets
def test_each_missing_column_is_named(published: Published, tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", published)
    for column in published.columns:
        rows = [{key: cell for key, cell in row.items() if key != column} for row in published.rows]
        write_table(source / published.labelled, rows)
        with pytest.raises(SuiteInvalid, match=r"is missing") as caught:
            build(published.name, source, tmp_path / "suite", strata=published.strata)
        assert column in caught.value.message
        assert published.labelled in caught.value.message
    assert not (tmp_path / "suite").exists()


@labelled_sets
def test_an_unknown_label_is_an_error_with_its_row(published: Published, tmp_path: Path) -> None:
    rows = published.rows
    rows[1][published.label] = "Zebra"
    source = write_published(tmp_path / "source", published, rows)
    with pytest.raises(RecordInvalid, match=r"row 3: .*'Zebra'"):
        build(published.name, source, tmp_path / "suite", strata=published.strata)


@whole_sets
def test_an_absent_image_is_an_error_with_its_row(published: Published, tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", published)
    (source / published.images[1]).unlink()
    with pytest.raises(DataMissing, match="row 3"):
        build(published.name, source, tmp_path / "suite", strata=published.strata)


@whole_sets
def test_a_missing_table_is_named(published: Published, tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", published)
    (source / published.labelled).unlink()
    with pytest.raises(DataMissing):
        build(published.name, source, tmp_path / "suite", strata=published.strata)


@whole_sets
def test_a_stratum_without_an_anchor_is_an_error(published: Published, tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", published)
    rows = published.rows[:1]
    write_table(source / published.labelled, rows)
    if published.name == "openi":
        write_table(source / "indiana_projections.csv", published.tables["indiana_projections.csv"][:1])
    with pytest.raises(SuiteInvalid, match="no anchor is left for"):
        build(published.name, source, tmp_path / "suite", strata=published.strata)


@whole_sets
def test_the_same_source_gives_the_same_bytes(published: Published, tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", published)
    moved = shutil.copytree(source, tmp_path / "elsewhere")
    for place, folder in ((source, "first"), (moved, "second")):
        build(published.name, place, tmp_path / folder, strata=published.strata)
    first = {path.relative_to(tmp_path / "first"): path for path in (tmp_path / "first").rglob("*") if path.is_file()}
    second = {path.relative_to(tmp_path / "second") for path in (tmp_path / "second").rglob("*") if path.is_file()}
    assert set(first) == second
    assert all(path.read_bytes() == (tmp_path / "second" / name).read_bytes() for name, path in first.items())


@pytest.mark.parametrize(("name", "image"), [("nih_chestxray14", "Image Index"), ("pad_ufes_20", "img_id")])
def test_a_patient_in_two_strata_is_left_out_and_counted(name: str, image: str, tmp_path: Path) -> None:
    published = BY_NAME[name]
    whole = published.rows
    # The patient of the first row gets the second label too; a spare image of either label keeps the strata filled.
    rows = [whole[0], whole[1] | {published.cluster: whole[0][published.cluster]}, *whole[2:]]
    spare = [row | {image: f"9{row[image]}", published.cluster: f"9{number}"} for number, row in enumerate(whole[:2])]
    source = write_published(tmp_path / "source", published, [*rows, *spare])
    for number, row in enumerate(spare, start=100):
        write_image(source / row[image], number)
    header = build(name, source, tmp_path / "suite", strata=published.strata)
    assert header.dropped["cluster_in_two_strata"] == 2
    assert header.labels == published.expected


def test_eyes_of_one_patient_with_two_labels_are_left_out(tmp_path: Path) -> None:
    published = BY_NAME["odir5k"]
    rows = [*published.rows, odir_row(7, "right", "G", "normal fundus", "glaucoma")]
    source = write_published(tmp_path / "source", published, rows)
    write_image(source / "preprocessed_images/7_right.jpg", 77)
    header = build("odir5k", source, tmp_path / "suite")
    assert header.dropped["cluster_in_two_strata"] == 2
    assert header.labels["no_finding"] == 1


def test_a_lesion_in_two_strata_is_an_error_of_the_table(tmp_path: Path) -> None:
    published = BY_NAME["ham10000"]
    rows = published.rows
    rows[4]["lesion_id"] = rows[0]["lesion_id"]
    source = write_published(tmp_path / "source", published, rows)
    with pytest.raises(SuiteInvalid, match=r"two strata .*row 2.*row 6"):
        build("ham10000", source, tmp_path / "suite")


def test_a_study_of_open_i_keeps_one_frontal_film(tmp_path: Path) -> None:
    published = BY_NAME["openi"]
    source = write_published(tmp_path / "source", published)
    header = build("openi", source, tmp_path / "suite", strata=published.strata)
    # Study 1 has a lateral film too, 3 has two problems, 4 an unlisted one, 5 is not indexed.
    assert header.dropped == {"not_frontal": 1, "not_indexed": 1, "several_labels": 1, "stratum_not_asked_for": 1}


@pytest.mark.parametrize("name", ["isic2017", "aptos2019", "idrid"])
def test_one_image_under_two_labels_is_left_out(name: str, tmp_path: Path) -> None:
    published = BY_NAME[name]
    source = write_published(tmp_path / "source", published)
    twin, original = {"isic2017": (3, 1), "aptos2019": (4, 0), "idrid": (2, 0)}[name]
    extra = {"isic2017": "seborrheic_keratosis", "aptos2019": "no_finding", "idrid": "no_finding"}[name]
    shutil.copyfile(source / published.images[original], source / published.images[twin])
    with pytest.raises(SuiteInvalid, match=f"{extra} .*cluster_in_two_strata"):
        build(name, source, tmp_path / "suite")


def test_chexpert_counts_an_uncertain_label_as_a_second_one(tmp_path: Path) -> None:
    published = BY_NAME["chexpert"]
    source = write_published(tmp_path / "source", published)
    header = build("chexpert", source, tmp_path / "suite", strata=published.strata)
    assert header.dropped == {"no_label": 1, "not_frontal": 1, "several_labels": 1, "uncertain_label": 1}


def test_chexpert_refuses_no_finding_beside_a_finding(tmp_path: Path) -> None:
    published = BY_NAME["chexpert"]
    rows = [chexpert_row(1, {"No Finding": "1.0", "Edema": "1.0"})]
    source = write_published(tmp_path / "source", published, rows)
    with pytest.raises(RecordInvalid, match=r"row 2: No Finding"):
        build("chexpert", source, tmp_path / "suite")


def test_a_patient_of_chexpert_with_two_findings_is_left_out(tmp_path: Path) -> None:
    published = BY_NAME["chexpert"]
    second = chexpert_row(1, {"Fracture": "1.0"})
    second["Path"] = second["Path"].replace("study1", "study2")
    source = write_published(tmp_path / "source", published, [*published.rows, second])
    write_image(source / second["Path"].removeprefix("CheXpert-v1.0-small/"), 50)
    with pytest.raises(SuiteInvalid, match=r"fracture \(left out: .*row 11 \(cluster_in_two_strata\)"):
        build("chexpert", source, tmp_path / "suite", strata=(*published.strata, "fracture"))


def test_merlin_judges_single_labels_over_all_thirty_findings(tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", BY_NAME["merlin"])
    header = build("merlin", source, tmp_path / "suite")
    assert header.dropped == {"several_labels": 1, "stratum_not_asked_for": 1}
    assert header.counts["strict_ascites"] == 1
    assert header.counts["strict_no_finding"] == 1
    anchor = anchors_of(tmp_path / "suite", "merlin")["AC6"]
    # Seven slices: the middle one is number 3, counted from 0.
    assert (anchor.slice_index, anchor.window, anchor.path) == (3, "40/400", "images/merlin/AC6.nii.gz")


def test_merlin_needs_all_thirty_columns_even_for_other_classes(tmp_path: Path) -> None:
    published = BY_NAME["merlin"]
    rows = [merlin_row("AC0", ["ascites"])]
    del rows[0]["fracture"]
    source = write_published(tmp_path / "source", published, rows)
    with pytest.raises(SuiteInvalid, match="column fracture is missing"):
        build("merlin", source, tmp_path / "suite")


def test_ham10000_takes_site_sex_and_age_from_isic_2019_where_it_is_there(tmp_path: Path) -> None:
    published = BY_NAME["ham10000"]
    source = write_published(tmp_path / "source", published)
    isic = [
        {
            "image": row["image_id"],
            "age_approx": "70.0",
            "anatom_site_general": "head/neck",
            "lesion_id": "",
            "sex": "male",
        }
        for row in published.rows[:7]
    ]
    write_table(source / "ISIC_2019_Training_Metadata.csv", isic)
    header = build("ham10000", source, tmp_path / "suite")
    assert header.dropped == {"not_in_isic2019": 1}
    assert set(header.sources) == {"HAM10000_metadata.csv", "ISIC_2019_Training_Metadata.csv"}
    anchor = anchors_of(tmp_path / "suite", "ham10000")["ISIC_0000000"]
    assert (anchor.region, anchor.sex, anchor.age) == ("head_neck", "male", 70.0)


def test_ham10000_without_isic_2019_uses_its_own_columns_and_the_long_names(tmp_path: Path) -> None:
    published = BY_NAME["ham10000"]
    rows = published.rows
    rows[0]["dx"] = "Actinic keratoses and intraepithelial carcinoma"
    rows[7]["localization"] = "unknown"
    source = write_published(tmp_path / "source", published, rows)
    header = build("ham10000", source, tmp_path / "suite")
    assert header.dropped == {"site_unknown": 1}
    anchor = anchors_of(tmp_path / "suite", "ham10000")["ISIC_0000000"]
    assert (anchor.region, anchor.sex, anchor.age, anchor.label) == ("back", "female", 45.0, "actinic_keratosis")


def test_mskcc_is_stratified_by_skin_tone(tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", BY_NAME["mskcc_skin_tone"])
    header = build("mskcc_skin_tone", source, tmp_path / "suite", per_label=1)
    tones = [anchor.skin_tone for anchor in anchors_of(tmp_path / "suite", "mskcc_skin_tone").values()]
    assert tones == ["I", "II", "III", "IV", "V", "VI"]
    assert header.dropped == {"not_dermoscopy": 1, "over_limit_of_stratum": 1, "skin_tone_unknown": 1}
    assert [str(level) for level in header.levels] == ["L1", "L2", "L3"]


def test_mskcc_refuses_a_malignant_lesion(tmp_path: Path) -> None:
    published = BY_NAME["mskcc_skin_tone"]
    rows = published.rows
    rows[2]["diagnosis_1"] = "Malignant"
    source = write_published(tmp_path / "source", published, rows)
    with pytest.raises(RecordInvalid, match=r"row 4: diagnosis_1 has 'Malignant'"):
        build("mskcc_skin_tone", source, tmp_path / "suite")


def test_pad_ufes_is_photographs_with_attributes_left_empty_where_unknown(tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", BY_NAME["pad_ufes_20"])
    header = build("pad_ufes_20", source, tmp_path / "suite")
    anchors = anchors_of(tmp_path / "suite", "pad_ufes_20")
    assert header.modality == "skin_photograph"
    assert [(anchor.sex, anchor.skin_tone) for anchor in (anchors["PAT_0_0_1"], anchors["PAT_1_1_1"])] == [
        ("", ""),
        ("male", "II"),
    ]


def test_idrid_reads_the_publishers_two_tables(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for split, table, folder in (
        ("train", "a. IDRiD_Disease Grading_Training Labels.csv", "a. Training Set"),
        ("test", "b. IDRiD_Disease Grading_Testing Labels.csv", "b. Testing Set"),
    ):
        # Both parts count from 001, and the last column's name ends in a space.
        rows = [
            {
                "Image name": f"IDRiD_{number:03d}",
                "Retinopathy grade": str(grade),
                "Risk of macular edema ": str(risk),
                "": "",
            }
            for number, (grade, risk) in enumerate([(0, 0), (2, 0), (3, 2)], start=1)
        ]
        write_table(source / "2. Groundtruths" / table, rows)
        for number in range(1, 4):
            write_image(
                source / "1. Original Images" / folder / f"IDRiD_{number:03d}.jpg", number + 10 * (split == "test")
            )
    header = build("idrid", source, tmp_path / "suite")
    assert header.labels == {"diabetic_macular_edema": 2, "diabetic_retinopathy": 2, "no_finding": 2}
    splits = {name: anchor.source_split for name, anchor in anchors_of(tmp_path / "suite", "idrid").items()}
    assert splits["train_IDRiD_001"] == "train"
    assert splits["test_IDRiD_001"] == "test"


def test_idrid_refuses_oedema_without_retinopathy(tmp_path: Path) -> None:
    published = BY_NAME["idrid"]
    rows = published.rows
    rows[0]["Risk of macular edema"] = "2"
    source = write_published(tmp_path / "source", published, rows)
    with pytest.raises(RecordInvalid, match="row 2: Risk of macular edema is 2"):
        build("idrid", source, tmp_path / "suite")


def test_odir_counts_an_eye_for_every_disease_of_its_patient(tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", BY_NAME["odir5k"])
    header = build("odir5k", source, tmp_path / "suite")
    assert header.dropped == {"poor_quality": 1, "several_labels": 1, "stratum_not_asked_for": 1}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (odir_row(1, "left", "ND", "normal fundus", "drusen"), "N is 1 beside a disease"),
        (odir_row(1, "left", "N", "drusen", "normal fundus"), "N is 1, but the eye's keywords are drusen"),
        (odir_row(1, "left", "D", "normal fundus，drusen", "drusen"), "stands beside another keyword"),
        (odir_row(1, "middle", "D", "drusen", "drusen"), "does not end in _left or _right"),
    ],
)
def test_odir_refuses_rows_that_contradict_themselves(row: dict[str, str], problem: str, tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", BY_NAME["odir5k"], [row])
    write_image(source / "preprocessed_images" / row["filename"], 60)
    with pytest.raises(RecordInvalid, match=f"row 2.*{problem}"):
        build("odir5k", source, tmp_path / "suite")


def test_an_age_that_nobody_has_is_counted_and_one_that_is_no_number_refused(tmp_path: Path) -> None:
    published = BY_NAME["nih_chestxray14"]
    rows = published.rows
    rows[5]["Patient Age"] = "411"
    rows[0]["Patient Age"] = "058Y"
    source = write_published(tmp_path / "source", published, rows)
    assert build(published.name, source, tmp_path / "suite", strata=published.strata).dropped["age_impossible"] == 1
    assert anchors_of(tmp_path / "suite", published.name)["00000001_000"].age == 58.0
    rows[0]["Patient Age"] = "old"
    write_table(source / published.labelled, rows)
    with pytest.raises(RecordInvalid, match="row 2: Patient Age has 'old'"):
        build(published.name, source, tmp_path / "suite", strata=published.strata)


def test_nih_refuses_no_finding_beside_a_finding(tmp_path: Path) -> None:
    published = BY_NAME["nih_chestxray14"]
    rows = published.rows
    rows[0]["Finding Labels"] = "No Finding|Mass"
    source = write_published(tmp_path / "source", published, rows)
    with pytest.raises(RecordInvalid, match="row 2: Finding Labels has 'No Finding' beside a finding"):
        build(published.name, source, tmp_path / "suite", strata=published.strata)


@folder_sets
def test_folders_give_the_label_of_each_image(published: Folders, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "source", published)
    header = build(published.name, source, tmp_path / "suite")
    assert header.labels == dict.fromkeys(sorted(published.labels), 1)
    assert header.rows == len(published.files)


@folder_sets
def test_an_unknown_folder_is_an_error_that_names_the_file(published: Folders, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "source", published)
    write_image(source / "zebra" / "zebra (1).png", 90)
    with pytest.raises(RecordInvalid, match=r"zebra.*'zebra( \(1\)\.png)?' is none of the classes"):
        build(published.name, source, tmp_path / "suite")


@folder_sets
def test_a_class_without_images_is_an_error(published: Folders, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "source", published)
    (source / published.files[-1]).unlink()
    with pytest.raises(SuiteInvalid, match=rf"no anchor is left for {published.labels[-1]} \(in no row\)"):
        build(published.name, source, tmp_path / "suite")


@folder_sets
def test_copies_in_two_classes_are_left_out(published: Folders, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "source", published)
    shutil.copyfile(source / published.files[0], source / published.files[1])
    with pytest.raises(SuiteInvalid, match=f"{published.labels[0]} .*cluster_in_two_strata"):
        build(published.name, source, tmp_path / "suite")


@folder_sets
def test_a_folder_without_images_is_named(published: Folders, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataMissing, match="holds no images"):
        build(published.name, tmp_path / "empty", tmp_path / "suite")


def test_an_image_that_lies_twice_is_an_error(tmp_path: Path) -> None:
    published = BY_NAME["aptos2019"]
    source = write_published(tmp_path / "source", published)
    shutil.copyfile(source / published.images[0], source / Path(published.images[0]).name)
    with pytest.raises(SuiteInvalid, match=r"row 2: .* 2 times"):
        build("aptos2019", source, tmp_path / "suite")


# Rows, and anchors by label, counted from the tables by hand and by other means than this program's.
REAL = {
    "pad_ufes_20": (
        "open/pad_ufes20",
        76,
        {
            "actinic_keratosis": 20,
            "basal_cell_carcinoma": 26,
            "melanocytic_nevus": 10,
            "melanoma": 2,
            "seborrheic_keratosis": 8,
            "squamous_cell_carcinoma": 7,
        },
    ),
    "ham10000": (
        "research/ham10000",
        349,
        {
            "actinic_keratosis": 53,
            "basal_cell_carcinoma": 43,
            "benign_keratosis": 42,
            "dermatofibroma": 50,
            "melanocytic_nevus": 39,
            "melanoma": 47,
            "vascular_lesion": 53,
        },
    ),
    "isic2017": ("open/isic2017", 40, {"melanocytic_nevus": 24, "melanoma": 1, "seborrheic_keratosis": 15}),
    "idrid": (
        "open/fundus_idrid/grading",
        97,
        {"diabetic_macular_edema": 34, "diabetic_retinopathy": 30, "no_finding": 12},
    ),
    "busi": ("open/busi", 122, {"benign_mass": 46, "malignant_mass": 44, "no_finding": 32}),
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL)
def test_real_data_give_their_known_counts(name: str, real_data: Path, tmp_path: Path) -> None:
    folder, rows, labels = REAL[name]
    header = build(name, real_data / folder, tmp_path / "suite")
    assert header.rows == rows
    assert header.labels == labels
