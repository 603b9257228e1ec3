"""Builds the mini suite: MedTEC on small subsets of real public data."""

from pathlib import Path

from evaluation.errors import DataMissing
from evaluation.hashing import FileHashes
from evaluation.probe_types import NO_FINDING, ProbeSuiteSpec
from evaluation.suites.building import staged
from evaluation.suites.medtec.anchors.building import build_anchor_set
from evaluation.suites.medtec.anchors.busi import BUSI
from evaluation.suites.medtec.anchors.candidates import DataSet
from evaluation.suites.medtec.anchors.covid import COVID
from evaluation.suites.medtec.anchors.ham10000 import HAM10000
from evaluation.suites.medtec.anchors.idrid import IDRID
from evaluation.suites.medtec.anchors.isic2017 import ISIC2017
from evaluation.suites.medtec.anchors.nct_crc import NCT_CRC
from evaluation.suites.medtec.anchors.nih import NIH
from evaluation.suites.medtec.anchors.pad_ufes import PAD_UFES
from evaluation.suites.medtec.anchors.placing import Placing
from evaluation.suites.medtec.protocols import write_captions
from evaluation.suites.medtec.questions import build_vqa_rad
from evaluation.suites.medtec.suite import write_probe_suite

SLUG = "medtec-mini"

_NIH_LABELS = (
    "atelectasis",
    "cardiomegaly",
    "consolidation",
    "fibrosis",
    "infiltration",
    "mass",
    "nodule",
    "pleural_effusion",
    "pleural_thickening",
    "pneumothorax",
    NO_FINDING,
)
_NCT_LABELS = (
    "adipose",
    "cancer_associated_stroma",
    "colorectal_adenocarcinoma",
    "lymphocytes",
    "mucus",
    "normal_colon_mucosa",
    "smooth_muscle",
)
# Data set, its folder below the raw data, and the labels that the subset has single-label images of (all if empty).
_SOURCES: tuple[tuple[DataSet, str, tuple[str, ...]], ...] = (
    (NIH, "open/cxr_nih100", _NIH_LABELS),
    (HAM10000, "research/ham10000", ()),
    (ISIC2017, "open/isic2017", ()),
    (IDRID, "open/fundus_idrid/grading", ()),
    (NCT_CRC, "open/histo_nct_crc", _NCT_LABELS),
    (BUSI, "open/busi", ()),
    (PAD_UFES, "open/pad_ufes20", ()),
)
_VQA_RAD = "open/vqa_rad"
_COVID = "research/covid_chestxray"

README = """# MedTEC mini suite

Small subsets of public medical data sets, as anchors of the MedTEC probes. Rows that were left out are counted by reason
in the header beside each manifest. Tasks with `images_may_be_shown` false come from non-commercial sources: their images
must not be published.

- Two of the six modalities of MedTEC are missing: abdominal CT and brain MRI have no data set here. Breast ultrasound and
  skin photographs are extra, and no overall figure includes them.
- The chest films are few; most findings have one to four anchors, so that their cells show the path and allow no claim.
- The retrieval task uses clinical notes, which tell of the patient and only in part of the film.
"""


def build_medtec_mini(raw: Path, out: Path) -> ProbeSuiteSpec:
    """Build the suite from the folder of raw data sets into `out`, which must not exist or be empty.

    Raises:
        DataMissing: a source's files are not below `raw`.
        SuiteInvalid: `out` holds files, or a source is not as its reader expects.
    """
    if not raw.is_dir():
        raise DataMissing(f"{raw} is not a folder; name the folder that holds the raw data sets (open/, research/)")
    with staged(out) as folder:
        for data_set, below, labels in _SOURCES:
            build_anchor_set(data_set, source=raw / below, folder=folder, strata=labels)
        build_vqa_rad(raw / _VQA_RAD, folder)
        write_captions(COVID, COVID.read(raw / _COVID).candidates, Placing(folder, COVID.name, FileHashes()))
        (folder / "README.md").write_text(README, encoding="utf-8")
        return write_probe_suite(
            folder, slug=SLUG, version="1", title="MedTEC mini (real public data)", synthetic=False
        )
