"""Tiny repositories are complete, small and the same for the same seed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.embedders import tiny

WRITERS = [tiny.write_tiny_clip, tiny.write_tiny_siglip, tiny.write_tiny_qwen3_vl]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("write", WRITERS)
def test_the_seed_decides_every_byte(tmp_path: Path, write: Callable[[Path, int], None]) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        write(tmp_path / name, seed)
    one, again, other = (contents(tmp_path / name) for name in ("one", "again", "other"))
    assert one == again
    assert one["model.safetensors"] != other["model.safetensors"]
    assert sum(map(len, one.values())) < 2_000_000
    assert not any(str(tmp_path).encode() in content for content in one.values())


def test_the_seed_decides_every_byte_of_an_adapter(tmp_path: Path, qwen_folder: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        tiny.write_tiny_qwen3_vl_adapter(tmp_path / name, qwen_folder, seed)
    one, again, other = (contents(tmp_path / name) for name in ("one", "again", "other"))
    assert one == again != other
    assert json.loads(one["adapter_config.json"])["peft_type"] == "LORA"
