"""`python -m tests.in_parts FLOOR`: every test, two parts side by side, and the coverage of all together.

A part is a process with servers, databases and a folder of its own. What the parts print comes line by line with their
names before it. Coverage is of the lines of `evaluation` and of the services that the tests' own processes run;
.coverage.txt names the rest. Below FLOOR percent of them is a failure.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE = 2
FOLDERS = {"library": ("tests/evaluation",), "workers": ("tests/workers",), "journeys": ("tests/e2e", "tests/faults")}
"""The parts that take long, the longest first."""
REST = ("tests", *(f"--ignore={folder}" for folders in FOLDERS.values() for folder in folders))
PARTS = FOLDERS | {"site": REST}
COVERAGE = ("--source", "evaluation,leaderboard/services", "--omit", "*/__main__.py")


@dataclass(frozen=True, slots=True)
class Ended:
    """The exit code of a part, and of its last lines those that name failures, with how many tests there were."""

    code: int
    summary: tuple[str, ...]


def main(floor: str) -> int:
    """Run all parts to their end; the first code that is not zero, of a part or of the coverage."""
    coverage_file("all").parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=AT_ONCE) as threads:
        ended = list(threads.map(run_part, PARTS))
    sys.stdout.writelines(line for part in ended for line in part.summary)
    return next((part.code for part in ended if part.code), 0) or merge_coverage(floor)


def run_part(name: str) -> Ended:
    """Run the tests of a part, with its coverage into a file."""
    command = [sys.executable, "-m", "slipcover", *COVERAGE, "--json", "--out", str(coverage_file(name))]
    process = subprocess.Popen(
        [*command, "-m", "pytest", *PARTS[name], "-o", f"cache_dir=.data/tests/{name}/pytest-cache"],
        cwd=ROOT,
        env=os.environ | {"MEDBOARD_DATA_DIR": str(ROOT / ".data" / "tests" / name)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    with process:
        for line in process.stdout or ():
            lines.append(f"{name:8}| {line}")
            sys.stdout.write(lines[-1])
            sys.stdout.flush()
    failures = [line for line in lines if line.partition("| ")[2].startswith(("FAILED", "ERROR"))]
    return Ended(process.returncode, (*failures, *lines[-1:]))


def merge_coverage(floor: str) -> int:
    """Write .coverage.txt; 2 where less than `floor` percent is covered."""
    files = [str(coverage_file(name)) for name in PARTS]
    merged = ["--merge", *files, "--out", str(coverage_file("all")), "--skip-covered", "--fail-under", floor]
    done = subprocess.run(
        [sys.executable, "-m", "slipcover", *merged], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    (ROOT / ".coverage.txt").write_text(done.stdout, encoding="utf-8")
    if done.returncode:
        sys.stderr.write(f"{done.stdout}\nLess than {floor}% of the lines are covered.\n")
    return done.returncode


def coverage_file(name: str) -> Path:
    """Where the coverage of a part lies, or of all."""
    return ROOT / ".data" / "tests" / f"coverage-{name}.json"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
