"""The files of the zero-shot and retrieval protocols: what is in them, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.errors import DataMissing, EvaluationError
from evaluation.suites.medtec.anchors.building import build_anchor_set
from evaluation.suites.medtec.anchors.catalogue import DATA_SETS
from evaluation.suites.medtec.protocols import captions_path, label_matrix_path, read_captions, read_label_matrix
from tests.evaluation.medtec.published import TABLES, write_published

BY_NAME = {published.name: published for published in TABLES}


def built(name: str, folder: Path) -> Path:
    published = BY_NAME[name]
    source = write_published(folder / "source", published)
    build_anchor_set(DATA_SETS[name], source=source, folder=folder / "suite", strata=published.strata)
    return folder / "suite"


def test_the_label_matrix_has_every_image_those_with_several_labels_too(tmp_path: Path) -> None:
    matrix = read_label_matrix(label_matrix_path(built("nih_chestxray14", tmp_path), "nih_chestxray14"))
    assert matrix.labels == ("atelectasis", "pleural_effusion", "mass", "pleural_thickening")
    # No finding, atelectasis, effusion, effusion and mass, pleural thickening, no finding.
    expected = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert np.array_equal(matrix.present, np.array(expected, dtype=bool))
    assert matrix.clusters == tuple(f"patient-{number}" for number in range(1, 7))
    assert matrix.head.title == "NIH ChestX-ray14"


def test_captions_are_findings_and_impression_of_frontal_films(tmp_path: Path) -> None:
    captions = read_captions(captions_path(built("openi", tmp_path), "openi"))
    assert captions.captions[:2] == ("Finding number 1 in . Seen, read.", "Finding number 2 in .")
    # Study 5 is not indexed, and the lateral film of study 1 is left out.
    assert captions.clusters == ("study-1", "study-2", "study-3", "study-4", "study-6")


def changed(path: Path, edit: Callable[[dict[str, Any]], Any]) -> Path:
    body = json.loads(path.read_text("utf-8"))
    edit(body)
    path.write_text(json.dumps(body), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (lambda body: body["images"][1].update(labels=[0, 1]), "image 1: labels must be 4 numbers"),
        (lambda body: body["images"][1].update(labels=[0, 1, 2, 0]), "image 1: labels must be 4 numbers"),
        (lambda body: body["images"][1].update(labels=[0, True, 0, 0]), "image 1: labels must be 4 numbers"),
        (lambda body: body["images"][1].update(path="/x.png"), "image 1: path"),
        (lambda body: body["images"][1].update(path="images/x.png"), "image 1: images/x.png is not there"),
        (lambda body: body["images"][1].pop("cluster"), "image 1: missing key 'cluster'"),
        (lambda body: body.update(labels=["a", "a", "b", "c"]), "labels must be a list of distinct labels"),
        (lambda body: body.update(images=[]), "has no images"),
        (lambda body: body.update(modality="x-ray"), "modality: 'x-ray' is none of"),
        (lambda body: body.update(schema_version=2), "schema_version must be 1"),
    ],
)
def test_a_broken_label_matrix_is_refused(edit: Callable[[dict[str, Any]], Any], problem: str, tmp_path: Path) -> None:
    path = changed(label_matrix_path(built("nih_chestxray14", tmp_path), "nih_chestxray14"), edit)
    with pytest.raises(EvaluationError) as caught:
        read_label_matrix(path)
    assert problem in caught.value.message


def test_broken_captions_are_refused(tmp_path: Path) -> None:
    path = captions_path(built("openi", tmp_path), "openi")
    with pytest.raises(EvaluationError, match="image 0: caption: the text is empty"):
        read_captions(changed(path, lambda body: body["images"][0].update(caption=" ")))
    with pytest.raises(DataMissing, match=r"image 0: images/gone\.png is not there"):
        read_captions(changed(path, lambda body: body["images"][0].update(path="images/gone.png", caption="a")))
