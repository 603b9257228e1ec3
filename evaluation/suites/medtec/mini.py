"""Builds the mini suite: MedTEC on small subsets of real public data."""

from dataclasses import replace
from pathlib import Path

from evaluation.errors import DataMissing
from evaluation.hashing import FileHashes
from evaluation.probe_types import NO_FINDING, ProbeSuiteSpec
from evaluation.suites.building import staged
from evaluation.suites.medtec.anchors.building import build_anchor_set
from evaluation.suites.medtec.anchors.busi import BUSI
from evaluation.suites.medtec.anchors.candidates import DataSet, Reading
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
from evaluation.suites.mini.label_tasks import trained_files
from evaluation.suites.mini.sources import eye, organs, skin

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
# The sources of the retrieval mini suite that train on images of a data set above.
_TRAINED = {HAM10000.name: skin.HAM, IDRID.name: eye.GRADING, BUSI.name: organs.BUSI}
IN_TRAINING = "in_training_of_the_retrieval_mini_suite"
_VQA_RAD = "open/vqa_rad"
_COVID = "research/covid_chestxray"

README = """# MedTEC mini suite

Small subsets of public medical data sets, as anchors of the MedTEC probes. Rows that were left out are counted by reason
in the header beside each manifest. Tasks with `images_may_be_shown` false come from non-commercial sources: their images
must not be published.

- Two of the six modalities of MedTEC are missing: abdominal CT and brain MRI have no data set here. Breast ultrasound and
  skin photographs are extra, and no overall figure includes them.
- The chest films are few; most findings have one to four anchors, so that their cells show the path and allow no claim.
- Patients in the training files of the retrieval mini suite are no anchors, so that a model trained on those meets
  unseen patients here. VQA-RAD is whole: about half of its images are in those training files, with their questions.
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
    hashes = FileHashes()
    with staged(out) as folder:
        for data_set, below, labels in _SOURCES:
            build_anchor_set(_without_trained(data_set, raw, hashes), source=raw / below, folder=folder, strata=labels)
        build_vqa_rad(raw / _VQA_RAD, folder)
        write_captions(COVID, COVID.read(raw / _COVID).candidates, Placing(folder, COVID.name, hashes))
        (folder / "README.md").write_text(README, encoding="utf-8")
        return write_probe_suite(
            folder, slug=SLUG, version="1", title="MedTEC mini (real public data)", synthetic=False
        )


def _without_trained(data_set: DataSet, raw: Path, hashes: FileHashes) -> DataSet:
    """The data set, with what the retrieval mini suite trains on unfit. It splits by patient, so no cluster is divided."""
    trained_source = _TRAINED.get(data_set.name)
    if trained_source is None:
        return data_set

    def read(source: Path) -> Reading:
        reading = data_set.read(source)
        trained = {hashes.of(file) for file in trained_files(raw, trained_source)}
        candidates = tuple(
            replace(candidate, unfit=candidate.unfit or IN_TRAINING)
            if hashes.of(candidate.file) in trained
            else candidate
            for candidate in reading.candidates
        )
        return replace(reading, candidates=candidates)

    return replace(data_set, read=read)
