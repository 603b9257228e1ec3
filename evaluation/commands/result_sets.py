"""Result files that are looked at together: one suite, the same data, and a name for each model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from evaluation.errors import ResultInvalid
from evaluation.manifest import suite_sha256
from evaluation.results import ModelIdentity, RunResult, read_result
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.reader import read_suite
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


def read_results(paths: Sequence[Path], *, suite: Path | None) -> ResultSet:
    """Read result files that can stand side by side.

    Raises:
        ResultInvalid: a file cannot be read, the suites or the data of a task differ, a model comes twice, or the
            declaration of the suite is not at hand; the message names the files.
        SuiteInvalid: the suite's folder cannot be read.
    """
    files = [(path, read_result(path)) for path in paths]
    _check_suites(files)
    _check_data(files)
    names = _names(files)
    return ResultSet(
        suite=_declaration(files[0][1], suite),
        results={name: result for name, (_, result) in zip(names, files, strict=True)},
    )


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
        for task in result.tasks:
            other, sha256 = first.setdefault(task.task, (path, task.data_sha256))
            if sha256 != task.data_sha256:
                different.append(f"{task.task} (as in {other})")
        if different:
            raise ResultInvalid(
                f"{path} was evaluated on other data in {', '.join(different)}. Evaluate the model again on the data of"
                " the others."
            )


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


def _declaration(result: RunResult, folder: Path | None) -> SuiteSpec:
    suite = medheb_suite() if folder is None else read_suite(folder)
    if suite_sha256(suite) != result.suite.manifest_sha256:
        where = "MedHEB's catalogue" if folder is None else str(folder)
        raise ResultInvalid(
            f"The results are of {result.suite.slug} {result.suite.version} as it was declared when they were made,"
            f" which is not what {where} declares. Name the folder of that suite with --suite."
        )
    return suite
