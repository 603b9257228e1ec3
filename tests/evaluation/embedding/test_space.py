"""The identity of a vector space changes with everything that changes a vector, and with nothing else."""

import os
from pathlib import Path

import pytest

from evaluation import environment
from evaluation.embedding.space import embedding_space, model_sha256


def model(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def test_a_model_is_its_content_wherever_and_whenever_it_was_written(tmp_path: Path) -> None:
    first = model(tmp_path / "a", config="{}", weights="123", part__weights="4")
    second = model(tmp_path / "b", part__weights="4", weights="123", config="{}")
    model(second, **{".cache__download": "today"})
    os.utime(second / "weights", (1, 1))
    assert model_sha256(first) == model_sha256(second)


@pytest.mark.parametrize("change", [{"weights": "124"}, {"more": ""}, {"part__weights": "123"}])
def test_any_change_of_a_file_makes_another_model(tmp_path: Path, change: dict[str, str]) -> None:
    first = model(tmp_path / "a", config="{}", weights="123")
    assert model_sha256(first) != model_sha256(model(tmp_path / "b", **{"config": "{}", "weights": "123", **change}))


def test_an_adapter_makes_another_model(tmp_path: Path) -> None:
    base, adapter = model(tmp_path / "a", weights="1"), model(tmp_path / "b", weights="2")
    assert len({model_sha256(base), model_sha256(base, adapter), model_sha256(adapter, base)}) == 3


def test_a_link_to_a_file_is_its_content(tmp_path: Path) -> None:
    plain = model(tmp_path / "a", weights="1")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "weights").symlink_to(plain / "weights")
    assert model_sha256(plain) == model_sha256(tmp_path / "b")


def test_a_space_changes_with_model_config_device_threads_code_and_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def space(**changes: object) -> str:
        values = {"model": "m", "encode_config": {"dtype": "float32"}, "device": "cpu", "threads": 1, **changes}
        return embedding_space(**values)

    spaces = [space(), space(model="n"), space(encode_config={"dtype": "bfloat16"}), space(device="NVIDIA H200")]
    spaces.append(space(threads=2))
    assert space() == spaces[0]
    monkeypatch.setattr(environment, "_PACKAGES", ("numpy",))
    spaces.append(space())
    monkeypatch.setattr(environment, "_FOLDER", Path(environment.__file__).parent / "decoding")
    assert len(set(spaces)) == 6
