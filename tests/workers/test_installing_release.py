"""The release in miniature, installed over real HTTP, looked at, evaluated whole, and taken up again after a break."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.embedders.tiny import write_tiny_clip
from evaluation.hub.connection import HubConnection
from evaluation.hub.errors import RepositoryGated, RevisionMissing
from evaluation.results import read_result
from evaluation.suites.medheb import catalogue
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.installation import Installation, install
from evaluation.suites.medheb.lock import LOCK_NAME, read_lock
from evaluation.suites.medheb.reader import select_tasks
from evaluation.suites.medheb.readiness import Readiness
from evaluation.suites.medheb.release_source import HubRelease
from tests.evaluation import miniature_release
from tests.evaluation.miniature_release import PACKED, RECORDS, RESTRICTED_ROOT, RESTRICTED_TASKS
from tests.processes import BASE_DIR
from tests.workers.cutting_proxy import cutting_proxy
from tests.workers.hub_helpers import RequestLog
from workers.local_hub.server import LocalHub, running_hub

REPOSITORY = "datasets/MEDHEB/MedHEB-Bench"


class Quiet:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.bytes = 0
        self.unpacked: list[str] = []
        self.warnings: list[str] = []

    def fetching(self, n_files, n_bytes):
        return self._count

    def _count(self, count):
        self.bytes += count

    def unpacking(self, archive):
        self.unpacked.append(archive)

    def verified(self, readiness):
        pass

    def warn(self, message):
        self.warnings.append(message)


def command(*words, **environment):
    """`python -m evaluation` in a process of its own, with nothing of this machine's hub settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "evaluation", *map(str, words)],
        cwd=BASE_DIR,
        env={**kept, "OMP_NUM_THREADS": "1", "COLUMNS": "150", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def invoke(*words):
    result = CliRunner(env={"COLUMNS": "150"}).invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def answers_of_serve(model, suite, tasks):
    """What the child of a worker answers to one request, up to the end of it."""
    words = [sys.executable, "-m", "evaluation", "serve", "--model", str(model), "--suite", str(suite)]
    with subprocess.Popen(words, cwd=BASE_DIR, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdin.write(json.dumps({"type": "evaluate", "tasks": tasks}) + "\n")
        child.stdin.flush()
        answers = []
        while not answers or answers[-1]["type"] != "idle":
            answers.append(json.loads(child.stdout.readline()))
        child.stdin.write('{"type": "stop"}\n')
    return answers


def status_of(suites: Path) -> dict:
    document = json.loads(invoke("suites", "status", "medheb", "--json", "--suites-dir", suites))
    return {task["task"]: task for task in document["tasks"]}


def install_here(endpoint, folder, *, names=(), revision=""):
    suite, progress = medheb_suite(), Quiet()
    source = HubRelease(HubConnection(endpoint=endpoint), "MEDHEB/MedHEB-Bench", revision)
    order = Installation(suite=suite, specs=select_tasks(suite, names), source=source, folder=folder)
    return install(order, progress), progress


@pytest.fixture(scope="module")
def release_root(tmp_path_factory) -> Path:
    """A hub's root with the release in it, without the images of one restricted source; they lie in `withheld`."""
    root = tmp_path_factory.mktemp("release")
    release = root / "hub" / REPOSITORY
    miniature_release.write_release(release)
    miniature_release.withhold(release, root / "withheld")
    miniature_release.pack_release(release)
    (release / "Train_Data").mkdir()
    (release / "Train_Data" / "pairs.jsonl").write_text("not for the evaluation")
    (release / "2D_Images" / "unasked.rar").write_bytes(b"Rar!")
    return root


@pytest.fixture(scope="module")
def first(release_root, tmp_path_factory):
    """What `suites install` made of it, in a process of its own."""
    suites = tmp_path_factory.mktemp("suites")
    with running_hub(release_root / "hub") as hub:
        done = command("suites", "install", "medheb", "--endpoint", hub.endpoint, SUITES_DIR=str(suites))
    assert done.returncode == 0, done.stdout + done.stderr
    return suites, done.stdout


@pytest.fixture(scope="module")
def complete(first, release_root, tmp_path_factory):
    """The same, after somebody with access put an archive of the restricted images into their root."""
    suites = tmp_path_factory.mktemp("complete") / "suites"
    shutil.copytree(first[0], suites)
    archive = suites / "medheb" / RESTRICTED_ROOT / "from_the_source.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted((release_root / "withheld").rglob("*.png")):
            packed.write(path, path.relative_to(release_root / "withheld").as_posix())
    with running_hub(release_root / "hub") as hub:
        lock, progress = install_here(hub.endpoint, suites / "medheb")
    return suites, lock, progress


def test_what_can_be_installed_is_ready_and_the_rest_says_what_it_waits_for(first):
    suites, output = first
    assert "of 107 tasks 104 ready, 3 images missing." in output
    assert "2D_Images/unasked.rar is of a kind that is not unpacked here" in output
    for name in RESTRICTED_TASKS:
        (line,) = [line for line in output.splitlines() if line.startswith(f"{name}: ")]
        assert f"image files are in {RESTRICTED_ROOT}." in line
        assert "MIMIC-CXR-LT (credentialed): https://physionet.org/content/mimic-cxr/2.1.0/" in line
    status = status_of(suites)
    assert Counter(task["state"] for task in status.values()) == {"ready": 104, "images_missing": 3}
    missing = status["MIMIC-CXR-LT_cls"]
    assert (missing["files_present"], missing["files_expected"]) == (0, RECORDS)
    assert missing["image_root"] == RESTRICTED_ROOT
    assert missing["sources"][0]["access"] == "credentialed"


def test_only_what_the_tasks_need_arrives(first):
    folder = first[0] / "medheb"
    assert not (folder / "Train_Data").exists()
    assert not (folder / "2D_Images" / "unasked.rar").exists()
    assert [path.name for path in (folder / ".install").iterdir()] == ["lock"]


def test_every_byte_is_that_of_the_release(first, release_root, tmp_path):
    miniature_release.write_release(tmp_path)
    compared = [path for path in tmp_path.rglob("*") if path.is_file() and RESTRICTED_ROOT not in str(path)]
    assert len(compared) > 400
    for path in compared:
        assert (first[0] / "medheb" / path.relative_to(tmp_path)).read_bytes() == path.read_bytes()


def test_the_lock_names_the_revision_and_the_hash_of_every_task(first, release_root):
    lock = read_lock(first[0] / "medheb", suite="medheb")
    with running_hub(release_root / "hub") as hub:
        commit = HubRelease(HubConnection(endpoint=hub.endpoint), "MEDHEB/MedHEB-Bench").revision
    assert (lock.source, lock.revision) == ("MEDHEB/MedHEB-Bench", commit)
    for spec in medheb_suite().tasks:
        content = (first[0] / "medheb" / spec.data_path).read_bytes()
        assert lock.tasks[spec.name].file.sha256 == hashlib.sha256(content).hexdigest()
        assert (lock.tasks[spec.name].data_sha256 != "") == (spec.name not in RESTRICTED_TASKS)


def test_a_restricted_source_is_ready_once_its_images_lie_in_its_root(complete):
    suites, lock, progress = complete
    assert {readiness.state for readiness in lock.tasks.values()} == {Readiness.READY}
    assert progress.unpacked == [f"{RESTRICTED_ROOT}/from_the_source.zip"]
    assert progress.bytes == 0
    assert "of 107 tasks 107 ready." in invoke("suites", "status", "medheb", "--suites-dir", suites)


def test_all_107_tasks_are_evaluated_and_grouped_as_the_catalogue_says(complete, tmp_path):
    suites, lock, _ = complete
    out = tmp_path / "chance.json"
    invoke("run", "--model", "chance", "--suite", suites / "medheb", "--out", out)
    result = read_result(out)
    assert len(result.tasks) == 107
    assert not result.failures
    assert {task.task: task.chance for task in result.tasks} == {
        name: pytest.approx(readiness.chance) for name, readiness in lock.tasks.items()
    }
    with (Path(catalogue.__file__).parent / "tasks.tsv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    for scope, column in (("family", "family"), ("domain", "domain"), ("split", "split")):
        counts = sorted(
            value.n_tasks for value in result.aggregates if value.scope == scope and value.metric == "hit@1"
        )
        assert counts == sorted(Counter(row[column] for row in rows).values())
    assert all(value.n_tasks == value.n_expected for value in result.aggregates)


def test_a_model_with_two_towers_is_evaluated_on_all_107_tasks(complete, tmp_path):
    write_tiny_clip(tmp_path / "clip", 7)
    out = tmp_path / "clip.json"
    words = ("run", "--model", tmp_path / "clip", "--suite", complete[0] / "medheb", "--out", out)
    done = command(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (len(read_result(out).tasks), read_result(out).failures) == (107, ())


def test_a_run_evaluates_what_is_ready_and_says_how_much_that_is(first, tmp_path):
    out = tmp_path / "result.json"
    output = invoke("run", "--model", "chance", "--suite", first[0] / "medheb", "--out", out)
    assert "104 of 107 tasks are evaluated" in output
    assert "MIMIC-CXR-LT_t2i is left out: 0 of its 3 image files are in 2D_Images/MIMIC-CXR-T." in output
    overall = read_result(out).aggregates[0]
    assert (overall.n_tasks, overall.n_expected) == (104, 107)


def test_serving_goes_on_after_a_task_that_broke_since(complete, tmp_path):
    folder = tmp_path / "medheb"
    shutil.copytree(complete[0] / "medheb", folder)
    write_tiny_clip(tmp_path / "clip", 7)
    specs = {spec.name: spec for spec in medheb_suite().tasks}
    broken, image = specs["PubMedQA"], folder / specs["Path-VQA"].image_root / "1.png"
    (folder / broken.data_path).write_text('[{"qry_inst": 3, "qry_text": "why"}]')
    image.write_bytes(image.read_bytes()[:60])
    answers = answers_of_serve(tmp_path / "clip", folder, ["PubMedQA", "Path-VQA", "MedicalQA"])
    failed = {answer["task"]: answer["message"] for answer in answers if answer["type"] == "task_failed"}
    assert "record 0: qry_inst is int" in failed["PubMedQA"]
    assert f"{image} cannot be decoded" in failed["Path-VQA"]
    assert [answer["result"]["task"] for answer in answers if answer["type"] == "task_result"] == ["MedicalQA"]
    assert answers[-1]["type"] == "idle"


def test_a_subset_fetches_the_archives_of_its_own_roots_only(hub_root, release_root, tmp_path):
    shutil.copytree(release_root / "hub", hub_root, dirs_exist_ok=True)
    with running_hub(hub_root) as hub:
        lock, _ = install_here(hub.endpoint, tmp_path / "medheb", names=["BloodMNIST_cls", "BloodMNIST_t2i"])
    assert set(lock.tasks) == {"BloodMNIST_cls", "BloodMNIST_t2i"}
    assert {readiness.state for readiness in lock.tasks.values()} == {Readiness.READY}
    arrived = {path.relative_to(tmp_path / "medheb").as_posix() for path in (tmp_path / "medheb").rglob("*.*")}
    assert arrived & set(PACKED) == {"2D_Images/BloodMNIST.zip"}


@pytest.fixture
def heavy(hub_root):
    """A release with one task whose images are in an archive of some megabytes that no compression makes smaller."""
    release = hub_root / REPOSITORY
    spec = next(spec for spec in medheb_suite().tasks if spec.name == "BloodMNIST_cls")
    path = release / spec.data_path
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(miniature_release.records_of(release / spec.image_root, spec)))
    archive = release / "2D_Images" / "BloodMNIST.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for image in sorted((release / spec.image_root).glob("*.png")):
            packed.write(image, image.relative_to(release / "2D_Images").as_posix())
            image.unlink()
        packed.writestr("BloodMNIST/padding.bin", os.urandom(5_000_000))
    return archive


class Interrupted(Quiet):
    def _count(self, count):
        super()._count(count)
        if self.bytes > 2_500_000:
            raise KeyboardInterrupt


def test_an_interrupted_download_goes_on_where_it_ended(hub: LocalHub, heavy, tmp_path, request_log: RequestLog):
    suite = medheb_suite()
    source = HubRelease(HubConnection(endpoint=hub.endpoint), "MEDHEB/MedHEB-Bench")
    order = Installation(
        suite=suite, specs=select_tasks(suite, ["BloodMNIST_cls"]), source=source, folder=tmp_path / "medheb"
    )
    with pytest.raises(KeyboardInterrupt):
        install(order, Interrupted())
    (partial,) = (tmp_path / "medheb" / ".install").glob("*.partial")
    have = partial.stat().st_size
    assert 2_000_000 < have < heavy.stat().st_size
    request_log.requests.clear()
    lock = install(order, Quiet())
    (rest,) = request_log.gets("BloodMNIST.zip")
    assert (rest.status, rest.sent) == (206, heavy.stat().st_size - have)
    assert lock.tasks["BloodMNIST_cls"].state is Readiness.READY


def test_a_connection_that_breaks_again_and_again_is_taken_up_each_time(hub: LocalHub, heavy, tmp_path, request_log):
    with cutting_proxy(hub.server_address[1], after=1_600_000) as endpoint:
        lock, _ = install_here(endpoint, tmp_path / "medheb", names=["BloodMNIST_cls"])
    assert lock.tasks["BloodMNIST_cls"].state is Readiness.READY
    assert len(request_log.gets("BloodMNIST.zip")) > 2
    assert {request.status for request in request_log.gets("BloodMNIST.zip")} == {200, 206}


def test_a_file_that_is_not_what_the_hub_lists_is_refused(hub: LocalHub, heavy, tmp_path):
    spec = medheb_suite().tasks[3]
    assert spec.name == "BloodMNIST_cls"
    source = HubRelease(HubConnection(endpoint=hub.endpoint), "MEDHEB/MedHEB-Bench")
    partial = tmp_path / "medheb" / ".install"
    partial.mkdir(parents=True)
    file = source.files["2D_Images/BloodMNIST.zip"]
    name = f"{hashlib.sha256(file.path.encode()).hexdigest()[:16]}-{file.sha256}.partial"
    (partial / name).write_bytes(b"\0" * 100)
    order = Installation(suite=medheb_suite(), specs=(spec,), source=source, folder=tmp_path / "medheb")
    with pytest.raises(Exception, match=r"BloodMNIST\.zip .* arrived damaged"):
        install(order, Quiet())
    assert not (partial / name).exists()
    assert install(order, Quiet()).tasks["BloodMNIST_cls"].state is Readiness.READY


def test_a_new_revision_replaces_task_files(hub: LocalHub, heavy, tmp_path):
    older, _ = install_here(hub.endpoint, tmp_path / "medheb", names=["BloodMNIST_cls"])
    task_file = hub.datasets.root / "MEDHEB/MedHEB-Bench" / medheb_suite().tasks[3].data_path
    task_file.write_text(json.dumps(json.loads(task_file.read_text())[:2]))
    newer, _ = install_here(hub.endpoint, tmp_path / "medheb", names=["BloodMNIST_cls"])
    assert older.revision != newer.revision
    assert [lock.tasks["BloodMNIST_cls"].n_queries for lock in (older, newer)] == [RECORDS, 2]


def test_an_unknown_revision_and_a_gated_repository_say_so(hub: LocalHub, heavy, tmp_path):
    with pytest.raises(RevisionMissing):
        install_here(hub.endpoint, tmp_path / "medheb", revision="f" * 40)
    (heavy.parent.parent / ".hub.json").write_text('{"gated": "manual", "readers": ["a-token"]}')
    with pytest.raises(RepositoryGated, match="give the token of an account"):
        install_here(hub.endpoint, tmp_path / "medheb", names=["BloodMNIST_cls"])
    token = tmp_path / "token"
    token.write_text("a-token\n")
    words = ("--endpoint", hub.endpoint, "--token-file", token, "--suites-dir", tmp_path, "--tasks", "BloodMNIST_cls")
    assert "of 1 tasks 1 ready." in invoke("suites", "install", "medheb", *words)


def test_a_folder_is_a_source_too_and_its_links_stay_inside(release_root, tmp_path):
    source = tmp_path / "copy"
    shutil.copytree(release_root / "hub" / REPOSITORY, source)
    words = ("suites", "install", "medheb", "--source", source, "--suites-dir", tmp_path / "suites")
    assert "of 107 tasks 104 ready, 3 images missing." in invoke(*words)
    lock = json.loads((tmp_path / "suites" / "medheb" / LOCK_NAME).read_text())
    assert (lock["source"], lock["revision"]) == ("folder", "")
    outside = tmp_path / "outside.png"
    outside.write_bytes((source / "2D_Images/VQA-RAD/test/0.png").read_bytes())
    (source / "2D_Images/VQA-RAD/test/0.png").unlink()
    (source / "2D_Images/VQA-RAD/test/0.png").symlink_to(outside)
    with pytest.raises(Exception, match="leads out of the folder through a link"):
        invoke("suites", "install", "medheb", "--source", source, "--suites-dir", tmp_path / "others")
