"""Result files that are looked at together: one suite, the same data, and a name for each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from evaluation.errors import ResultInvalid
from evaluation.manifest import suite_sha256
from evaluation.probe_manifest import probe_suite_sha256
from evaluation.probe_types import ProbeSuiteSpec, ProbeTaskResult
from evaluation.results import ModelIdentity, RunResult, read_result
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.reader import read_suite
from evaluation.suites.medtec.suite import read_probe_suite
from evaluation.types import RankOutcomes, SuiteSpec

SuiteFolderOption = Annotated[
    Path | None,
    typer.Option("--suite", help="Folder of the suite that was run; MedHEB's catalogue by default."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


@dataclass(frozen=True, slots=True)
class ResultSet:
    """Comparable results by the name of their model, in the order in which they were given."""

    suite: SuiteSpec
    results: dict[str, RunResult]

    @property
    def outcomes(self) -> dict[str, dict[str, RankOutcomes]]:
        """Outcomes by model and task."""
        return {name: {task.task: task.outcomes for task in found.tasks} for name, found in self.results.items()}


@dataclass(frozen=True, slots=True)
class ProbeResultSet:
    """Comparable results of a probing suite by the name of their model, in the order in which they were given."""

    suite: ProbeSuiteSpec
    sha256: str
    results: dict[str, RunResult]

    @property
    def tasks(self) -> dict[str, dict[str, ProbeTaskResult]]:
        """Results by model and task."""
        return {name: {task.task: task for task in found.probe_tasks} for name, found in self.results.items()}


def read_results(paths: Sequence[Path], *, suite: Path | None) -> ResultSet:
    """Read result files of a retrieval suite that can stand side by side.

    Raises:
        ResultInvalid: a file cannot be read, the suites or the data of a task differ, a model comes twice, or the
            declaration of the suite is not at hand; the message names the files.
        SuiteInvalid: the suite's folder cannot be read.
    """
    results = _named_results(paths)
    spec = medheb_suite() if suite is None else read_suite(suite)
    _check_declaration(results, suite_sha256(spec), where="MedHEB's catalogue" if suite is None else str(suite))
    return ResultSet(spec, results)


def read_probe_results(paths: Sequence[Path], *, suite: Path) -> ProbeResultSet:
    """Read result files of a probing suite that can stand side by side.

    Raises:
        ResultInvalid: as `read_results`.
        SuiteInvalid: the suite's folder cannot be read.
    """
    results = _named_results(paths)
    spec = read_probe_suite(suite)
    sha256 = probe_suite_sha256(spec)
    _check_declaration(results, sha256, where=str(suite))
    return ProbeResultSet(spec, sha256, results)


def _named_results(paths: Sequence[Path]) -> dict[str, RunResult]:
    files = [(path, read_result(path)) for path in paths]
    _check_suites(files)
    _check_data(files)
    return {name: result for name, (_, result) in zip(_names(files), files, strict=True)}


def _check_suites(files: Sequence[tuple[Path, RunResult]]) -> None:
    path, first = files[0]
    for other_path, other in files[1:]:
        if other.suite == first.suite:
            continue
        names = [f"{found.suite.slug} {found.suite.version}" for found in (first, other)]
        reason = f"{path} is of {names[0]} and {other_path} of {names[1]}"
        if names[0] == names[1]:
            reason = f"{path} and {other_path} are of {names[0]}, but its declaration was changed in between"
        raise ResultInvalid(f"{reason}. Give results of one suite.")


def _check_data(files: Sequence[tuple[Path, RunResult]]) -> None:
    first: dict[str, tuple[Path, str]] = {}
    for path, result in files:
        different = []
        for task, found in _data_of(result).items():
            other, sha256 = first.setdefault(task, (path, found))
            if sha256 != found:
                different.append(f"{task} (as in {other})")
        if different:
            raise ResultInvalid(
                f"{path} was evaluated on other data in {', '.join(different)}. Evaluate the model again on the data of"
                " the others."
            )


def _data_of(result: RunResult) -> dict[str, str]:
    """The hash of each task's data."""
    found = {task.task: task.data_sha256 for task in result.tasks}
    return found | {task.task: task.data_sha256 for task in result.probe_tasks}


def _names(files: Sequence[tuple[Path, RunResult]]) -> list[str]:
    """The shortest way to name a model that tells all of them apart."""
    for name_of in (_id, _id_and_revision, _whole_identity):
        names = [name_of(result.model) for _, result in files]
        if len(set(names)) == len(names):
            return names
    twice = [str(path) for path, result in files if names.count(_whole_identity(result.model)) > 1]
    raise ResultInvalid(f"{' and '.join(twice)} are results of one and the same model. Give one of them.")


def _id(model: ModelIdentity) -> str:
    return f"{model.id} + {model.adapter_id}" if model.adapter_id else model.id


def _id_and_revision(model: ModelIdentity) -> str:
    return " ".join(part for part in (_id(model), model.revision[:12], model.adapter_revision[:12]) if part)


def _whole_identity(model: ModelIdentity) -> str:
    return f"{_id_and_revision(model)} config {model.encode_config_sha256[:12]}"


def _check_declaration(results: Mapping[str, RunResult], sha256: str, *, where: str) -> None:
    """Whether the results are of the suite whose declaration is at hand."""
    found = next(iter(results.values())).suite
    if sha256 != found.manifest_sha256:
        raise ResultInvalid(
            f"The results are of {found.slug} {found.version} as it was declared when they were made,"
            f" which is not what {where} declares. Name the folder of that suite with --suite."
        )
