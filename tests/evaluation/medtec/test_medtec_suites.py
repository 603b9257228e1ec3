"""The suites that are built: the drawn demo, the mini suite of real data, and suites put together by commands."""

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.errors import DataMissing, EvaluationError, SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.suites.medtec.anchors.manifest import read_anchor_set, read_header
from evaluation.suites.medtec.demo import build_medtec_demo
from evaluation.suites.medtec.mini import build_medtec_mini
from evaluation.suites.medtec.protocols import captions_path, label_matrix_path, read_captions, read_label_matrix
from evaluation.suites.medtec.questions import question_path, read_questions
from evaluation.suites.medtec.suite import read_probe_suite
from tests.evaluation.medtec.published import TABLES, write_image, write_published

BY_NAME = {published.name: published for published in TABLES}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(*words: str) -> str:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites") / "demo"
    build_medtec_demo(folder)
    return folder


def test_the_demo_is_small_whole_and_says_that_it_is_synthetic(demo: Path) -> None:
    suite = read_probe_suite(demo)
    assert suite.synthetic
    assert all("synthetic" in task.title for task in suite.tasks)
    assert "synthetic" in (demo / "README.md").read_text("utf-8")
    for name, labels in (("demo_radiograph", 5), ("demo_dermoscopy", 4)):
        found = read_anchor_set(demo / "anchors" / f"{name}.csv", hashes=FileHashes())
        assert len(found.anchors) == 40
        assert len({anchor.label for anchor in found.anchors}) == labels
        for anchor in found.anchors:
            with Image.open(demo / anchor.path) as image:
                image.load()


def test_the_demo_has_every_kind_of_task(demo: Path) -> None:
    tasks = {task.name: task for task in read_probe_suite(demo).tasks}
    assert {task.kind for task in tasks.values()} == {"cell", "closed_questions", "retrieval", "zero_shot"}
    assert "dermoscopy.L3" in tasks
    assert "chest_radiograph.L5.no_finding" in tasks
    questions = read_questions(question_path(demo, "demo_radiograph"))
    assert not questions.without_rule
    # A question about the finding of each of 32 sick chests, and one about another finding of all 40.
    assert [question.answer for question in questions.questions].count("yes") == 32
    assert len(questions.questions) == 72
    assert len(read_captions(captions_path(demo, "demo_radiograph")).paths) == 40
    assert read_label_matrix(label_matrix_path(demo, "demo_radiograph")).present.sum(axis=0).tolist() == [8, 8, 8, 8]


def test_the_demo_is_built_the_same_every_time(demo: Path, tmp_path: Path) -> None:
    run("build", "medtec-demo", "--out", str(tmp_path / "again"))
    assert contents(tmp_path / "again") == contents(demo)


def test_a_folder_that_holds_files_is_refused_and_left_alone(demo: Path) -> None:
    before = contents(demo)
    with pytest.raises(SuiteInvalid, match="already holds files"):
        build_medtec_demo(demo)
    assert contents(demo) == before


def test_an_interrupted_build_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    with pytest.raises(DataMissing, match="name the folder that holds NIH ChestX-ray14"):
        build_medtec_mini(tmp_path / "raw", tmp_path / "suite")
    with pytest.raises(DataMissing, match="name the folder that holds the raw data sets"):
        build_medtec_mini(tmp_path / "elsewhere", tmp_path / "suite")
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def test_a_suite_grows_by_commands(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    for name in ("ham10000", "isic2017"):
        source = write_published(tmp_path / name, BY_NAME[name])
        told = run("build", "anchors", name, "--source", str(source), "--out", str(suite), "--per-label", "1")
    assert "isic2017 (dermoscopy): 3 anchors of 4 images" in told
    assert "left out: over_limit_of_stratum 1" in told
    assert read_header(suite / "anchors/ham10000.csv").per_label == 1
    names = [task.name for task in read_probe_suite(suite).tasks]
    assert names.count("dermoscopy.L4") == names.count("dermoscopy.L4@isic2017") == 1
    assert "dermoscopy.L3@isic2017" not in names

    write_image(tmp_path / "vqa/one.jpg", 1)
    record = {"image_name": "one.jpg", "image_case_url": "?id=1", "question": "Is there a mass?", "answer": "No"}
    (tmp_path / "vqa/VQA_RAD Dataset Public.json").write_text(json.dumps([record]), encoding="utf-8")
    told = run("build", "questions", "--source", str(tmp_path / "vqa"), "--out", str(suite))
    assert "1 closed questions with statements (existence_with_article 1), 0 without a rule" in told
    assert [task.name for task in read_probe_suite(suite).tasks] == [*names, "vqa_rad.closed_questions"]


def test_the_suites_name_stays_when_anchors_are_added(tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", BY_NAME["isic2017"])
    words = ("build", "anchors", "isic2017", "--source", str(source), "--out", str(tmp_path / "suite"))
    run(*words)
    path = tmp_path / "suite/suite.json"
    path.write_text(path.read_text("utf-8").replace('"slug": "medtec"', '"slug": "medtec-skin"'), encoding="utf-8")
    run(*words, "--label", "melanoma")
    assert read_probe_suite(tmp_path / "suite").slug == "medtec-skin"
    assert read_header(tmp_path / "suite/anchors/isic2017.csv").labels == {"melanoma": 1}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("zebra",), "'zebra' is no data set; choose one of chexpert"),
        (("isic2017", "--label", "zebra"), "isic2017 has no label zebra; it has melanoma"),
    ],
)
def test_unknown_data_sets_and_labels_are_named(words: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    source = write_published(tmp_path / "source", BY_NAME["isic2017"])
    with pytest.raises(EvaluationError) as caught:
        run("build", "anchors", *words, "--source", str(source), "--out", str(tmp_path / "suite"))
    assert problem in caught.value.message


@pytest.mark.real_data
def test_the_mini_suite_holds_what_was_counted(real_data: Path, tmp_path: Path) -> None:
    suite = build_medtec_mini(real_data, tmp_path / "mini")
    sizes = {
        path.stem: len(read_anchor_set(path, hashes=FileHashes()).anchors)
        for path in (tmp_path / "mini/anchors").glob("*.csv")
    }
    assert sizes == {
        "busi": 61,
        "ham10000": 164,
        "idrid": 39,
        "isic2017": 40,
        "nct_crc_he": 44,
        "nih_chestxray14": 46,
        "pad_ufes_20": 73,
    }
    # 55 of 76 films have one label; 8 of those are of patients with two.
    chest = read_header(tmp_path / "mini/anchors/nih_chestxray14.csv")
    assert chest.dropped == {"another_image_of_cluster": 1, "cluster_in_two_strata": 8, "several_labels": 21}
    assert read_label_matrix(label_matrix_path(tmp_path / "mini", "nih_chestxray14")).present.shape[0] == 76
    assert {task.modality for task in suite.tasks if task.modality} == {
        "breast_ultrasound",
        "chest_radiograph",
        "dermoscopy",
        "fundus",
        "histopathology",
        "skin_photograph",
    }
    assert not any(task.images_may_be_shown for task in suite.tasks if task.dataset in ("ham10000", "covid_chestxray"))
