"""Numbers the distinct inputs of a task by their content."""

from pathlib import Path

from evaluation.hashing import FileHashes, content_key
from evaluation.inputs import EmbeddingInput


class InputNumbers:
    """Gives equal contents one number, in the order in which they first come."""

    def __init__(self, hashes: FileHashes) -> None:
        self.hashes = hashes
        self._numbers: dict[str, int] = {}
        self._inputs: list[EmbeddingInput] = []

    @property
    def inputs(self) -> tuple[EmbeddingInput, ...]:
        """The distinct inputs."""
        return tuple(self._inputs)

    @property
    def keys(self) -> tuple[str, ...]:
        """The content key of each."""
        return tuple(self._numbers)

    def of(self, source: EmbeddingInput) -> int:
        """The number of an input.

        Raises:
            InputUnreadable: a file of it cannot be read.
        """
        key = content_key(source, self.hashes)
        number = self._numbers.setdefault(key, len(self._inputs))
        if number == len(self._inputs):
            self._inputs.append(source)
        return number

    def of_text(self, text: str) -> int:
        """The number of a text."""
        return self.of(EmbeddingInput(text=text))

    def of_image(self, path: Path) -> int:
        """The number of a plane image."""
        return self.of(EmbeddingInput(images=(path,)))
