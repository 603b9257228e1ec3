"""`run` takes a model by its id: fetched over HTTP at one commit, with its adapter, and recorded."""

import json
import os
import subprocess
import sys
from pathlib import Path

from evaluation.embedders.tiny import write_tiny_qwen3_vl, write_tiny_qwen3_vl_adapter
from evaluation.suites.demo.suite import build_demo
from tests.processes import BASE_DIR
from workers.local_hub.server import running_hub


def run(folder: Path, endpoint: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evaluation", "run", "--suite", "suite", "--out", "result.json", *arguments],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(BASE_DIR),
            "HUB_ENDPOINT": endpoint,
            "OMP_WAIT_POLICY": "PASSIVE",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_model_and_its_adapter_are_fetched_and_recorded(hub_root: Path, tmp_path: Path) -> None:
    base = hub_root / "demo" / "qwen3-vl-tiny"
    write_tiny_qwen3_vl(base, 1)
    write_tiny_qwen3_vl_adapter(hub_root / "demo" / "adapter", base, 2, base_name="demo/qwen3-vl-tiny")
    build_demo(tmp_path / "suite")
    with running_hub(hub_root) as hub:
        done = run(
            tmp_path,
            hub.endpoint,
            *("--model", "demo/qwen3-vl-tiny", "--adapter", "demo/adapter", "--tasks", "DemoGlossary_qa"),
        )
        commits = [hub.models.find(name).main.commit for name in ("demo/qwen3-vl-tiny", "demo/adapter")]
    assert done.returncode == 0, done.stderr
    model = json.loads((tmp_path / "result.json").read_text())["model"]
    assert [model["id"], model["adapter_id"]] == ["demo/qwen3-vl-tiny", "demo/adapter"]
    assert [model["revision"], model["adapter_revision"]] == commits


def test_a_model_that_no_hub_has_is_one_sentence(hub_root: Path, tmp_path: Path) -> None:
    build_demo(tmp_path / "suite")
    with running_hub(hub_root) as hub:
        done = run(tmp_path, hub.endpoint, "--model", "demo/nothing-here")
    assert done.returncode == 1
    assert "repository_missing" in done.stderr
    assert "Traceback" not in done.stderr
