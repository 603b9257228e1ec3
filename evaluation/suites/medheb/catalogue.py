"""The packaged catalogue of MedHEB: the 107 tasks of the release and its 54 source data sets.

`tasks.tsv` has one row a task. Public facts, from the authors' evaluation configuration: task_id, repo_category,
split, pool, parser, image_root, data_path. Assigned by this project: datasets, family, domain, granularity, the names
of query and candidate forms, the wording of the relevance rule. `datasets.tsv` has one row a data set; its columns
`licence_basis` and `provenance` say what was checked and where a row comes from. Instructions to models are in the
records of the release and not here.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import Domain, EvidenceForm, Family, Granularity, PairingType, Parser, PoolScope, Split

_FOLDER = Path(__file__).parent

_FAMILIES = {
    "1_image_to_label_text": Family.IMAGE_TO_LABEL,
    "2_image_to_image_same_class": Family.IMAGE_TO_IMAGE,
    "3_text_to_image_or_volume": Family.TEXT_TO_IMAGE,
    "4_visual_question_answering": Family.QUESTION_ANSWERING,
    "5_image_or_volume_to_report": Family.IMAGE_TO_REPORT,
    "6_text_to_text": Family.TEXT_TO_TEXT,
    "7_region_grounding": Family.REGION_GROUNDING,
    "8_modality_bridging": Family.MODALITY_BRIDGING,
}
_PAIRING_TYPES = {
    Family.IMAGE_TO_LABEL: PairingType.IMAGE_TEXT,
    Family.IMAGE_TO_IMAGE: PairingType.IMAGE_IMAGE,
    Family.TEXT_TO_IMAGE: PairingType.IMAGE_TEXT,
    Family.QUESTION_ANSWERING: PairingType.IMAGE_TEXT,
    Family.IMAGE_TO_REPORT: PairingType.IMAGE_TEXT,
    Family.TEXT_TO_TEXT: PairingType.TEXT_TEXT,
    Family.REGION_GROUNDING: PairingType.IMAGE_IMAGE,
    Family.MODALITY_BRIDGING: PairingType.MODALITY_BRIDGING,
}
_EVIDENCE_FORMS = {
    "2D_Task": EvidenceForm.IMAGE_2D,
    "3D_Task": EvidenceForm.VOLUME_3D,
    "Text_Task": EvidenceForm.TEXT,
}
_GRANULARITIES = {
    "global label": Granularity.GLOBAL_LABEL,
    "question-conditioned": Granularity.QUESTION_CONDITIONED,
    "region-level": Granularity.REGION_LEVEL,
}
_SPLITS = {"in-distribution": Split.IN_DISTRIBUTION, "held-out": Split.HELD_OUT}

# Images go on a page only where the access is open, the licence allows it to anyone, and the licence was looked up at
# its source; everything else waits until somebody has checked.
_OPEN_LICENCES = frozenset({"CC BY 4.0", "CC0 1.0", "CC0 1.0 (HF tag)", "Apache-2.0 (HF tag)"})
_CHECKED_BASES = frozenset(
    {
        "MedMNIST info.py (MedMNIST/MedMNIST)",
        "MedSegBench info.py (zekikus/MedSegBench)",
        "HF card",
        "mteb task metadata",
    }
)


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where the data of a task come from. `access` is how: `open`, or by whose leave; `origin` is where to ask."""

    name: str
    access: str
    origin: str

    @property
    def is_restricted(self) -> bool:
        """Whether somebody has to grant access first."""
        return not self.access.startswith("open")


def data_sources(spec: TaskSpec) -> tuple[DataSource, ...]:
    """The sources of a task's data, as far as they are in the table of data sets."""
    return tuple(_sources_by_name()[name] for name in spec.datasets if name in _sources_by_name())


@cache
def _sources_by_name() -> Mapping[str, DataSource]:
    return {
        row["name_in_source"]: DataSource(row["name_in_source"], row["access_class"], row["origin"])
        for row in dataset_rows()
    }


@cache
def medheb_suite() -> SuiteSpec:
    """MedHEB as released: 107 tasks in the order of the release's configuration."""
    datasets = {row["dataset_key"]: row for row in dataset_rows()}
    return SuiteSpec(
        slug="medheb",
        version="1",
        title="MedHEB",
        synthetic=False,
        tasks=tuple(_task(row, datasets) for row in task_rows()),
    )


def task_rows() -> list[dict[str, str]]:
    """The rows of `tasks.tsv` as they stand, with the columns that say where each fact comes from."""
    return _rows("tasks.tsv")


def dataset_rows() -> list[dict[str, str]]:
    """The rows of `datasets.tsv` as they stand: origin, access, licence and its basis, provenance."""
    return _rows("datasets.tsv")


def _rows(name: str) -> list[dict[str, str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))


def _task(row: Mapping[str, str], datasets: Mapping[str, Mapping[str, str]]) -> TaskSpec:
    family = _FAMILIES[row["family"]]
    sources = [datasets[key] for key in row["datasets"].split(";")]
    return TaskSpec(
        name=row["task_id"],
        title=row["task_id"].replace("_", " "),
        family=family,
        domain=Domain(row["domain"]),
        evidence_form=_EVIDENCE_FORMS[row["data_path"].split("/")[0]],
        pairing_type=_PAIRING_TYPES[family],
        granularity=_GRANULARITIES[row["granularity"].split(" (")[0]],
        split=_SPLITS[row["split"]],
        pool=PoolScope(row["pool"]),
        parser=Parser(row["parser"]),
        datasets=tuple(source["name_in_source"] for source in sources),
        image_root=row["image_root"],
        data_path=row["data_path"],
        relevance_rule=row["relevance_rule"],
        group=row["repo_category"],
        licence="; ".join(dict.fromkeys(source["licence"] for source in sources)),
        images_may_be_shown=all(_may_be_shown(source) for source in sources),
        notes=row["notes"],
    )


def _may_be_shown(dataset: Mapping[str, str]) -> bool:
    return (
        dataset["access_class"] == "open"
        and dataset["licence"] in _OPEN_LICENCES
        and dataset["licence_basis"] in _CHECKED_BASES
    )
