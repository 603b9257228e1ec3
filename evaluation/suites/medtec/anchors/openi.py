"""Open-i / Indiana University chest films: `indiana_reports.csv` and `indiana_projections.csv`, joined on `uid`."""

from pathlib import Path

from evaluation.errors import RecordInvalid
from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import ImageFolder, without_ending
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

OTHER_FINDING = "other_finding"

_REPORTS = "indiana_reports.csv"
_PROJECTIONS = "indiana_projections.csv"
_PROBLEMS = {
    "normal": NO_FINDING,
    "Atelectasis": "atelectasis",
    "Pulmonary Atelectasis": "atelectasis",
    "Cardiomegaly": "cardiomegaly",
    "Consolidation": "consolidation",
    "Emphysema": "emphysema",
    "Pulmonary Emphysema": "emphysema",
    "Fractures, Bone": "fracture",
    "Hernia, Hiatal": "hernia",
    "Infiltrate": "infiltration",
    "Mass": "mass",
    "Nodule": "nodule",
    "Opacity": "lung_opacity",
    "Pleural Effusion": "pleural_effusion",
    "Pneumonia": "pneumonia",
    "Pneumothorax": "pneumothorax",
    "Pulmonary Edema": "edema",
    "Pulmonary Fibrosis": "fibrosis",
    "Catheters, Indwelling": "support_devices",
    "Implanted Medical Device": "support_devices",
    "Medical Device": "support_devices",
    "Tube, Inserted": "support_devices",
}
_UNFIT = {"No Indexing": "not_indexed", "Technical Quality of Image Unsatisfactory": "poor_quality"}
_POSITIONS = {"Frontal": "", "Lateral": "not_frontal"}
_ANONYMISED = "XXXX"


def read_openi(source: Path) -> Reading:
    """All images with the indexed problems and the report of their study.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    reports: dict[str, Row] = {}
    for row in read_rows(source / _REPORTS, ("uid", "Problems", "findings", "impression")):
        earlier = reports.setdefault(row.filled("uid"), row)
        if earlier is not row:
            raise row.fault(f"uid {row.text('uid')} stands in row {earlier.number} too; keep one")
    images = ImageFolder(source)
    rows = read_rows(source / _PROJECTIONS, ("uid", "filename", "projection"))
    return Reading(
        tuple(_candidate(row, _report(row, reports), images) for row in rows),
        (source / _REPORTS, source / _PROJECTIONS),
    )


def _report(row: Row, reports: dict[str, Row]) -> Row:
    report = reports.get(row.filled("uid"))
    if report is None:
        raise RecordInvalid(f"{row.where}: uid {row.text('uid')} is not in {_REPORTS}; use tables of one release")
    return report


def _candidate(row: Row, report: Row, images: ImageFolder) -> Candidate:
    problems = [word for word in (part.strip() for part in report.filled("Problems").split(";")) if word]
    labels = {_PROBLEMS.get(problem, OTHER_FINDING) for problem in problems if problem not in _UNFIT}
    if NO_FINDING in labels and len(labels) > 1:
        raise report.fault("Problems has 'normal' beside a problem; correct the table")
    unfit = [_UNFIT[problem] for problem in problems if problem in _UNFIT]
    position = row.word("projection", _POSITIONS)
    name = row.filled("filename")
    return Candidate(
        where=row.where,
        name=without_ending(name),
        file=images.of(row, name),
        cluster=f"study-{row.text('uid')}",
        labels=tuple(sorted(labels)),
        label_source="problems indexed from the report by the publisher",
        unfit=position or next(iter(unfit), ""),
        view="frontal" if not position else "lateral",
        caption=_caption(report),
    )


def _caption(report: Row) -> str:
    """Findings and impression without the marks that stand for removed words; empty where the report has neither."""
    parts = [report.text("findings"), report.text("impression")]
    words = " ".join(parts).replace(_ANONYMISED, " ").split()
    return " ".join(words)


OPENI = DataSet(
    name="openi",
    title="Open-i, Indiana University",
    modality=Modality.CHEST_RADIOGRAPH,
    version="Indiana University chest X-ray collection",
    licence="Open-i: CC BY-NC-ND 4.0",
    images_may_be_shown=False,
    strata=tuple(dict.fromkeys(_PROBLEMS.values())),
    read=read_openi,
    notes=(
        "Frontal films. The index is an open list of MeSH terms: one that is no label of ours counts as another finding, "
        "so a film with it has several labels or is not asked for. Sex and age are not published."
    ),
    clusters_may_differ=False,
    multi_label=True,
    captioned=True,
)
