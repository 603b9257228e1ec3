"""Whether a task can be evaluated: ready, not installed, images missing, or broken, and what to do about it."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from evaluation.decoding.inputs import decode
from evaluation.errors import DataMissing, EvaluationError, InputUnreadable, SuiteInvalid
from evaluation.evaluators.retrieval import task_chance
from evaluation.hashing import FileHashes
from evaluation.inputs import EmbeddingInput
from evaluation.manifest import spec_sha256
from evaluation.suites.medheb.catalogue import data_sources
from evaluation.suites.medheb.image_root import ImageRoot
from evaluation.suites.medheb.reader import read_records, survey_task
from evaluation.suites.medheb.records import named_files
from evaluation.types import RetrievalTask, TaskSpec

_THREADS = 4  # decoding leaves the interpreter free for most of its time

NAMED_PROBLEMS = 5
"""How many broken records of a task are named; all are counted."""


class Readiness(StrEnum):
    """What stands between a task and its evaluation."""

    READY = "ready"
    NOT_INSTALLED = "not_installed"
    IMAGES_MISSING = "images_missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class RecordProblem:
    """Why a record, or the whole task file (`record` is None), cannot be used."""

    record: int | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class FileState:
    """A task file as it was when it was read."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TaskReadiness:
    """What is known of one task's data.

    `files_expected` counts the distinct files (or series folders) that its records name, `files_present` those that
    are there. `n_problems` counts broken records, of which `problems` names the first. `n_queries`, `chance` (in
    [0, 1]) and `data_sha256` are known of ready tasks only.
    """

    task: str
    spec_sha256: str
    state: Readiness
    file: FileState | None = None
    files_present: int = 0
    files_expected: int = 0
    n_problems: int = 0
    problems: tuple[RecordProblem, ...] = ()
    n_queries: int | None = None
    chance: float | None = None
    data_sha256: str = ""


class ImageChecks:
    """Decodes every image and volume once, whatever tasks share it, and remembers which cannot be decoded."""

    def __init__(self) -> None:
        self._faults: dict[tuple[tuple[Path, ...], bool], InputUnreadable | None] = {}

    def check(self, source: EmbeddingInput) -> None:
        """Decode the images of an input.

        Raises:
            InputUnreadable: one of them cannot be decoded, or is beyond its limit.
        """
        if not source.images:
            return
        key = (source.images, source.is_volume)
        if key not in self._faults:
            self._faults[key] = _fault(EmbeddingInput(images=source.images, is_volume=source.is_volume))
        fault = self._faults[key]
        if fault is not None:
            raise type(fault)(fault.message)


def inspect_task(folder: Path, spec: TaskSpec, *, hashes: FileHashes, images: ImageChecks) -> TaskReadiness:
    """Read every record of a task and decode every image of it; problems are in the answer, none is raised."""
    path = folder / spec.data_path
    if not path.is_file():
        return TaskReadiness(task=spec.name, spec_sha256=spec_sha256(spec), state=Readiness.NOT_INSTALLED)
    problems: list[RecordProblem] = []
    state = None
    try:
        state = _file_state(path)
        task = survey_task(
            folder,
            spec,
            hashes=hashes,
            check=images.check,
            report=lambda record, error: problems.append(_problem(folder, record, error)),
        )
        counts = count_files(folder, spec)
    except EvaluationError as error:
        return _judged(spec, state, (0, 0), [_problem(folder, None, error)], task=None)
    except OSError as error:
        unreadable = SuiteInvalid(f"{path} cannot be read: {error.strerror}. Check its permissions.")
        return _judged(spec, state, (0, 0), [_problem(folder, None, unreadable)], task=None)
    problems.sort(key=lambda problem: problem.record or 0)
    return _judged(spec, state, counts, problems, task=task)


def count_files(folder: Path, spec: TaskSpec) -> tuple[int, int]:
    """How many of the files that a task's records name are there, and how many they name.

    Paths that a record must not have are left out: they are a fault of the record.

    Raises:
        SuiteInvalid: the task file cannot be read.
    """
    root = ImageRoot(folder / spec.image_root)
    present = expected = 0
    for name in task_files(folder, spec):
        try:
            root.file(name, where=spec.name)
        except DataMissing:
            expected += 1
        except EvaluationError:
            continue
        else:
            present += 1
            expected += 1
    return present, expected


def task_files(folder: Path, spec: TaskSpec) -> Iterator[str]:
    """The distinct paths, below its image root, that the records of a task name.

    Raises:
        SuiteInvalid: the task file cannot be read.
    """
    names: dict[str, None] = {}
    for record in read_records(folder / spec.data_path):
        names.update(dict.fromkeys(named_files(record)))
    yield from names


def recall(folder: Path, spec: TaskSpec, known: TaskReadiness | None) -> TaskReadiness | None:
    """What is known of a task if it still holds as far as sizes, times and the number of files tell, else None.

    Broken tasks are never recalled: what was broken may have been mended.
    """
    if known is None or known.spec_sha256 != spec_sha256(spec) or known.state is Readiness.BROKEN:
        return None
    path = folder / spec.data_path
    if known.file is None or not path.is_file():
        return known if known.file is None and not path.exists() else None
    status = path.stat()
    if (status.st_size, status.st_mtime_ns) != (known.file.size, known.file.mtime_ns):
        return None
    if known.state is Readiness.READY:
        return known if known.files_expected == 0 or (folder / spec.image_root).is_dir() else None
    return known if count_files(folder, spec) == (known.files_present, known.files_expected) else None


def survey_suite(
    folder: Path,
    specs: Sequence[TaskSpec],
    *,
    known: Mapping[str, TaskReadiness],
    on_task: Callable[[TaskReadiness], None] = lambda _readiness: None,
) -> tuple[TaskReadiness, ...]:
    """The readiness of each task, in the order of `specs`; `on_task` hears of each as it is done.

    What is `known` is recalled where it still holds; every other task is read, several at a time.
    """
    hashes, images = FileHashes(), ImageChecks()

    def survey(spec: TaskSpec) -> TaskReadiness:
        recalled = recall(folder, spec, known.get(spec.name))
        return recalled or inspect_task(folder, spec, hashes=hashes, images=images)

    found = []
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        for readiness in pool.map(survey, specs):
            on_task(readiness)
            found.append(readiness)
    return tuple(found)


def explain(spec: TaskSpec, readiness: TaskReadiness) -> str:
    """What a task waits for, in words for people; "" for a ready one."""
    match readiness.state:
        case Readiness.READY:
            return ""
        case Readiness.NOT_INSTALLED:
            return f"its file {spec.data_path} is not installed.{_who_grants(spec)}"
        case Readiness.IMAGES_MISSING:
            return (
                f"{readiness.files_present:,} of its {readiness.files_expected:,} image files are in "
                f"{spec.image_root}.{_who_grants(spec)}"
            )
        case Readiness.BROKEN:
            named = " ".join(problem.message for problem in readiness.problems)
            more = readiness.n_problems - len(readiness.problems)
            rest = f" And {more:,} more broken records." if more else ""
            return f"{readiness.n_problems:,} of its records cannot be used. {named}{rest}"


def public_reason(spec: TaskSpec, readiness: TaskReadiness) -> str:
    """As `explain`, but without the contents and file names of records, which may not be anybody's to read."""
    if readiness.state is not Readiness.BROKEN:
        return explain(spec, readiness)
    where = ", ".join(
        f"{problem.code} in {'the file' if problem.record is None else f'record {problem.record}'}"
        for problem in readiness.problems
    )
    return f"{readiness.n_problems:,} of its records cannot be used ({where}). 'suites status' says what is wrong."


def _who_grants(spec: TaskSpec) -> str:
    restricted = [source for source in data_sources(spec) if source.is_restricted]
    if not restricted:
        return " Install the suite again."
    return "".join(f" Access to {source.name} ({source.access}): {source.origin}." for source in restricted)


def _fault(source: EmbeddingInput) -> InputUnreadable | None:
    try:
        decode(source)
    except InputUnreadable as error:
        return error
    return None


def _file_state(path: Path) -> FileState:
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    status = path.stat()
    return FileState(size=status.st_size, mtime_ns=status.st_mtime_ns, sha256=sha256)


def _problem(folder: Path, record: int | None, error: EvaluationError) -> RecordProblem:
    """A problem in words that name files below the suite's folder, wherever that lies."""
    return RecordProblem(record, error.code, error.message.replace(f"{folder}/", ""))


def _judged(
    spec: TaskSpec,
    file: FileState | None,
    counts: tuple[int, int],
    problems: list[RecordProblem],
    *,
    task: RetrievalTask | None,
) -> TaskReadiness:
    broken = [problem for problem in problems if problem.code != DataMissing.code]
    shown = broken or problems
    state = Readiness.BROKEN if broken else Readiness.IMAGES_MISSING if problems else Readiness.READY
    is_ready = state is Readiness.READY and task is not None
    return TaskReadiness(
        task=spec.name,
        spec_sha256=spec_sha256(spec),
        state=state,
        file=file,
        files_present=counts[0],
        files_expected=counts[1],
        n_problems=len(shown),
        problems=tuple(shown[:NAMED_PROBLEMS]),
        n_queries=len(task.queries) if is_ready and task else None,
        chance=task_chance(task) if is_ready and task else None,
        data_sha256=task.data_sha256 if is_ready and task else "",
    )
