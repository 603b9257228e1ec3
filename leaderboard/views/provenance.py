"""Where the numbers of a run come from, and the commands that make them again."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from leaderboard.selectors.catalogue import SuiteSummary
from leaderboard.selectors.embedding_models import PublishedRun

NOT_RECORDED = "not recorded"
CPU = "cpu"


def environment_facts(environment: Mapping[str, Any], description: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Hardware, number type and libraries in words, from what the first worker recorded."""
    config = description.get("encode_config", {})
    packages = environment.get("packages", {})
    facts = [
        ("Device", environment.get("device", "")),
        ("CPU threads", environment.get("threads", "")),
        ("Number type", config.get("dtype", "")),
        ("Python", environment.get("python", "")),
        ("Platform", environment.get("platform", "")),
        ("Libraries", ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))),
    ]
    return [(name, str(value) or NOT_RECORDED) for name, value in facts]


def pretty(facts: Mapping[str, Any]) -> str:
    """Facts as indented JSON; empty where there are none."""
    return json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) if facts else ""


def reproduction(repo_id: str, run: PublishedRun, suite: SuiteSummary) -> str:
    """Shell commands that fetch the exact revision and evaluate it on the suite again, as it was encoded."""
    model = run.model
    lines = [_download(repo_id, model.commit, folder="model")]
    command = ["python", "-m", "evaluation", "run", "--model", "model", "--revision", model.commit]
    if model.adapter_repo_id:
        lines.append(_download(model.adapter_repo_id, model.adapter_commit, folder="adapter"))
        command += ["--adapter", "adapter"]
    if run.encode_config_sha256:
        command += ["--encode-config", str(run.description.get("encode_config", {}).get("name", ""))]
    device = str(run.environment.get("device", CPU)).partition(" ")[0]
    if device != CPU:
        command += ["--device", device]
    lines.append(shlex.join([*command, "--suite", suite.slug, "--out", "result.json"]))
    return "\n".join(lines)


def _download(repo_id: str, commit: str, *, folder: str) -> str:
    return shlex.join(["hf", "download", repo_id, "--revision", commit, "--local-dir", folder])
