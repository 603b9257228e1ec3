"""The mini suite from real data: coverage, determinism, leakage, and a model trained on it."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluation.embedders.protocol import Embedder
from evaluation.errors import DataMissing, SuiteInvalid
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.probe import evaluate_probe_task
from evaluation.hashing import FileHashes
from evaluation.suites.building import SuiteDraft
from evaluation.suites.medheb.reader import load_task, read_suite
from evaluation.suites.medtec.anchors.manifest import read_anchor_set, read_header
from evaluation.suites.medtec.loading import ProbeLoader
from evaluation.suites.medtec.mini import IN_TRAINING, build_medtec_mini
from evaluation.suites.medtec.probe_reading import read_probe_sets
from evaluation.suites.medtec.suite import read_probe_suite
from evaluation.suites.medtec.wordings import normalised
from evaluation.suites.mini.near_copies import NEAR_COPY, thumbnails
from evaluation.suites.mini.suite import build_mini
from evaluation.types import RetrievalTask
from evaluation.vocabulary import Domain, EvidenceForm, Family, Granularity, Modality, Parser, PoolScope, Split

pytestmark = [pytest.mark.real_data, pytest.mark.timeout(900)]

# The sources whose labels pair images with texts in training.
TRAINED = ("Kermany", "HAM10000", "BUSI", "CT-Level", "IDRiD-Grading", "VQA-RAD", "Oral-Histology", "PBC")
# The cells of kinds of pictures that training images have. The site of a skin lesion (dermoscopy.L3) is not among them:
# a close-up of a lesion hardly shows it.
PROBED = (
    *(
        f"{modality}.L{level}"
        for modality in ("chest_radiograph", "fundus", "breast_ultrasound")
        for level in (1, 2, 3)
    ),
    "dermoscopy.L1",
    "dermoscopy.L2",
)


@pytest.fixture(scope="module")
def mini(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SuiteDraft]:
    folder = tmp_path_factory.mktemp("suites") / "mini"
    return folder, build_mini(real_data, folder)


@pytest.fixture(scope="module")
def tasks(mini: tuple[Path, SuiteDraft]) -> dict[str, RetrievalTask]:
    hashes = FileHashes()
    return {spec.name: load_task(mini[0], spec, hashes=hashes) for spec in read_suite(mini[0]).tasks}


def test_coverage(mini: tuple[Path, SuiteDraft]) -> None:
    specs = [task.spec for task in mini[1].tasks]
    assert len(specs) == len({spec.name for spec in specs}) == 63
    assert {spec.family for spec in specs} == set(Family)
    assert {spec.domain for spec in specs} == set(Domain)
    assert {spec.evidence_form for spec in specs} == set(EvidenceForm)
    assert {spec.granularity for spec in specs} == set(Granularity)
    assert {spec.split for spec in specs} == set(Split)
    assert {spec.pool for spec in specs} == set(PoolScope)
    assert {spec.parser for spec in specs} == set(Parser)
    assert not any(spec.images_may_be_shown for spec in specs if spec.datasets[0] in {"HAM10000", "Covid-CXR-CT"})
    notes = (mini[0] / "README.md").read_text()
    assert "Musculoskeletal is thin" in notes


def test_the_reader_accepts_every_task(tasks: dict[str, RetrievalTask], mini: tuple[Path, SuiteDraft]) -> None:
    counts = {task.spec.name: len(task.records) for task in mini[1].tasks}
    assert {name: len(task.queries) for name, task in tasks.items()} == counts
    assert all(11 <= count <= 100 for count in counts.values())
    for task in tasks.values():
        for query in task.queries:
            assert len(query.relevant) == 1


def test_counts_that_follow_from_the_publishers_tables(tasks: dict[str, RetrievalTask]) -> None:
    """Counted by hand in the tables: 11 patients with both modalities; 23 followed, one of them on one day only."""
    assert len(tasks["Covid_radiograph_to_ct"].queries) == 11
    assert len(tasks["Hannover-CXR_follow_up"].queries) == 22
    # 34 without a finding, and 5, 4, 3, 2 and 2 of the single findings that two patients have.
    assert len(tasks["NIH-CXR_cls"].queries) == 50
    # 40 images, one of them the only melanoma.
    assert len(tasks["ISIC-2017_cls"].queries) == 39
    assert len(tasks["ISIC-2017_region"].queries) == 40
    # Volumes in the lower and upper third of 60.
    assert len(tasks["Hippocampus_size"].queries) == 40


def test_yes_and_no_are_ranked_against_each_other_only(mini: tuple[Path, SuiteDraft]) -> None:
    for task in mini[1].tasks:
        if task.spec.family is Family.QUESTION_ANSWERING:
            for record in task.records:
                texts = [candidate.text for candidate in record.candidates]
                assert len(texts) == len(set(texts))
                if texts[0] in {"yes", "no"}:
                    assert set(texts) == {"yes", "no"}
                else:
                    assert not {"yes", "no"} & set(texts)


def test_building_twice_gives_the_same_bytes(mini: tuple[Path, SuiteDraft], real_data: Path, tmp_path: Path) -> None:
    build_mini(real_data, tmp_path / "again")
    assert tree_digest(tmp_path / "again") == tree_digest(mini[0])


def test_no_test_image_is_a_near_copy_of_a_training_image(mini: tuple[Path, SuiteDraft]) -> None:
    """Independent of the names that the builder went by: all pictures against each other, source by source."""
    folder, draft = mini
    trained = by_kind(
        image
        for pairs in draft.training.values()
        for pair in pairs
        for image in (*pair.query.images, *pair.positive.images)
    )
    tested = by_kind(
        f"{task.spec.image_root}/{image}"
        for task in draft.tasks
        for record in task.records
        for side in (record.query, *record.candidates)
        for image in side.images
    )
    for kind, images in trained.items():
        assert not images & tested[kind]
        one = thumbnails([folder / image for image in sorted(images)])
        other = thumbnails([folder / image for image in sorted(tested[kind])])
        assert float((one @ other.T).max()) < NEAR_COPY, kind


def by_kind(images: Iterable[str]) -> dict[str, set[str]]:
    """Whole pictures by data set; data sets that may hold the same pictures (IDRiD's two) go together."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for image in images:
        if "/crops/" not in image:
            kinds[image.split("/")[1].removesuffix("-Grading").removesuffix("-Segmentation")].add(image)
    return kinds


def test_labels_of_candidates_are_what_the_tables_say(mini: tuple[Path, SuiteDraft], real_data: Path) -> None:
    """HAM10000's table, read anew: the relevant image shares the query's diagnosis and not its lesion."""
    rows = {}
    with (real_data / "research/ham10000/HAM10000_metadata.csv").open() as table:
        header = next(table).strip().split(",")
        for line in table:
            row = dict(zip(header, line.strip().split(","), strict=False))
            rows[row["image_id"]] = (row["dx_code"], row["lesion_id"])
    task = next(task for task in mini[1].tasks if task.spec.name == "HAM10000_i2i")
    for record in task.records:
        code, lesion = rows[Path(record.query.images[0]).stem]
        candidates = [rows[Path(candidate.images[0]).stem] for candidate in record.candidates]
        assert candidates[0][0] == code
        assert candidates[0][1] != lesion
        assert all(other != code for other, _ in candidates[1:])


def test_missing_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="is not a folder"):
        build_mini(tmp_path / "nothing", tmp_path / "out")
    (tmp_path / "raw").mkdir()
    with pytest.raises(DataMissing, match="holds no images; put the publisher"):
        build_mini(tmp_path / "raw", tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw"]


def test_a_full_folder_is_refused(mini: tuple[Path, SuiteDraft], real_data: Path) -> None:
    with pytest.raises(SuiteInvalid, match="already holds files"):
        build_mini(real_data, mini[0])


@pytest.fixture(scope="module")
def lite_dual(mini: tuple[Path, SuiteDraft], tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """Trained on the suite's train split."""
    import torch

    from evaluation.embedders.registry import load_embedder
    from evaluation.training.lite_dual import train_lite_dual

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("models") / "lite-dual"
    train_lite_dual(mini[0], folder)
    return load_embedder(folder)


@pytest.fixture(scope="module")
def balanced_hits(tasks: dict[str, RetrievalTask], lite_dual: Embedder) -> dict[str, dict[str, NDArray[np.float64]]]:
    """For each image-to-text and text-to-image label task of a trained source: Hit@1 of its queries by label.

    Ties are shared out. A mean over labels, not over queries, gives a model that always names the commonest label no
    more than chance.
    """
    from evaluation.embedding.encode import embed_inputs

    chosen = {name: tasks[name] for source in TRAINED for name in (f"{source}_cls", f"{source}_t2i") if name in tasks}
    inputs = {key: item for task in chosen.values() for key, item in zip(task.keys, task.inputs, strict=True)}
    rows = dict(zip(inputs, embed_inputs(lite_dual, list(inputs.values()), batch_size=32), strict=True))
    return {name: hits_by_label(task, rows) for name, task in chosen.items()}


def hits_by_label(task: RetrievalTask, rows: dict[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float64]]:
    vectors = np.stack([rows[key] for key in task.keys]).astype(np.float64)
    hits: dict[str, list[float]] = defaultdict(list)
    for query in task.queries:
        (relevant,) = query.relevant
        similarities = vectors[list(query.pool)] @ vectors[query.query]
        own = similarities[query.pool.index(relevant)]
        best = similarities.max()
        hits[task.inputs[relevant].text or task.inputs[query.query].text].append(
            1.0 / float((similarities == best).sum()) if own == best else 0.0
        )
    return {label: np.array(values) for label, values in hits.items()}


@pytest.mark.parametrize("source", TRAINED)
def test_lite_dual_beats_chance_on_each_source_it_was_trained_on(
    source: str, balanced_hits: dict[str, dict[str, NDArray[np.float64]]], tasks: dict[str, RetrievalTask]
) -> None:
    """The lower end of a 95% bootstrap interval over the source's queries lies above chance, on unseen patients."""
    rng = np.random.default_rng(42)
    names = [name for name in (f"{source}_cls", f"{source}_t2i") if name in balanced_hits]
    assert names
    for name in names:
        chance = float(np.mean([1 / len(query.pool) for query in tasks[name].queries]))
        means = np.zeros(2000)
        for values in balanced_hits[name].values():
            means += values[rng.integers(0, len(values), (2000, len(values)))].mean(axis=1)
        means /= len(balanced_hits[name])
        lower = float(np.quantile(means, 0.025))
        told = f"{name}: {means.mean():.2f}, from {lower:.2f}, chance {chance:.2f}"
        print(told)  # noqa: T201 -- the figures, for whoever runs this with -s
        assert lower > chance, told


@pytest.fixture(scope="module")
def probing_suite(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites") / "medtec-mini"
    build_medtec_mini(real_data, folder)
    return folder


def test_no_anchor_of_the_probes_is_a_training_image(mini: tuple[Path, SuiteDraft], probing_suite: Path) -> None:
    """By content, over all training files and anchor sets; and both hold images of the same data sets."""
    hashes = FileHashes()
    trained = {
        hashes.of(mini[0] / image)
        for pairs in mini[1].training.values()
        for pair in pairs
        for image in (*pair.query.images, *pair.positive.images)
    }
    for path in sorted((probing_suite / "anchors").glob("*.csv")):
        anchors = read_anchor_set(path, hashes=hashes).anchors
        assert not {anchor.sha256 for anchor in anchors} & trained, path.stem
    left_out = read_header(probing_suite / "anchors" / "busi.csv").dropped[IN_TRAINING]
    assert left_out == len({pair.query.images for pair in mini[1].training["BUSI"] if pair.query.images})


def test_no_training_text_is_a_probe(mini: tuple[Path, SuiteDraft]) -> None:
    probed = {
        normalised(text)
        for modality in Modality
        for probe_set in read_probe_sets(modality)
        for probe in probe_set.probes
        for text in (*probe.positives, *probe.negatives)
    }
    trained = {
        normalised(text)
        for pairs in mini[1].training.values()
        for pair in pairs
        for text in (pair.instruction, pair.query.text, pair.positive.text)
    }
    assert len(trained) > 2000
    assert not trained & probed


@pytest.mark.parametrize("name", PROBED)
def test_lite_dual_knows_what_kind_of_picture_it_sees(name: str, probing_suite: Path, lite_dual: Embedder) -> None:
    """On unseen patients the cell's whole interval lies above zero: level 1 the domain, 2 the method, 3 the region."""
    from evaluation.embedding.encode import embed_inputs

    (spec,) = (spec for spec in read_probe_suite(probing_suite).tasks if spec.name == name)
    task = ProbeLoader(probing_suite, FileHashes()).load(spec, takes_volumes=False)
    vectors = embed_inputs(lite_dual, list(task.inputs), batch_size=32)
    score = evaluate_probe_task(task, vectors, cost=EmbeddingCost(0.0, 0)).metrics[0]
    told = f"{name}: {score.value:.3f}, from {score.lower:.3f}"
    print(told)  # noqa: T201 -- the figures, for whoever runs this with -s
    assert score.lower > 0, told


def test_training_files_hold_what_the_draft_says(mini: tuple[Path, SuiteDraft]) -> None:
    written = Counter(
        {file.stem: len(file.read_text().splitlines()) for file in (mini[0] / "Train_Data").glob("*.jsonl")}
    )
    assert written == Counter({name: len(pairs) for name, pairs in mini[1].training.items()})
    line = json.loads((mini[0] / "Train_Data" / "Kermany.jsonl").read_text().splitlines()[0])
    assert line["label"] in {"normal chest", "pneumonia"}


def tree_digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
