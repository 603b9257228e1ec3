"""Makes the anchor set of one data set inside a suite's folder: images, manifest, header and protocol files."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evaluation.environment import code_version
from evaluation.errors import DataMissing, SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.probe_types import Anchor
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet
from evaluation.suites.medtec.anchors.manifest import FOLDER, AnchorHeader, anchor_table, write_anchor_set
from evaluation.suites.medtec.anchors.placing import Placing
from evaluation.suites.medtec.anchors.selection import select_anchors
from evaluation.suites.medtec.protocols import write_captions, write_label_matrix
from evaluation.suites.pairing import SEED


def build_anchor_set(
    data_set: DataSet,
    *,
    source: Path,
    folder: Path,
    strata: Sequence[str] = (),
    per_label: int | None = None,
) -> AnchorHeader:
    """Read `source`, choose anchors of `strata` (all of the data set's if empty) and write them below `folder`.

    Raises:
        SuiteInvalid: the source is not as its publisher gives it, a stratum is unknown or stays empty.
    """
    if not source.is_dir():
        raise DataMissing(f"{source} is not a folder; name the folder that holds {data_set.title}")
    unknown = [stratum for stratum in strata if stratum not in data_set.strata]
    if unknown:
        raise SuiteInvalid(f"{data_set.name} has no label {', '.join(unknown)}; it has {', '.join(data_set.strata)}")
    limit = data_set.per_label if per_label is None else per_label
    reading = data_set.read(source)
    selection = select_anchors(data_set, reading.candidates, strata=strata or data_set.strata, per_label=limit)
    placing = Placing(folder, data_set.name, FileHashes())
    version = code_version()
    anchors = tuple(_anchor(data_set, candidate, placing, version) for candidate in selection.chosen)
    header = AnchorHeader(
        name=data_set.name,
        title=data_set.title,
        modality=data_set.modality,
        dataset_version=data_set.version,
        licence=data_set.licence,
        images_may_be_shown=data_set.images_may_be_shown,
        levels=data_set.levels,
        seed=SEED,
        per_label=limit,
        code_version=version,
        sources={table.relative_to(source).as_posix(): placing.hashes.of(table) for table in reading.tables},
        rows=len(reading.candidates),
        dropped=selection.dropped,
        labels=dict(sorted(Counter(anchor.label for anchor in anchors).items())),
        counts=dict(sorted(reading.counts.items())),
        notes=data_set.notes,
        manifest_sha256=hashlib.sha256(anchor_table(anchors)).hexdigest(),
    )
    write_anchor_set(folder / FOLDER / f"{data_set.name}.csv", anchors, header)
    if data_set.multi_label:
        write_label_matrix(data_set, reading.candidates, placing)
    if data_set.captioned:
        write_captions(data_set, reading.candidates, placing)
    return header


def _anchor(data_set: DataSet, candidate: Candidate, placing: Placing, version: str) -> Anchor:
    path, digest = placing.place(candidate.file, candidate.name)
    return Anchor(
        anchor_id=f"{data_set.name}/{candidate.name}",
        modality=data_set.modality,
        dataset=data_set.name,
        dataset_version=data_set.version,
        source_split=candidate.source_split,
        path=path,
        sha256=digest,
        cluster=candidate.cluster,
        label=candidate.labels[0],
        label_source=candidate.label_source,
        region=candidate.region,
        view=candidate.view,
        slice_index=candidate.slice_index,
        window=candidate.window,
        sex=candidate.sex,
        age=candidate.age,
        skin_tone=candidate.skin_tone,
        licence=data_set.licence,
        seed=SEED,
        code_version=version,
    )
