"""What the board knows of the suites on a worker: what is ready, and why the rest is not."""

import json
from pathlib import Path

import pytest
from django.test import Client

from evaluation.manifest import write_manifest
from evaluation.suites.medheb.lock import LOCK_NAME, SuiteLock, write_lock
from evaluation.suites.medheb.readiness import survey_suite
from leaderboard.models import Suite, Task
from leaderboard.services.runs import run_create
from tests.evaluation.suite_folders import suite_of, task_spec, text_record, write_image, write_records
from tests.factories import make_revision, make_user
from workers.catalogue import sync_catalogue

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite_folder(tmp_path: Path, settings: object) -> Path:
    """A suite with a ready task, a broken one, one without images and one without a file."""
    settings.SUITES_DIR = tmp_path / "suites"
    folder = settings.SUITES_DIR / "example"
    specs = [task_spec(name, image_root="") for name in ("Ready", "Broken")]
    specs += [
        task_spec("Pictures", parser="image_qa", image_root="images", data_path="2D_Task/p.json"),
        task_spec("Absent", image_root=""),
    ]
    write_records(folder, specs[0], [text_record("a", ["b", "c", "d", "e"])])
    write_records(folder, specs[1], [text_record("a", ["b", "c"]), text_record("secret words", [1])])
    picture = {"qry_inst": "", "qry_text": "", "qry_img_path": "patient7.png", "tgt_text": ["x", "y"]}
    write_records(folder, specs[2], [picture])
    write_manifest(folder, suite_of(*specs))
    return folder


def reasons() -> dict[str, str]:
    return dict(Task.objects.filter(suite__slug="example").values_list("name", "unavailable_reason"))


def installed() -> list[str]:
    return list(Task.objects.filter(suite__slug="example", is_installed=True).values_list("name", flat=True))


def test_each_task_that_is_not_ready_has_its_reason(suite_folder: Path) -> None:
    sync_catalogue()
    assert installed() == ["Ready"]
    ready = Task.objects.get(name="Ready")
    assert (ready.n_queries, ready.chance) == (1, 0.25)
    found = reasons()
    assert found["Ready"] == ""
    assert found["Broken"].startswith("1 of its records cannot be used (record_invalid in record 1).")
    assert found["Pictures"].startswith("0 of its 1 image files are in images.")
    assert found["Absent"].startswith("its file Text_Task/Absent.json is not installed.")


def test_the_task_page_says_what_a_task_awaits_and_nothing_of_its_records(suite_folder: Path, client: Client) -> None:
    sync_catalogue()
    page = client.get("/tasks/example/Broken/").content.decode()
    assert "Awaiting data:" in page
    assert "1 of its records cannot be used" in page
    assert "secret words" not in page
    assert "0 of its 1 image files" in client.get("/tasks/example/Pictures/").content.decode()
    assert "Awaiting data" not in client.get("/tasks/example/Ready/").content.decode()


def test_a_run_takes_what_is_ready(suite_folder: Path) -> None:
    sync_catalogue()
    run = run_create(
        revision=make_revision(), suite=Suite.objects.get(slug="example"), requested_by=make_user(), reason="a test"
    )
    assert [task_run.task.name for task_run in run.task_runs.all()] == ["Ready"]


def test_what_was_mended_is_ready_and_what_the_lock_file_knows_to_be_gone_is_not(suite_folder: Path) -> None:
    sync_catalogue()
    write_image(suite_folder / "images" / "patient7.png", 3)
    sync_catalogue()
    assert installed() == ["Ready", "Pictures"]
    assert reasons()["Pictures"] == ""
    (suite_folder / "Text_Task" / "Ready.json").unlink()
    specs = [task_spec("Ready", image_root="")]
    found = survey_suite(suite_folder, specs, known={})
    write_lock(suite_folder, SuiteLock("example", tasks={readiness.task: readiness for readiness in found}))
    sync_catalogue()
    assert installed() == ["Pictures"]
    assert "is not installed" in reasons()["Ready"]


def test_a_damaged_lock_file_stops_nothing(suite_folder: Path) -> None:
    (suite_folder / LOCK_NAME).write_text(json.dumps({"schema_version": 99}))
    sync_catalogue()
    assert installed() == ["Ready"]


def test_the_release_is_listed_before_anything_of_it_is_installed(suite_folder: Path) -> None:
    sync_catalogue()
    release = Task.objects.filter(suite__slug="medheb")
    assert release.count() == 107
    assert not release.filter(is_installed=True).exists()
    reason = release.get(name="ChestImagenome").unavailable_reason
    assert "https://physionet.org/content/chest-imagenome/1.0.0/" in reason
