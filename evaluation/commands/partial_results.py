"""Results of an interrupted run, kept beside the result file so that the next attempt starts where it ended."""

import json
import os
from pathlib import Path
from typing import IO, Any, Self

from evaluation.errors import ResultInvalid
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import any_result_from_json, any_result_to_json
from evaluation.types import TaskResult


class PartialResults:
    """A file of JSON lines: first what is being run, then one line a finished task, each on disk before the next begins.

    Results are taken over only if `identity` (model, encode config, suite, code) is that of the earlier attempt. A
    line that was cut short by the interruption is dropped.
    """

    def __init__(self, out: Path, identity: dict[str, Any]) -> None:
        self._path = out.with_name(f"{out.name}.partial")
        self._identity = identity
        self.completed = self._read()
        self._stream: IO[str] | None = None

    def __enter__(self) -> Self:
        whole_lines = [self._identity, *(any_result_to_json(result) for result in self.completed.values())]
        renewed = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        renewed.write_text("".join(json.dumps(line) + "\n" for line in whole_lines), encoding="utf-8")
        renewed.replace(self._path)
        self._stream = self._path.open("a", encoding="utf-8")
        return self

    def __exit__(self, *exception: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, result: TaskResult | ProbeTaskResult) -> None:
        """Keep the result of one more task."""
        if self._stream is None:
            raise ValueError("use PartialResults in a with statement")
        if self.completed.get(result.task) is not result:
            self._stream.write(json.dumps(any_result_to_json(result)) + "\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def remove(self) -> None:
        """The result file is written: nothing is left to take over."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, TaskResult | ProbeTaskResult]:
        if not self._path.exists():
            return {}
        lines = self._path.read_bytes().split(b"\n")[:-1]
        try:
            documents = [json.loads(line) for line in lines]
            if not documents or documents[0] != self._identity:
                return {}
            results = [any_result_from_json(document) for document in documents[1:]]
        except (ValueError, ResultInvalid) as error:
            raise ResultInvalid(f"{self._path} is damaged: {error}. Remove it to start again.") from error
        return {result.task: result for result in results}
