"""The local hub, asked by the real `huggingface_hub` over real HTTP, and by raw requests where that is not enough."""

import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.workers.hub_helpers import RequestLog, clip_files, weights, write_repository
from workers.local_hub.server import LocalHub, _parse_range


def git_blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@pytest.fixture
def api(hub: LocalHub) -> HfApi:
    return HfApi(endpoint=hub.endpoint, token=False)


@pytest.fixture
def raw(hub: LocalHub) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(*hub.server_address, timeout=10)
    yield connection
    connection.close()


def ask(connection: http.client.HTTPConnection, path: str, method: str = "GET", **headers: str):
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    return response, response.read()


def test_model_info_tells_commit_files_card_and_parameters(hub_root: Path, api: HfApi) -> None:
    files = clip_files()
    write_repository(hub_root, "demo/clip", files)
    info = api.model_info("demo/clip", files_metadata=True)
    assert len(info.sha) == 40
    assert int(info.sha, 16) > 0
    assert {sibling.rfilename: sibling.size for sibling in info.siblings} == {
        path: len(content) for path, content in files.items()
    }
    by_name = {sibling.rfilename: sibling for sibling in info.siblings}
    assert by_name["config.json"].blob_id == git_blob_id(files["config.json"])
    assert by_name["config.json"].lfs is None
    assert by_name["model.safetensors"].lfs.sha256 == hashlib.sha256(files["model.safetensors"]).hexdigest()
    assert info.card_data.license == "apache-2.0"
    assert info.tags == ["test", "license:apache-2.0"]
    assert info.safetensors.parameters == {"F32": 3 * 4 + 5}
    assert info.config == {"model_type": "clip", "architectures": ["CLIPModel"]}
    assert info.gated is False
    assert info.private is False


def test_model_info_without_blobs_has_names_only_and_expand_selects(hub_root: Path, api: HfApi) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    assert api.model_info("demo/clip").siblings[0].size is None
    expanded = api.model_info("demo/clip", expand=["safetensors", "gated"])
    assert expanded.safetensors.total == 17
    assert expanded.sha is None


@pytest.mark.parametrize("card", [b"no front matter", b"---\n- a list\n---\n", b"---\nkey: [open\n---\n"])
def test_an_unreadable_card_config_or_header_is_left_out(hub_root: Path, api: HfApi, card: bytes) -> None:
    changed = {"README.md": card, "config.json": b"{broken", "model.safetensors": b"\xff" * 20}
    write_repository(hub_root, "demo/broken", clip_files(changed))
    info = api.model_info("demo/broken")
    assert info.card_data is None
    assert info.config == {}
    assert info.safetensors is None


def test_commit_depends_on_content_alone(hub_root: Path, tmp_path: Path, api: HfApi) -> None:
    write_repository(hub_root, "demo/one", clip_files())
    write_repository(hub_root, "demo/two", dict(reversed(clip_files().items())), gated="manual")
    commit = api.model_info("demo/one").sha
    assert api.model_info("demo/two").sha == commit
    (hub_root / "demo/one/config.json").write_text("{}")
    assert api.model_info("demo/one").sha != commit
    (hub_root / "demo/two/config.json").rename(hub_root / "demo/two/other.json")
    assert api.model_info("demo/two").sha != commit


def test_a_change_that_keeps_the_size_changes_the_commit(hub_root: Path, api: HfApi) -> None:
    folder = write_repository(hub_root, "demo/clip", clip_files({"config.json": b"aaaa"}))
    os.utime(folder / "config.json", ns=(1, 1))
    before = api.model_info("demo/clip").sha
    (folder / "config.json").write_bytes(b"bbbb")
    assert api.model_info("demo/clip").sha != before


def test_revision_is_main_a_commit_or_a_kept_older_commit(hub_root: Path, api: HfApi, tmp_path: Path) -> None:
    older = "0123456789" * 4
    write_repository(hub_root, "demo/clip", clip_files() | {f".revisions/{older}/config.json": b'{"old": 1}'})
    commit = api.model_info("demo/clip", revision="main").sha
    assert api.model_info("demo/clip", revision=commit).sha == commit
    assert api.model_info("demo/clip", revision=older).sha == older
    path = hf_hub_download("demo/clip", "config.json", revision=older, endpoint=api.endpoint, token=False)
    assert Path(path).read_bytes() == b'{"old": 1}'
    assert not [name for name in api.list_repo_files("demo/clip") if name.startswith(".")]
    for unknown in ("no-such-branch", "f" * 40, "refs/pr/1"):
        with pytest.raises(RevisionNotFoundError):
            api.model_info("demo/clip", revision=unknown)


def test_tree_lists_folders_recursively_page_by_page(hub_root: Path, api: HfApi, request_log: RequestLog) -> None:
    many = {f"shards/part-{number:04}.json": b"{}" for number in range(1005)}
    write_repository(hub_root, "demo/many", clip_files() | many)
    listed = list(api.list_repo_tree("demo/many", recursive=True))
    assert sorted(entry.path for entry in listed) == sorted([*clip_files(), *many, "shards"])
    assert len([request for request in request_log.requests if "/tree/" in request.path]) == 2
    top = [entry.path for entry in api.list_repo_tree("demo/many")]
    assert sorted(top) == sorted([*clip_files(), "shards"])
    below = [entry.path for entry in api.list_repo_tree("demo/many", "shards")]
    assert below == sorted(many)
    with pytest.raises(EntryNotFoundError):
        list(api.list_repo_tree("demo/many", "shard"))


def test_paths_info_names_files_and_folders_and_leaves_out_others(hub_root: Path, api: HfApi) -> None:
    write_repository(hub_root, "demo/clip", clip_files() | {"1_Pooling/config.json": b"{}"})
    found = api.get_paths_info("demo/clip", ["model.safetensors", "1_Pooling", "absent.txt"])
    assert [entry.path for entry in found] == ["model.safetensors", "1_Pooling"]
    assert found[0].size == len(weights())
    assert found[0].lfs.sha256 == hashlib.sha256(weights()).hexdigest()


def test_snapshot_has_equal_bytes_and_a_second_one_fetches_nothing(
    hub_root: Path, hub: LocalHub, request_log: RequestLog
) -> None:
    files = clip_files({"model.safetensors": weights(rows=700, columns=1000), "empty.txt": b""})
    files |= {"1_Pooling/config.json": b'{"deep": true}'}
    write_repository(hub_root, "demo/clip", files)
    folder = Path(snapshot_download("demo/clip", endpoint=hub.endpoint, token=False))
    assert {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    } == files
    assert len(request_log.gets("model.safetensors")) == 1
    snapshot_download("demo/clip", endpoint=hub.endpoint, token=False)
    snapshot_download("demo/clip", revision=folder.name, endpoint=hub.endpoint, token=False)
    assert len(request_log.gets("model.safetensors")) == 1


def test_a_changed_repository_is_fetched_file_by_file(hub_root: Path, hub: LocalHub, request_log: RequestLog) -> None:
    folder = write_repository(hub_root, "demo/clip", clip_files())
    snapshot_download("demo/clip", endpoint=hub.endpoint, token=False)
    (folder / "config.json").write_text('{"changed": 1}')
    second = Path(snapshot_download("demo/clip", endpoint=hub.endpoint, token=False))
    assert json.loads((second / "config.json").read_text()) == {"changed": 1}
    assert len(request_log.gets("/config.json")) == 2
    assert len(request_log.gets("model.safetensors")) == 1


def test_parameters_are_read_from_a_range_of_the_weights(hub_root: Path, api: HfApi, request_log: RequestLog) -> None:
    content = weights(rows=1000, columns=1000)
    write_repository(hub_root, "demo/clip", clip_files({"model.safetensors": content}))
    metadata = api.get_safetensors_metadata("demo/clip")
    assert metadata.files_metadata["model.safetensors"].parameter_count == {"F32": 1_000_005}
    (request,) = request_log.gets("model.safetensors")
    assert (request.status, request.sent) == (206, 100_001)


def test_missing_repository_revision_and_file_have_their_own_errors(hub_root: Path, hub: LocalHub, api: HfApi) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    for repo_id in ("demo/none", "nobody/clip", "clip"):
        with pytest.raises((RepositoryNotFoundError, HfHubHTTPError)) as caught:
            api.model_info(repo_id)
        assert caught.value.response.status_code == 404
    with pytest.raises(RepositoryNotFoundError):
        api.model_info("demo/none")
    with pytest.raises(RevisionNotFoundError):
        hf_hub_download("demo/clip", "config.json", revision="v9", endpoint=hub.endpoint, token=False)
    with pytest.raises(EntryNotFoundError) as caught:
        hf_hub_download("demo/clip", "absent.json", endpoint=hub.endpoint, token=False)
    assert caught.value.response.headers["X-Repo-Commit"] == api.model_info("demo/clip").sha


@pytest.mark.parametrize(("token", "status"), [(None, 401), ("stranger", 403)])
def test_a_gated_repository_shows_its_files_but_gives_none(
    hub_root: Path, hub: LocalHub, token: str | None, status: int
) -> None:
    write_repository(hub_root, "demo/gated", clip_files(), gated="manual", readers=["reader"])
    info = HfApi(endpoint=hub.endpoint, token=token or False).model_info("demo/gated", files_metadata=True)
    assert info.gated == "manual"
    with pytest.raises(GatedRepoError) as caught:
        hf_hub_download("demo/gated", "config.json", endpoint=hub.endpoint, token=token or False)
    assert caught.value.response.status_code == status
    with pytest.raises(GatedRepoError):
        snapshot_download("demo/gated", endpoint=hub.endpoint, token=token or False)


def test_a_reader_gets_gated_and_private_repositories(hub_root: Path, hub: LocalHub) -> None:
    write_repository(hub_root, "demo/gated", clip_files(), gated="auto", readers=["reader"])
    write_repository(hub_root, "demo/private", clip_files(), private=True, readers=["reader"])
    for repo_id in ("demo/gated", "demo/private"):
        folder = Path(snapshot_download(repo_id, endpoint=hub.endpoint, token="reader"))
        assert (folder / "model.safetensors").read_bytes() == weights()


@pytest.mark.parametrize(("token", "status"), [(None, 401), ("stranger", 404)])
def test_a_private_repository_is_hidden(hub_root: Path, hub: LocalHub, token: str | None, status: int) -> None:
    write_repository(hub_root, "demo/private", clip_files(), private=True, readers=["reader"])
    write_repository(hub_root, "demo/public", clip_files())
    api = HfApi(endpoint=hub.endpoint, token=token or False)
    with pytest.raises(RepositoryNotFoundError) as caught:
        api.model_info("demo/private")
    assert caught.value.response.status_code == status
    assert not isinstance(caught.value, GatedRepoError)
    assert [model.id for model in api.list_models()] == ["demo/public"]


@pytest.mark.parametrize(
    "settings", ["[]", "{", '{"gated": true}', '{"gate": "manual"}', '{"private": "no"}', '{"readers": "x"}']
)
def test_settings_that_cannot_be_read_close_the_repository(hub_root: Path, api: HfApi, settings: str) -> None:
    folder = write_repository(hub_root, "demo/clip", clip_files())
    (folder / ".hub.json").write_text(settings)
    with pytest.raises(HfHubHTTPError, match=r"\.hub\.json") as caught:
        api.model_info("demo/clip")
    assert caught.value.response.status_code == 500


@pytest.mark.parametrize(
    "path",
    [
        "/demo/clip/resolve/main/.hub.json",
        "/demo/clip/resolve/main/../.hub.json",
        "/demo/clip/resolve/main/../../../secret.txt",
        "/demo/clip/resolve/main/..%2f..%2f..%2fsecret.txt",
        "/demo/clip/resolve/main/%2e%2e/%2e%2e/%2e%2e/secret.txt",
        "/demo/clip/resolve/main//etc/hostname",
        "/demo/clip/resolve/main/%2Fetc%2Fhostname",
        "/demo/clip/resolve/..%2f..%2fsecret.txt/x",
        "/demo/clip/resolve/main/sub/.hub.json",
        "/../clip/resolve/main/secret.txt",
        "/demo/..%2f..%2f/resolve/main/secret.txt",
        "/api/models/../hub-root",
        "/api/models/demo/..",
        "/api/models/demo/clip/tree/main/..",
        "/secret.txt",
        "/",
    ],
)
def test_nothing_outside_a_repository_is_served(hub_root: Path, raw: http.client.HTTPConnection, path: str) -> None:
    write_repository(hub_root, "demo/clip", clip_files() | {"sub/.hub.json": b"classified"}, readers=["classified"])
    (hub_root.parent / "secret.txt").write_text("classified")
    (hub_root / "secret.txt").write_text("classified")
    response, content = ask(raw, path)
    assert response.status == 404
    assert b"classified" not in content


def test_linked_folders_are_not_entered(hub_root: Path, api: HfApi) -> None:
    outside = hub_root.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("a secret")
    folder = write_repository(hub_root, "demo/clip", clip_files())
    (folder / "link").symlink_to(outside)
    assert "link/secret.txt" not in api.list_repo_files("demo/clip")


@pytest.mark.parametrize(
    ("header", "status", "expected", "content_range"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=-99", 200, b"0123456789", None),
        ("bytes=4-4000", 206, b"456789", "bytes 4-9/10"),
        ("bytes=0-9", 200, b"0123456789", None),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=5-4", 416, None, "bytes */10"),
    ],
)
def test_byte_ranges(
    hub_root: Path, raw: http.client.HTTPConnection, *, header: str, status: int, expected: bytes, content_range: str
) -> None:
    write_repository(hub_root, "demo/digits", {"digits.txt": b"0123456789"})
    response, content = ask(raw, "/demo/digits/resolve/main/digits.txt", Range=header)
    assert response.status == status
    assert response.headers["Content-Range"] == content_range
    assert response.headers["Accept-Ranges"] == "bytes"
    if expected is not None:
        assert content == expected


@given(size=st.integers(0, 50), first=st.integers(0, 60), last=st.integers(0, 60))
def test_a_range_selects_what_python_slicing_selects(size: int, first: int, last: int) -> None:
    content = bytes(range(size))
    selected = _parse_range(f"bytes={first}-{last}", size)
    expected = content[first : last + 1]
    assert (b"" if selected is None else content[selected.start : selected.stop]) == expected


def test_head_tells_what_get_would_send_and_keeps_the_connection(
    hub_root: Path, raw: http.client.HTTPConnection
) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    response, content = ask(raw, "/demo/clip/resolve/main/model.safetensors", method="HEAD")
    assert (response.status, content) == (200, b"")
    digest = hashlib.sha256(weights()).hexdigest()
    assert response.headers["Content-Length"] == response.headers["X-Linked-Size"] == str(len(weights()))
    assert response.headers["ETag"] == response.headers["X-Linked-ETag"] == f'"{digest}"'
    small, _ = ask(raw, "/demo/clip/resolve/main/config.json", method="HEAD")
    assert small.headers["ETag"] == f'"{git_blob_id(clip_files()["config.json"])}"'
    assert "X-Linked-Size" not in small.headers


def test_wrong_methods_and_bodies_are_refused(hub_root: Path, hub: LocalHub) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    requests = [
        ("POST", "/api/models/demo/clip", {}, 405),
        ("GET", "/api/models/demo/clip/paths-info/main", {}, 405),
        ("DELETE", "/api/models/demo/clip", {}, 501),
        ("GET", "/api/models/demo/clip/tree/main?cursor=-1", {}, 400),
        ("POST", "/api/models/demo/clip/paths-info/main", {"Content-Length": "99999999"}, 400),
    ]
    for method, path, headers, status in requests:
        connection = http.client.HTTPConnection(*hub.server_address, timeout=10)
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        assert response.status == status, path


def test_command_serves_and_ends_on_a_signal(hub_root: Path) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "workers.local_hub", "--root", str(hub_root), "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert f"on http://127.0.0.1:{port}" in process.stderr.readline()
            info = HfApi(endpoint=f"http://127.0.0.1:{port}", token=False).model_info("demo/clip")
            assert info.id == "demo/clip"
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=10) == 0
        finally:
            process.kill()


def test_command_refuses_a_root_that_is_no_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "workers.local_hub", "--root", str(tmp_path / "absent"), "--port", "0"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "is not a folder" in result.stderr
