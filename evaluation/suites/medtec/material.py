"""Reads from a suite's folder what a board needs beside results."""

from pathlib import Path

from evaluation.probe_types import ProbeSuiteSpec, ProbeTaskSpec
from evaluation.suites.medtec.anchors.manifest import read_anchor_set
from evaluation.suites.medtec.evidence import BoardMaterial
from evaluation.suites.medtec.probe_reading import probe_set_for
from evaluation.suites.medtec.protocols import read_captions, read_label_matrix
from evaluation.vocabulary import ProbeTaskKind


def read_board_material(folder: Path, suite: ProbeSuiteSpec) -> BoardMaterial:
    """The anchor sets, patients and probe sets of the suite's tasks; give a suite of installed tasks only.

    Raises:
        DataMissing: a file or an image of a task is not there.
        SuiteInvalid: a file breaks its format, or the probe texts are no longer those of a task.
    """
    cells = [spec for spec in suite.tasks if spec.kind is ProbeTaskKind.CELL]
    manifests = dict.fromkeys(spec.data_path for spec in cells)
    probe_sets = {spec.probes_sha256: probe_set_for(spec) for spec in cells}
    return BoardMaterial(
        anchor_sets={data_path: read_anchor_set(folder / data_path) for data_path in manifests},
        patients={
            spec.data_path: tuple(dict.fromkeys(_clusters(folder, spec)))
            for spec in suite.tasks
            if spec.kind in (ProbeTaskKind.RETRIEVAL, ProbeTaskKind.ZERO_SHOT)
        },
        probe_sets=tuple(probe_sets.values()),
    )


def _clusters(folder: Path, spec: ProbeTaskSpec) -> tuple[str, ...]:
    if spec.kind is ProbeTaskKind.RETRIEVAL:
        return read_captions(folder / spec.data_path).clusters
    return read_label_matrix(folder / spec.data_path).clusters
