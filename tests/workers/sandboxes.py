"""Sandboxes for tests: each that this machine allows, and a hostile child in one."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.processes import BASE_DIR
from workers.child import ChildOrder
from workers.sandbox.choice import SANDBOXES, why_unusable
from workers.sandbox.places import python_places, python_program
from workers.sandbox.protocol import Enclosure, Limits, Sandbox

PROGRAM = BASE_DIR / "tests" / "workers" / "hostile_child.py"
MIB = 1 << 20
LIMITS = Limits(memory_bytes=256 * MIB, processes=40, tmp_bytes=4 * MIB, file_bytes=6 * MIB, cpu_seconds=60)
SEALING = [name for name, kind in SANDBOXES.items() if kind.is_sealed]

_refusal = cache(lambda name: why_unusable(SANDBOXES[name]()))


def usable(name: str) -> Sandbox:
    """The sandbox of a name, or a skip that says what the machine refuses."""
    if refusal := _refusal(name):
        pytest.skip(f"{name} does not work on this machine: {refusal}")
    return SANDBOXES[name]()


def hostile_order(
    folder: Path,
    sandbox: Sandbox,
    mode: str,
    parameters: Mapping[str, Any],
    *,
    limits: Limits = LIMITS,
    read_only: tuple[Path, ...] = (),
    store_bytes: int = 4 * MIB,
    timeout_seconds: float = 60,
) -> ChildOrder:
    """The order of a hostile child; its store, `folder / "store"`, is among its parameters."""
    store = folder / "store"
    store.mkdir(exist_ok=True)
    parameters = {"store": str(store), **parameters}
    enclosure = Enclosure(
        command=(python_program(), "-I", "-S", str(PROGRAM), mode, json.dumps(parameters)),
        environment={"PATH": "/usr/bin:/bin"},
        read_only=(*python_places(), PROGRAM, *read_only),
        writable=store,
        devices=(),
        limits=limits,
    )
    return ChildOrder(
        enclosure=enclosure,
        sandbox=sandbox,
        store_bytes=store_bytes,
        log=folder / "child.log",
        timeout_seconds=timeout_seconds,
    )
