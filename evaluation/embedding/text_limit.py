"""Refuses texts that a model would cut, where every word counts."""

from collections.abc import Iterable

from evaluation.embedders.protocol import Embedder
from evaluation.errors import ProbeTooLong
from evaluation.vocabulary import InputKind


class TextLimit:
    """Asks a model once about each text whether it reads it to the end."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._whole: set[str] = set()

    def require_whole(self, texts: Iterable[str], *, where: str) -> None:
        """Refuse texts that would be cut; a model that embeds no texts is left to refuse them itself.

        Args:
            texts: in any order.
            where: names them in messages, e.g. a task.

        Raises:
            ProbeTooLong: naming the first text and how many there are.
        """
        if InputKind.TEXT not in self._embedder.description.kinds:
            return
        new = sorted(set(texts) - self._whole)
        cut = [text for text, is_cut in zip(new, self._embedder.cuts(new), strict=True) if is_cut]
        if cut:
            architecture = self._embedder.description.architecture
            raise ProbeTooLong(
                f"{where}: {architecture} reads only the beginning of {len(cut)} texts, so their end would not count; "
                f"the first is {cut[0]!r}. Shorten them, or leave this task out for this model."
            )
        self._whole.update(new)
