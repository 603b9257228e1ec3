"""Small data sets in their publishers' formats: tables and images written into a test's folder."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import nibabel
import numpy as np
from PIL import Image

Cells = dict[str, str]


@dataclass(frozen=True)
class Published:
    """A data set to be written: `labelled` is the table whose rows have `images` in the same order.

    `columns` must all be there. `label` is the column of a class, `cluster` that of the patient or lesion (empty where
    the bytes of an image decide). `expected` are the anchors by label, worked out by hand.
    """

    name: str
    labelled: str
    tables: Mapping[str, Sequence[Cells]]
    images: Sequence[str]
    columns: Sequence[str]
    label: str
    cluster: str
    expected: Mapping[str, int]
    strata: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Cells]:
        """A copy of the labelled table that a test may change."""
        return [dict(row) for row in self.tables[self.labelled]]


def write_published(folder: Path, published: Published, rows: Sequence[Cells] | None = None) -> Path:
    """Write all tables and images; `rows` stand in for those of the labelled table."""
    for name, cells in published.tables.items():
        write_table(folder / name, cells if rows is None or name != published.labelled else rows)
    for number, image in enumerate(published.images):
        write_image(folder / image, number)
    return folder


def write_table(path: Path, rows: Sequence[Cells]) -> Path:
    """Write rows under the columns of the first one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_image(path: Path, number: int) -> None:
    """Write an image or volume whose content is its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name.endswith(".nii.gz"):
        voxels = np.full((4, 5, 7), number, dtype=np.int16)
        nibabel.save(nibabel.Nifti1Image(voxels, np.eye(4)), path)
        return
    pixels = np.random.default_rng(number).integers(0, 256, (12, 12, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


def _nih() -> Published:
    findings = ["No Finding", "Atelectasis", "Effusion", "Effusion|Mass", "Pleural_Thickening", "No Finding"]
    rows = [
        {
            "Image Index": f"0000000{patient}_000.png",
            "Finding Labels": finding,
            "Follow-up #": "0",
            "Patient ID": str(patient),
            "Patient Age": "41",
            "Patient Gender": "F",
            "View Position": "PA",
        }
        for patient, finding in enumerate(findings, start=1)
    ]
    return Published(
        name="nih_chestxray14",
        labelled="Data_Entry_2017.csv",
        tables={"Data_Entry_2017.csv": rows},
        images=[f"images_001/images/{row['Image Index']}" for row in rows],
        columns=["Image Index", "Finding Labels", "Patient ID", "Patient Age", "Patient Gender", "View Position"],
        label="Finding Labels",
        cluster="Patient ID",
        strata=("no_finding", "atelectasis", "pleural_effusion", "pleural_thickening"),
        expected={"atelectasis": 1, "no_finding": 2, "pleural_effusion": 1, "pleural_thickening": 1},
    )


CHEXPERT_LABELS = (
    "No Finding",
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Opacity",
    "Lung Lesion",
    "Edema",
    "Consolidation",
    "Pneumonia",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Pleural Other",
    "Fracture",
    "Support Devices",
)


def chexpert_row(patient: int, marks: Mapping[str, str], view: str = "Frontal") -> Cells:
    """One film; labels that `marks` does not name are blank."""
    return {
        "Path": f"CheXpert-v1.0-small/train/patient{patient:05d}/study1/view1_{view.lower()}.jpg",
        "Sex": "Male",
        "Age": "60",
        "Frontal/Lateral": view,
        "AP/PA": "AP" if view == "Frontal" else "",
        **{label: marks.get(label, "") for label in CHEXPERT_LABELS},
    }


def _chexpert() -> Published:
    rows = [
        chexpert_row(1, {"Edema": "1.0"}),
        chexpert_row(2, {"Pneumothorax": "1.0", "Edema": "0.0"}),
        chexpert_row(3, {"No Finding": "1.0"}),
        # The parent of a positive label is no second label, whether it is marked or in doubt.
        chexpert_row(4, {"Edema": "1.0", "Lung Opacity": "1.0"}),
        chexpert_row(5, {"Edema": "1.0", "Lung Opacity": "-1.0"}),
        chexpert_row(6, {"Edema": "1.0", "Pneumonia": "-1.0"}),
        chexpert_row(7, {"Edema": "1.0", "Fracture": "1.0"}),
        chexpert_row(8, {"Edema": "1.0"}, view="Lateral"),
        chexpert_row(9, {}),
    ]
    return Published(
        name="chexpert",
        labelled="train.csv",
        tables={"train.csv": rows},
        images=[row["Path"].removeprefix("CheXpert-v1.0-small/") for row in rows],
        columns=["Path", "Sex", "Age", "Frontal/Lateral", "AP/PA", *CHEXPERT_LABELS],
        label="Edema",
        cluster="",
        strata=("edema", "pneumothorax", "no_finding"),
        expected={"edema": 3, "no_finding": 1, "pneumothorax": 1},
    )


def _openi() -> Published:
    problems = ["normal", "Cardiomegaly", "Pleural Effusion;Cardiomegaly", "Scoliosis", "No Indexing", "Opacity"]
    reports = [
        {
            "uid": str(uid),
            "MeSH": problem,
            "Problems": problem,
            "image": "Xray Chest PA and Lateral",
            "indication": "cough",
            "comparison": "",
            "findings": f"Finding number {uid} in XXXX.",
            "impression": "Seen, read." if uid != 2 else "",
        }
        for uid, problem in enumerate(problems, start=1)
    ]
    projections = [
        {"uid": str(uid), "filename": f"{uid}_IM-0001-4001.dcm.png", "projection": "Frontal"}
        for uid in range(1, len(problems) + 1)
    ] + [{"uid": "1", "filename": "1_IM-0001-3001.dcm.png", "projection": "Lateral"}]
    return Published(
        name="openi",
        labelled="indiana_reports.csv",
        tables={"indiana_reports.csv": reports, "indiana_projections.csv": projections},
        images=[f"images/images_normalized/{row['filename']}" for row in projections],
        columns=["uid", "Problems", "findings", "impression"],
        label="",
        cluster="",
        strata=("no_finding", "cardiomegaly", "lung_opacity"),
        expected={"cardiomegaly": 1, "lung_opacity": 1, "no_finding": 1},
    )


MERLIN_FINDINGS = [
    "submucosal_edema",
    "renal_hypodensities",
    "aortic_valve_calcification",
    "coronary_calcification",
    "thrombosis",
    "metastatic_disease",
    "pancreatic_atrophy",
    "renal_cyst",
    "osteopenia",
    "surgically_absent_gallbladder",
    "atelectasis",
    "abdominal_aortic_aneurysm",
    "anasarca",
    "hiatal_hernia",
    "lymphadenopathy",
    "prostatomegaly",
    "biliary_ductal_dilation",
    "cardiomegaly",
    "splenomegaly",
    "hepatomegaly",
    "atherosclerosis",
    "ascites",
    "pleural_effusion",
    "hepatic_steatosis",
    "appendicitis",
    "gallstones",
    "hydronephrosis",
    "bowel_obstruction",
    "free_air",
    "fracture",
]


def merlin_row(study: str, present: Sequence[str], *, unmentioned: Sequence[str] = ()) -> Cells:
    """One scan: findings are present, not mentioned, or negated."""
    marks = {
        finding: "1" if finding in present else "-1" if finding in unmentioned else "0" for finding in MERLIN_FINDINGS
    }
    return {"study id": study, **marks}


def _merlin() -> Published:
    classes = ["hepatic_steatosis", "renal_cyst", "gallstones", "ascites", "pleural_effusion"]
    rows = [merlin_row(f"AC{number}", [label]) for number, label in enumerate(classes)]
    rows += [
        merlin_row("AC5", []),
        # Not mentioned: may hide, so that it is single-label and not strict.
        merlin_row("AC6", ["ascites"], unmentioned=["gallstones"]),
        # A second finding outside the six classes is a second label all the same.
        merlin_row("AC7", ["ascites", "fracture"]),
        merlin_row("AC8", ["fracture"]),
    ]
    return Published(
        name="merlin",
        labelled="zero_shot_findings_disease_cls.csv",
        tables={"zero_shot_findings_disease_cls.csv": rows},
        images=[f"merlin_data/{row['study id']}.nii.gz" for row in rows],
        columns=["study id", *MERLIN_FINDINGS],
        label="ascites",
        cluster="",
        expected={**dict.fromkeys(sorted([*classes, "no_finding"]), 1), "ascites": 2},
    )


def _ham10000() -> Published:
    codes = ["akiec", "bcc", "bkl", "df", "mel", "nv", "vasc", "nv"]
    rows = [
        {
            "lesion_id": f"HAM_{number:07d}",
            "image_id": f"ISIC_{number:07d}",
            "dx": code,
            "dx_type": "histo",
            "age": "45.0",
            "sex": "female",
            "localization": "back",
        }
        for number, code in enumerate(codes)
    ]
    return Published(
        name="ham10000",
        labelled="HAM10000_metadata.csv",
        tables={"HAM10000_metadata.csv": rows},
        images=[f"HAM10000_images_part_1/{row['image_id']}.jpg" for row in rows],
        columns=["lesion_id", "image_id", "dx", "dx_type", "age", "sex", "localization"],
        label="dx",
        cluster="lesion_id",
        expected={
            "actinic_keratosis": 1,
            "basal_cell_carcinoma": 1,
            "benign_keratosis": 1,
            "dermatofibroma": 1,
            "melanocytic_nevus": 2,
            "melanoma": 1,
            "vascular_lesion": 1,
        },
    )


def _isic2017() -> Published:
    marks = [("1.0", "0.0"), ("0.0", "1.0"), ("0.0", "0.0"), ("0.0", "0.0")]
    rows = [
        {"image_id": f"ISIC_{number:07d}", "melanoma": melanoma, "seborrheic_keratosis": keratosis}
        for number, (melanoma, keratosis) in enumerate(marks)
    ]
    return Published(
        name="isic2017",
        labelled="ISIC-2017_Training_Part3_GroundTruth.csv",
        tables={"ISIC-2017_Training_Part3_GroundTruth.csv": rows},
        images=[f"ISIC-2017_Training_Data/{row['image_id']}.jpg" for row in rows],
        columns=["image_id", "melanoma", "seborrheic_keratosis"],
        label="melanoma",
        cluster="",
        expected={"melanocytic_nevus": 2, "melanoma": 1, "seborrheic_keratosis": 1},
    )


def _mskcc() -> Published:
    rows = [
        {
            "isic_id": f"ISIC_{number:07d}",
            "age_approx": "50.0",
            "anatom_site_general": "anterior torso",
            "diagnosis_1": "Benign",
            "fitzpatrick_skin_type": tone,
            "image_type": kind,
            "lesion_id": f"IL_{number}",
            "patient_id": "",
            "sex": "male",
        }
        for number, (tone, kind) in enumerate(
            [
                *((tone, "dermoscopic") for tone in ("I", "II", "III", "IV", "V", "VI", "VI")),
                ("I", "clinical: close-up"),
                ("", "dermoscopic"),
            ]
        )
    ]
    return Published(
        name="mskcc_skin_tone",
        labelled="metadata.csv",
        tables={"metadata.csv": rows},
        images=[f"images/{row['isic_id']}.jpg" for row in rows],
        columns=list(rows[0]),
        label="diagnosis_1",
        cluster="lesion_id",
        expected={"benign_lesion": 7},
    )


def _pad_ufes() -> Published:
    codes = ["ACK", "BCC", "MEL", "NEV", "SCC", "SEK", "SEK"]
    rows = [
        {
            "patient_id": f"PAT_{number}",
            "lesion_id": str(number),
            "age": "61",
            "fitspatrick": "2.0" if number else "",
            "gender": "MALE" if number else "",
            "region": "FACE",
            "diagnostic": code,
            "img_id": f"PAT_{number}_{number}_1.png",
            "biopsed": "True",
        }
        for number, code in enumerate(codes)
    ]
    return Published(
        name="pad_ufes_20",
        labelled="metadata.csv",
        tables={"metadata.csv": rows},
        images=[f"imgs_part_1/{row['img_id']}" for row in rows],
        columns=["patient_id", "age", "fitspatrick", "gender", "region", "diagnostic", "img_id", "biopsed"],
        label="diagnostic",
        cluster="patient_id",
        expected={
            "actinic_keratosis": 1,
            "basal_cell_carcinoma": 1,
            "melanocytic_nevus": 1,
            "melanoma": 1,
            "seborrheic_keratosis": 2,
            "squamous_cell_carcinoma": 1,
        },
    )


def _idrid() -> Published:
    grades = [("0", "0"), ("1", "0"), ("4", "0"), ("3", "2"), ("2", "1")]
    rows = [
        {
            "Image name": f"IDRiD_{number:03d}",
            "Retinopathy grade": grade,
            "Risk of macular edema": risk,
            "split": "train",
        }
        for number, (grade, risk) in enumerate(grades, start=1)
    ]
    return Published(
        name="idrid",
        labelled="labels.csv",
        tables={"labels.csv": rows},
        images=[f"images/train_{row['Image name']}.jpg" for row in rows],
        columns=["Image name", "Retinopathy grade", "Risk of macular edema"],
        label="Retinopathy grade",
        cluster="",
        expected={"diabetic_macular_edema": 1, "diabetic_retinopathy": 2, "no_finding": 1},
    )


def _aptos() -> Published:
    rows = [{"id_code": f"{number:012x}", "diagnosis": str(number)} for number in range(5)]
    return Published(
        name="aptos2019",
        labelled="train.csv",
        tables={"train.csv": rows},
        images=[f"train_images/{row['id_code']}.png" for row in rows],
        columns=["id_code", "diagnosis"],
        label="diagnosis",
        cluster="",
        expected={"diabetic_retinopathy": 4, "no_finding": 1},
    )


ODIR_FLAGS = "NDGCAHMO"


def odir_row(patient: int, side: str, flags: str, left: str, right: str) -> Cells:
    """One eye; `flags` are the letters that are 1 for the patient."""
    return {
        "ID": str(patient),
        "Patient Age": "57",
        "Patient Sex": "Female",
        "Left-Diagnostic Keywords": left,
        "Right-Diagnostic Keywords": right,
        **{flag: str(int(flag in flags)) for flag in ODIR_FLAGS},
        "filename": f"{patient}_{side}.jpg",
    }


def _odir() -> Published:
    rows = [
        odir_row(0, "left", "N", "normal fundus", "normal fundus"),
        odir_row(1, "left", "D", "moderate non proliferative retinopathy", "mild nonproliferative retinopathy"),
        odir_row(2, "right", "G", "glaucoma", "lens dust，glaucoma"),
        odir_row(3, "right", "C", "cataract", "cataract"),
        odir_row(4, "right", "A", "dry age-related macular degeneration", "dry age-related macular degeneration"),
        odir_row(5, "right", "H", "hypertensive retinopathy", "hypertensive retinopathy"),
        odir_row(6, "right", "M", "pathological myopia", "pathological myopia"),
        # A normal eye of a sick patient; an eye whose patient has two diseases; one with another disease; a bad image.
        odir_row(7, "left", "G", "normal fundus", "glaucoma"),
        odir_row(8, "left", "DG", "glaucoma", "mild nonproliferative retinopathy"),
        odir_row(9, "left", "O", "drusen", "drusen"),
        odir_row(10, "left", "G", "low image quality，glaucoma", "glaucoma"),
    ]
    return Published(
        name="odir5k",
        labelled="full_df.csv",
        tables={"full_df.csv": rows},
        images=[f"preprocessed_images/{row['filename']}" for row in rows],
        columns=["ID", "Patient Age", "Patient Sex", "Left-Diagnostic Keywords", *ODIR_FLAGS, "filename"],
        label="D",
        cluster="ID",
        expected={
            "age_related_macular_degeneration": 1,
            "cataract": 1,
            "diabetic_retinopathy": 1,
            "glaucoma": 1,
            "hypertensive_retinopathy": 1,
            "no_finding": 2,
            "pathologic_myopia": 1,
        },
    )


TABLES = [
    make()
    for make in (
        _nih,
        _chexpert,
        _openi,
        _merlin,
        _ham10000,
        _isic2017,
        _mskcc,
        _pad_ufes,
        _idrid,
        _aptos,
        _odir,
    )
]


@dataclass(frozen=True)
class Folders:
    """A data set without a table. `labels` are those that the files have, in order."""

    name: str
    files: Sequence[str]
    labels: Sequence[str]
    others: Sequence[str] = ()


NCT_CODES = {
    "ADI": "adipose",
    "BACK": "background",
    "DEB": "debris",
    "LYM": "lymphocytes",
    "MUC": "mucus",
    "MUS": "smooth_muscle",
    "NORM": "normal_colon_mucosa",
    "STR": "cancer_associated_stroma",
    "TUM": "colorectal_adenocarcinoma",
}

FOLDERS = [
    Folders(
        "nct_crc_he",
        [f"NCT-CRC-HE-100K/{code}/{code}-AAAWMSFI.tif" for code in NCT_CODES],
        list(NCT_CODES.values()),
    ),
    Folders("path_mnist", [f"train/{number}/{number}.png" for number in range(9)], list(NCT_CODES.values())),
    Folders(
        "brain_tumor_mri",
        [
            "Training/glioma/Tr-gl_0010.jpg",
            "Training/meningioma/Tr-me_0010.jpg",
            "Training/notumor/Tr-no_0010.jpg",
            "Testing/pituitary/Te-pi_0010.jpg",
        ],
        ["glioma", "meningioma", "no_finding", "pituitary_tumor"],
    ),
    Folders(
        "busi",
        ["benign/benign (1).png", "malignant/malignant (1).png", "normal/normal (1).png"],
        ["benign_mass", "malignant_mass", "no_finding"],
        others=["benign/benign (1)_mask.png", "malignant/mask/malignant (1).png"],
    ),
]


def write_folders(folder: Path, published: Folders) -> Path:
    """Write all images, each with content of its own."""
    numbers = count()
    for file in (*published.files, *published.others):
        write_image(folder / file, next(numbers))
    return folder
