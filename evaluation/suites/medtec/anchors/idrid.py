"""IDRiD, disease grading: `labels.csv` with a retinopathy grade 0 to 4 and a risk of macular oedema 0 to 2."""

from pathlib import Path

from evaluation.errors import DataMissing
from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import ImageFolder, content_cluster
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

RETINOPATHY = "diabetic_retinopathy"
OEDEMA = "diabetic_macular_edema"

_JOINED_TABLE = "labels.csv"
_PUBLISHED_TABLES = {
    "train": "a. IDRiD_Disease Grading_Training Labels.csv",
    "test": "b. IDRiD_Disease Grading_Testing Labels.csv",
}
_PUBLISHED_FOLDERS = {"train": "a. Training Set", "test": "b. Testing Set"}
_NAME, _GRADE, _RISK, _SPLIT = "Image name", "Retinopathy grade", "Risk of macular edema", "split"
_GRADES = {str(grade): grade for grade in range(5)}
_RISKS = {str(risk): risk for risk in range(3)}
_HIGH_RISK = 2
_SPLITS = {split: split for split in _PUBLISHED_TABLES}


def read_idrid(source: Path) -> Reading:
    """All images of the publisher's two tables, or of one table `labels.csv` with a column `split`.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    if (source / _JOINED_TABLE).is_file():
        return _read_joined(source)
    candidates: list[Candidate] = []
    tables = []
    for split, name in _PUBLISHED_TABLES.items():
        table = _one_below(source, name)
        images = ImageFolder(_one_below(source, _PUBLISHED_FOLDERS[split]))
        rows = read_rows(table, (_NAME, _GRADE, _RISK))
        candidates += [_candidate(row, images.of(row, row.filled(_NAME)), split) for row in rows]
        tables.append(table)
    return Reading(tuple(candidates), tuple(tables))


def _read_joined(source: Path) -> Reading:
    table = source / _JOINED_TABLE
    rows = read_rows(table, (_NAME, _GRADE, _RISK, _SPLIT))
    images = ImageFolder(source)
    candidates = []
    for row in rows:
        split = row.word(_SPLIT, _SPLITS)
        candidates.append(_candidate(row, images.of(row, f"{split}_{row.filled(_NAME)}"), split))
    return Reading(tuple(candidates), (table,))


def _one_below(source: Path, name: str) -> Path:
    found = sorted(source.rglob(name))
    if len(found) != 1:
        raise DataMissing(f"{source} has {len(found)} files or folders called {name!r} below it; one is needed")
    return found[0]


def _candidate(row: Row, file: Path, split: str) -> Candidate:
    grade, risk = row.word(_GRADE, _GRADES), row.word(_RISK, _RISKS)
    if grade == 0 and risk:
        raise row.fault(f"{_RISK} is {risk} without retinopathy; correct the table")
    return Candidate(
        where=row.where,
        name=f"{split}_{row.filled(_NAME)}",
        file=file,
        cluster=content_cluster(file),
        labels=(_label(grade, risk),),
        label_source=f"experts' grades: retinopathy {grade}, risk of macular oedema {risk}",
        unfit="uncertain_label" if 0 < risk < _HIGH_RISK else "",
        source_split=split,
    )


def _label(grade: int, risk: int) -> str:
    """Macular oedema implies retinopathy here, which then is no second label."""
    if risk:
        return OEDEMA
    return RETINOPATHY if grade else NO_FINDING


IDRID = DataSet(
    name="idrid",
    title="IDRiD, disease grading",
    modality=Modality.FUNDUS,
    version="IEEE DataPort H25W98",
    licence="CC BY 4.0",
    images_may_be_shown=True,
    strata=(NO_FINDING, RETINOPATHY, OEDEMA),
    read=read_idrid,
    notes=(
        "Retinopathy grades 1 to 4 are one label: they are steps of one scale, and a neighbour is no clean negative. "
        "Retinopathy means no risk of macular oedema, macular oedema the highest risk (hard exudates near the fovea); "
        "images with the middle risk are left out."
    ),
)
