"""The demo suite: complete, deterministic, readable, and without leakage."""

import hashlib
import json
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from evaluation.commands.build import app
from evaluation.errors import SuiteInvalid
from evaluation.suites.building import SuiteDraft
from evaluation.suites.demo.suite import build_demo
from evaluation.vocabulary import Domain, EvidenceForm, Family, Parser, PoolScope, Split


def tree_digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SuiteDraft]:
    folder = tmp_path_factory.mktemp("suites") / "demo"
    started = time.perf_counter()
    draft = build_demo(folder)
    print(f"the demo suite was built in {time.perf_counter() - started:.1f} s")  # noqa: T201 -- told, not asserted
    return folder, draft


def test_every_family_domain_form_parser_pool_and_split_is_there(demo: tuple[Path, SuiteDraft]) -> None:
    specs = [task.spec for task in demo[1].tasks]
    assert len(specs) == len({spec.name for spec in specs}) == 24
    assert {spec.family for spec in specs} == set(Family)
    assert {spec.domain for spec in specs} == set(Domain)
    assert {spec.evidence_form for spec in specs} == set(EvidenceForm)
    assert {spec.parser for spec in specs} == set(Parser)
    assert {spec.pool for spec in specs} == set(PoolScope)
    assert {spec.split for spec in specs} == set(Split)


def test_it_says_that_it_is_synthetic(demo: tuple[Path, SuiteDraft]) -> None:
    folder, _ = demo
    manifest = json.loads((folder / "suite.json").read_text())
    assert manifest["synthetic"] is True
    assert "synthetic" in manifest["title"]
    assert all("synthetic" in task["title"] for task in manifest["tasks"])
    assert "synthetic" in (folder / "README.md").read_text()


def test_building_twice_gives_the_same_bytes(demo: tuple[Path, SuiteDraft], tmp_path: Path) -> None:
    build_demo(tmp_path / "again")
    assert tree_digest(tmp_path / "again") == tree_digest(demo[0])


def test_every_record_names_files_that_are_there(demo: tuple[Path, SuiteDraft]) -> None:
    folder, draft = demo
    for task in draft.tasks:
        records = json.loads((folder / task.spec.data_path).read_text())
        assert 14 <= len(records) <= 40
        for record in records:
            for field in ("qry_img_path", "tgt_img_path"):
                for path in flat(record.get(field, [])):
                    assert (folder / task.spec.image_root / path).is_file()


def test_training_lines_have_as_many_marks_as_images(demo: tuple[Path, SuiteDraft]) -> None:
    files = sorted((demo[0] / "Train_Data").glob("*.jsonl"))
    assert files
    for file in files:
        for line in file.read_text().splitlines():
            pair = json.loads(line)
            (positive,) = pair["positive_messages"]
            images = pair.get("positive_images", [[]])[0]
            assert pair["messages"][0]["role"] == "system"
            assert pair["messages"][1]["content"].count("<image>") == len(pair["images"])
            assert positive[0]["content"].count("<image>") == len(images)
            for path in (*pair["images"], *images):
                assert (demo[0] / path).is_file()
                assert "/train-" in path


def test_tasks_use_no_image_of_the_training_patients(demo: tuple[Path, SuiteDraft]) -> None:
    folder, draft = demo
    for task in draft.tasks:
        assert "train-" not in (folder / task.spec.data_path).read_text()


def test_findings_can_be_seen(demo: tuple[Path, SuiteDraft]) -> None:
    """Fluid at the base is brighter than the air-filled lung of a chest without finding."""
    folder, draft = demo
    task = next(task for task in draft.tasks if task.spec.name == "DemoRadiograph_cls")
    brightness: dict[str, list[float]] = {}
    for record in task.records:
        with Image.open(folder / task.spec.image_root / record.query.images[0]) as image:
            lungs = np.asarray(image)[56:92, 16:96]
        brightness.setdefault(record.candidates[0].text, []).append(float(lungs.mean()))
    assert min(brightness["pleural effusion"]) > max(brightness["no finding"])


def test_a_folder_with_files_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(SuiteInvalid, match="already holds files"):
        build_demo(tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "keep"


def test_the_command_prints_what_it_built(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "24 tasks, 650 queries" in result.output
    assert "Modality" not in result.output
    again = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert again.exit_code == 1
    assert "suite_invalid" in again.output


def flat(paths: object) -> list[str]:
    if isinstance(paths, str):
        return [paths]
    assert isinstance(paths, list)
    return [path for item in paths for path in flat(item)]
