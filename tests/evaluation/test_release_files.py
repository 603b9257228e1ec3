"""Which archives serve which image roots, and where they are unpacked."""

import json
import zipfile
from pathlib import Path

import pytest

from evaluation.errors import SuiteInvalid
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.installation import Installation, install
from evaluation.suites.medheb.lock import LOCK_NAME
from evaluation.suites.medheb.reader import select_tasks
from evaluation.suites.medheb.readiness import Readiness
from evaluation.suites.medheb.release_files import ReleaseFiles
from evaluation.suites.medheb.release_source import FolderRelease
from tests.evaluation import miniature_release
from tests.evaluation.suite_folders import suite_of, task_spec, write_manifest

ROOTS = ("2D_Images/Blood/out/test", "2D_Images/PMC", "3D_Images/CT", "3D_Images/CT/sliced")
SPECS = tuple(task_spec(f"T{number}", image_root=root, data_path=f"{number}.json") for number, root in enumerate(ROOTS))
BLOOD, PMC, CT, SLICED = ROOTS


@pytest.mark.parametrize(
    ("path", "roots", "is_named"),
    [
        ("2D_Images/Blood.zip", (BLOOD,), True),
        ("2D_Images/blood.tar.gz", (BLOOD,), True),
        ("2D_Images/Blood/out.tgz", (BLOOD,), True),
        ("2D_Images/Blood/out/test/deep/x.zip", (BLOOD,), True),
        ("2D_Images/Blood/anything.zip", (BLOOD,), False),
        ("2D_Images/part1.zip", (BLOOD, PMC), False),
        ("2D_Images.tar", (BLOOD, PMC), True),
        ("all.zip", ROOTS, False),
        ("3D_Images/CT.zip", (CT, SLICED), True),
        ("3D_Images/CT/sliced.zip", (CT, SLICED), True),
        ("Train_Data/train.zip", (), False),
        ("2D_Images/PMC/picture.png", (), False),
    ],
)
def test_an_archive_serves_the_roots_that_its_place_and_name_allow(path, roots, is_named):
    files = ReleaseFiles(SPECS, SPECS)
    assert files.roots_of_archive(path) == roots
    if roots:
        assert files.is_named(path) is is_named


def test_a_named_archive_of_another_root_is_not_needed():
    files = ReleaseFiles(SPECS[:1], SPECS)
    found = files.archives(["2D_Images/PMC.zip", "2D_Images/Blood.zip", "2D_Images/x.zip", "2D_Images/PMC/y.zip"])
    assert found == ["2D_Images/Blood.zip", "2D_Images/x.zip"]


class Quiet:
    def __init__(self):
        self.warnings, self.unpacked, self.counted = [], [], []

    def fetching(self, n_files, n_bytes):
        return self.counted.append

    def unpacking(self, archive):
        self.unpacked.append(archive)

    def verified(self, readiness):
        pass

    def warn(self, message):
        self.warnings.append(message)


@pytest.fixture
def release(tmp_path) -> Path:
    """One task with its three images; `drawn` is where they lie until a test packs them."""
    (spec,) = select_tasks(medheb_suite(), ["PMC-VQA"])
    folder = tmp_path / "release"
    records = miniature_release.records_of(tmp_path / "drawn" / spec.image_root, spec)
    (folder / spec.data_path).parent.mkdir(parents=True)
    (folder / spec.data_path).write_text(json.dumps(records))
    (folder / "2D_Images").mkdir()
    return folder


def pack(release, archive, prefix=""):
    path = release / archive
    path.parent.mkdir(parents=True, exist_ok=True)
    files = {
        f"{prefix}{file.name}": file for file in sorted((release.parent / "drawn" / "2D_Images" / "PMC").glob("*.png"))
    }
    miniature_release.write_archive(path, files)
    return path


def installed(release):
    suite, progress = medheb_suite(), Quiet()
    folder = release.parent / "suites"
    order = Installation(
        suite=suite, specs=select_tasks(suite, ["PMC-VQA"]), source=FolderRelease(release), folder=folder
    )
    return install(order, progress).tasks["PMC-VQA"], progress


@pytest.mark.parametrize(
    ("archive", "prefix"),
    [
        ("2D_Images/PMC.zip", "PMC/"),
        ("2D_Images/PMC.zip", ""),
        ("2D_Images/PMC/images.zip", ""),
        ("2D_Images/PMC/images.tar", "./"),
        ("2D_Images/whatever.tar.gz", "PMC/"),
        ("2D_Images/whatever.zip", ""),
        ("whatever.zip", "2D_Images/PMC/"),
        ("2D_Images.zip", "2D_Images/PMC/"),
        ("2D_Images.zip", "PMC/"),
    ],
)
def test_archives_are_unpacked_where_the_records_look(release, archive, prefix):
    pack(release, archive, prefix)
    readiness, progress = installed(release)
    assert (readiness.state, readiness.files_present, progress.warnings) == (Readiness.READY, 3, [])
    assert progress.unpacked == [archive]
    again, second = installed(release)
    assert (again, second.unpacked) == (readiness, [])


def test_an_archive_that_no_record_asks_for_is_left_with_a_word(release):
    pack(release, "2D_Images/PMC.zip", "elsewhere/")
    readiness, progress = installed(release)
    assert readiness.state is Readiness.IMAGES_MISSING
    assert "2D_Images/PMC.zip holds no image that a record names" in progress.warnings[0]


def test_a_bad_archive_stops_no_other(release):
    pack(release, "2D_Images/PMC.zip")
    with zipfile.ZipFile(release / "2D_Images" / "a.zip", "w") as evil:
        evil.writestr("../../../../PMC/0.png", b"x")
    (release / "2D_Images" / "b.tar.gz").write_bytes(b"damaged")
    (release / "2D_Images" / "c.zip.001").write_bytes(b"")
    (release / "2D_Images" / "PMC").mkdir()
    (release / "2D_Images" / "PMC" / "bad.zip").write_bytes(b"PK")
    readiness, progress = installed(release)
    assert readiness.state is Readiness.READY
    assert "c.zip.001 is of a kind that is not unpacked here" in "".join(progress.warnings)
    (release / "2D_Images" / "PMC.zip").unlink()
    for file in (release.parent / "suites" / "2D_Images" / "PMC").glob("*.png"):
        file.unlink()
    (release.parent / "suites" / "2D_Images" / "PMC.zip").unlink()
    readiness, progress = installed(release)
    assert readiness.state is Readiness.IMAGES_MISSING
    said = "\n".join(progress.warnings)
    for name in ("a.zip: the path", "b.tar.gz cannot be unpacked", "bad.zip cannot be unpacked"):
        assert name in said


def test_an_image_that_an_archive_would_change_is_kept_and_named(release):
    pack(release, "2D_Images/PMC.zip")
    (release / "2D_Images" / "PMC").mkdir()
    (release / "2D_Images" / "PMC" / "0.png").write_bytes(
        (release.parent / "drawn" / "2D_Images" / "PMC" / "1.png").read_bytes()
    )
    _, progress = installed(release)
    assert "something else lies at" in progress.warnings[0]
    kept = release.parent / "suites" / "2D_Images" / "PMC" / "0.png"
    assert kept.read_bytes() == (release.parent / "drawn" / "2D_Images" / "PMC" / "1.png").read_bytes()


def test_a_task_file_that_cannot_be_read_is_broken_and_the_lock_says_so(release):
    (spec,) = select_tasks(medheb_suite(), ["PMC-VQA"])
    (release / spec.data_path).write_bytes(b"[{\xff")
    readiness, _ = installed(release)
    assert (readiness.state, readiness.problems[0].record) == (Readiness.BROKEN, None)
    document = json.loads((release.parent / "suites" / LOCK_NAME).read_text())
    assert document["tasks"]["PMC-VQA"]["state"] == "broken"


def test_a_folder_that_holds_another_suite_is_left_alone(release):
    folder = release.parent / "suites"
    folder.mkdir()
    write_manifest(folder, suite_of(task_spec()))
    with pytest.raises(SuiteInvalid, match="holds a suite with"):
        installed(release)


def test_a_source_that_is_no_folder_says_so(tmp_path):
    with pytest.raises(SuiteInvalid, match="is not a folder"):
        FolderRelease(tmp_path / "nowhere")
