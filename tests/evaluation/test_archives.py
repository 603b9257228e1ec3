"""Archives that are unpacked, and archives that are refused before anything of them is written."""

import gzip
import io
import os
import random
import stat
import struct
import tarfile
import zipfile
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.errors import ArchiveInvalid, ArchiveUnsafe
from evaluation.suites.archive_members import ArchiveLimits, archive_suffix, is_foreign_archive, list_archive
from evaluation.suites.unpacking import unpack

LIMITS = ArchiveLimits()
FILES = {"a/1.png": b"one" * 400, "a/2.png": b"", "b.png": os.urandom(3000)}
SUFFIXES = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"]


def write_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def write_tar(path, members):
    """Members are (TarInfo, content) pairs, or name -> content."""
    pairs = (
        members if isinstance(members, list) else [(tar_info(name, len(data)), data) for name, data in members.items()]
    )
    kinds = {".gz": "w:gz", ".tgz": "w:gz", ".bz2": "w:bz2", ".tbz2": "w:bz2", ".xz": "w:xz", ".txz": "w:xz"}
    with tarfile.open(path, kinds.get(path.suffix, "w")) as archive:
        for info, data in pairs:
            archive.addfile(info, io.BytesIO(data))
    return path


def tar_info(name, size=0, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    return info


def write(path, files):
    return write_zip(path, files) if path.suffix == ".zip" else write_tar(path, files)


def content_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(path, target, kind=ArchiveUnsafe, limits=LIMITS, said=None):
    """The archive is refused, its name is said, and nothing of it is there."""
    with pytest.raises(kind, match=said) as caught:
        unpack(path, target, limits)
    assert str(path) in caught.value.message
    assert not target.exists() or not content_of(target)


def refusal_of(archive, target, *, otherwise):
    """Why an archive is refused; any error but ours fails the test."""
    try:
        unpack(archive, target, LIMITS)
    except ArchiveInvalid as error:
        return error.message
    return otherwise


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind_is_unpacked_and_a_second_time_changes_nothing(tmp_path, suffix):
    archive = write(tmp_path / f"images{suffix}", FILES)
    assert [unpack(archive, tmp_path / "out", LIMITS) for _ in range(2)] == [3, 0]
    assert content_of(tmp_path / "out") == FILES
    assert {path.stat().st_mode & 0o111 for path in (tmp_path / "out").rglob("*.png")} == {0}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../up.png", "a/../../up.png", "a\\..\\..\\up.png", "C:/up.png", "..", "a/.."],
)
def test_paths_that_lead_out_are_refused(tmp_path, suffix, name):
    refused(write(tmp_path / f"images{suffix}", {"good.png": b"x", name: b"x"}), tmp_path / "out", said="leads out")


def test_a_zero_byte_in_a_name_is_refused(tmp_path):
    archive = write_zip(tmp_path / "images.zip", {"harmlessX.png": b"x"})
    archive.write_bytes(archive.read_bytes().replace(b"harmlessX", b"harmless\0"))
    refused(archive, tmp_path / "out", said="leads out")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path, kind):
    members = [(tar_info("good.png", 1), b"x"), (tar_info("bad", kind=kind, link="good.png"), b"")]
    refused(write_tar(tmp_path / "images.tar", members), tmp_path / "out", said="'bad' is neither a file nor a folder")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_in_a_zip_are_refused(tmp_path, kind):
    archive = tmp_path / "images.zip"
    info = zipfile.ZipInfo("bad")
    info.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("good.png", "x")
        packed.writestr(info, "/etc/passwd")
    refused(archive, tmp_path / "out", said="'bad' is neither a file nor a folder")


def test_a_sparse_file_is_refused(tmp_path):
    info = tar_info("sparse.png", 0)
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 50)}
    archive = tmp_path / "images.tar"
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as packed:
        info.size = 512
        packed.addfile(info, io.BytesIO(b"1\n0\n0\n".ljust(512, b"\0")))
    refused(archive, tmp_path / "out")


@pytest.mark.parametrize("suffix", [".zip", ".tar"])
def test_a_name_that_occurs_twice_is_refused(tmp_path, suffix):
    archive = write(tmp_path / f"images{suffix}", {"a.png": b"1", "./a.png": b"2"})
    refused(archive, tmp_path / "out", said="in it twice")


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz", ".tar.xz"])
def test_a_bomb_is_refused_by_the_size_that_it_admits(tmp_path, suffix):
    archive = write(tmp_path / f"bomb{suffix}", {"zeros.png": bytes(20_000_000)})
    assert archive.stat().st_size < 40_000
    refused(archive, tmp_path / "out", limits=ArchiveLimits(free_bytes=1_000_000), said="its size does not explain")


def test_a_bomb_of_many_files_is_refused(tmp_path):
    archive = write_zip(tmp_path / "bomb.zip", {f"{number}.png": b"" for number in range(101)})
    refused(archive, tmp_path / "out", limits=ArchiveLimits(files=100), said="more than 100 files")
    assert len(list_archive(archive, ArchiveLimits(files=101))) == 101


def test_a_bomb_that_lies_about_its_size_is_refused_and_leaves_no_file(tmp_path):
    archive = write_zip(tmp_path / "bomb.zip", {"zeros.png": bytes(5_000_000)})
    content = bytearray(archive.read_bytes())
    size = struct.pack("<L", 5_000_000)
    while (place := content.find(size)) >= 0:
        content[place : place + 4] = struct.pack("<L", 10)
    archive.write_bytes(content)
    refused(archive, tmp_path / "out", ArchiveInvalid)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_header_that_asks_for_all_memory_is_refused(tmp_path):
    header = tar_info("x", 1 << 40, kind=tarfile.XHDTYPE).tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "bomb.tar.gz").write_bytes(gzip.compress(header + bytes(10_240)))
    refused(tmp_path / "bomb.tar.gz", tmp_path / "out", said="a header in it is larger")


def test_a_table_of_contents_that_asks_for_all_memory_is_refused(tmp_path):
    archive = write_zip(tmp_path / "bomb.zip", {"a.png": b"x"})
    content = bytearray(archive.read_bytes())
    struct.pack_into("<L", content, content.rfind(b"PK\x05\x06") + 12, 3 << 30)
    archive.write_bytes(content)
    refused(archive, tmp_path / "out", said="its table of contents has 3,221,225,472 bytes")


def test_more_files_than_a_short_table_can_number_are_read(tmp_path):
    archive = write_zip(tmp_path / "many.zip", {f"{number}.png": b"" for number in range(66_000)})
    assert b"PK\x06\x06" in archive.read_bytes()
    assert len(list_archive(archive, LIMITS)) == 66_000


def test_an_encrypted_zip_is_refused(tmp_path):
    archive = write_zip(tmp_path / "images.zip", {"a.png": b"x"})
    content = bytearray(archive.read_bytes())
    content[6] |= 1
    content[content.find(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(content)
    refused(archive, tmp_path / "out", ArchiveInvalid, said="cannot be unpacked")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("share", [0.0, 0.05, 0.4, 0.7])
def test_an_archive_that_is_cut_short_is_refused(tmp_path, suffix, share):
    archive = write(tmp_path / f"images{suffix}", FILES | {"c.png": os.urandom(20_000)})
    archive.write_bytes(archive.read_bytes()[: int(archive.stat().st_size * share)])
    with pytest.raises(ArchiveInvalid, match="cannot be unpacked"):
        unpack(archive, tmp_path / "out", LIMITS)


def test_a_tar_that_is_cut_between_two_members_is_refused(tmp_path):
    archive = write_tar(tmp_path / "images.tar", {"a.png": b"x" * 512, "b.png": b"y" * 512})
    archive.write_bytes(archive.read_bytes()[: 2 * 512])
    refused(archive, tmp_path / "out", ArchiveInvalid, said="the end is missing")


def test_what_lies_there_is_never_overwritten(tmp_path):
    archive = write_zip(tmp_path / "images.zip", {"a.png": b"new"})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.png").write_bytes(b"old")
    with pytest.raises(ArchiveInvalid, match=r"something else lies at .*a\.png"):
        unpack(archive, tmp_path / "out", LIMITS)
    assert content_of(tmp_path / "out") == {"a.png": b"old"}


def test_a_link_that_lies_there_leads_nothing_out(tmp_path):
    archive = write_zip(tmp_path / "images.zip", {"link/a.png": b"x"})
    (tmp_path / "out").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "out" / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(ArchiveUnsafe, match="through a link"):
        unpack(archive, tmp_path / "out", LIMITS)
    assert content_of(tmp_path / "outside") == {}


def test_a_file_in_the_way_of_a_folder_is_named(tmp_path):
    archive = write_zip(tmp_path / "images.zip", {"a/1.png": b"x"})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_bytes(b"a file")
    with pytest.raises(ArchiveInvalid, match="something else lies at"):
        unpack(archive, tmp_path / "out", LIMITS)


def test_what_macos_adds_is_passed_over(tmp_path):
    archive = write_zip(tmp_path / "images.zip", {"a.png": b"x", "__MACOSX/._a.png": b"y", ".DS_Store": b"z"})
    unpack(archive, tmp_path / "out", LIMITS)
    assert content_of(tmp_path / "out") == {"a.png": b"x"}


@pytest.mark.parametrize(
    ("name", "suffix", "foreign"),
    [
        ("images.ZIP", ".zip", False),
        ("images.tar.gz", ".tar.gz", False),
        ("volume.nii.gz", "", False),
        ("IM.001", "", False),
        ("images.zip.001", "", True),
        ("images.tar.gz.part-aa", "", True),
        ("images.tar.zst", "", True),
        ("images.rar", "", True),
        ("a.png", "", False),
    ],
)
def test_archives_are_told_by_their_names(name, suffix, foreign):
    assert (archive_suffix(name), is_foreign_archive(name)) == (suffix, foreign)


NAMES = st.text(alphabet="ab./\\\0:é \ud800", min_size=1, max_size=12)
MEMBERS = st.lists(
    st.tuples(NAMES, st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE]), st.binary(max_size=30)),
    max_size=5,
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(members=MEMBERS, number=st.integers(0, 1 << 60))
def test_whatever_a_tar_holds_nothing_lands_outside(tmp_path, members, number):
    folder = tmp_path / f"{number}-{zlib.crc32(repr(members).encode())}"
    (folder / "deep" / "er").mkdir(parents=True, exist_ok=True)
    archive, target = folder / "images.tar", folder / "deep" / "er" / "out"
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as packed:
        for name, kind, data in members:
            body = data if kind == tarfile.REGTYPE else b""
            try:
                packed.addfile(tar_info(name, len(body), kind, link="../x"), io.BytesIO(body))
            except UnicodeEncodeError:
                return
    before = {path for path in folder.rglob("*") if not path.is_relative_to(target)}
    assert str(archive) in refusal_of(archive, target, otherwise=str(archive))
    after = {path for path in folder.rglob("*") if not path.is_relative_to(target)}
    assert after == before
    assert not any(path.is_symlink() for path in folder.rglob("*"))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(suffix=st.sampled_from([".zip", ".tar", ".tar.gz"]), seed=st.integers(0, 10**6), flips=st.integers(1, 4))
def test_a_damaged_archive_is_refused_or_read_never_worse(tmp_path, suffix, seed, flips):
    folder = tmp_path / f"{suffix}-{seed}-{flips}"
    folder.mkdir(exist_ok=True)
    archive = write(folder / f"images{suffix}", FILES)
    content = bytearray(archive.read_bytes())
    generator = random.Random(seed)
    for _ in range(flips):
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    archive.write_bytes(content)
    assert str(archive) in refusal_of(archive, folder / "out", otherwise=str(archive))
