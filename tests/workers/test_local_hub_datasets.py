"""Data sets on the local hub, asked by the real `huggingface_hub`, beside models of the same names."""

from pathlib import Path

import pytest
from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

from tests.workers.hub_helpers import write_repository
from workers.local_hub.server import LocalHub

CARD = b"---\nlicense: cc-by-4.0\n---\n# Data\n"


@pytest.fixture
def api(hub: LocalHub) -> HfApi:
    return HfApi(endpoint=hub.endpoint, token=False)


def write_dataset(root: Path, files: dict[str, bytes], **settings: object) -> None:
    write_repository(root / "datasets", "lab/same", files, **settings)


def test_a_data_set_is_described_and_listed(hub_root: Path, api: HfApi) -> None:
    write_dataset(hub_root, {"README.md": CARD, "a/b.json": b"[]", "images.zip": b"PK"})
    info = api.dataset_info("lab/same", files_metadata=True)
    assert info.card_data.license == "cc-by-4.0"
    assert {file.rfilename: file.size for file in info.siblings} == {"README.md": 34, "a/b.json": 2, "images.zip": 2}
    entries = {entry.path: entry for entry in api.list_repo_tree("lab/same", recursive=True, repo_type="dataset")}
    assert sorted(entries) == ["README.md", "a", "a/b.json", "images.zip"]
    # As `printf PK | sha256sum` prints it.
    assert entries["images.zip"].lfs.sha256 == ("fcab7fcc2b4cffd9bb45003bfc2e468a04ef6f77ca8200a7341f027631584d25")


def test_a_model_and_a_data_set_of_one_name_are_two_repositories(
    hub_root: Path, hub: LocalHub, api: HfApi, tmp_path: Path
) -> None:
    write_dataset(hub_root, {"data.txt": b"data"})
    with pytest.raises(RepositoryNotFoundError):
        api.model_info("lab/same")
    write_repository(hub_root, "lab/same", {"model.txt": b"model"})
    assert [file.rfilename for file in api.model_info("lab/same").siblings] == ["model.txt"]
    assert [file.rfilename for file in api.dataset_info("lab/same").siblings] == ["data.txt"]
    assert [model.id for model in api.list_models()] == ["lab/same"]
    path = hf_hub_download(
        "lab/same", "data.txt", repo_type="dataset", endpoint=hub.endpoint, token=False, cache_dir=tmp_path / "cache"
    )
    assert Path(path).read_bytes() == b"data"


def test_a_folder_of_data_sets_is_no_owner_of_models(hub_root: Path, api: HfApi) -> None:
    write_dataset(hub_root, {"data.txt": b"data"})
    with pytest.raises(RepositoryNotFoundError):
        api.model_info("datasets/lab")


def test_a_gated_data_set_gives_its_files_to_readers_only(hub_root: Path, hub: LocalHub, tmp_path: Path) -> None:
    write_dataset(hub_root, {"data.txt": b"data"}, gated="manual", readers=["reader"])
    wanted = {"repo_type": "dataset", "endpoint": hub.endpoint, "cache_dir": tmp_path / "cache"}
    with pytest.raises(GatedRepoError):
        hf_hub_download("lab/same", "data.txt", token=False, **wanted)
    assert Path(hf_hub_download("lab/same", "data.txt", token="reader", **wanted)).read_bytes() == b"data"
