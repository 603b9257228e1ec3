"""Fixtures for every test: where the real data lie."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real medical data, or a skip that says how to provide it."""
    folder = os.environ.get("MEDBOARD_REAL_DATA", "")
    if not folder:
        pytest.skip("MEDBOARD_REAL_DATA is not set: tests on real medical data are skipped")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"MEDBOARD_REAL_DATA names {path}, which is not a folder")
    return path
