"""Which candidates of a batch are as right for a query as its own positive, and so are no negatives of it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from evaluation.inputs import EmbeddingInput
from evaluation.training.records import TrainingRecord

_NONE = 0


@dataclass(frozen=True, slots=True)
class EquivalenceKeys:
    """Numbers that are equal where content is; 0 stands for nothing and equals nothing.

    Of each record i: `query` and `positive` by content, `label` by label or set of labels within its source, `study`;
    each of shape (records,), int64. `negatives` holds the contents of all hard negatives, shape (hard negatives,).
    Candidates are the positives in order and then the hard negatives.
    """

    query: torch.Tensor
    positive: torch.Tensor
    label: torch.Tensor
    study: torch.Tensor
    negatives: torch.Tensor

    @property
    def rows(self) -> torch.Tensor:
        """What belongs to records, shape (records, 4): query, positive, label, study."""
        return torch.stack([self.query, self.positive, self.label, self.study], dim=1)

    @classmethod
    def from_rows(cls, rows: torch.Tensor, negatives: torch.Tensor) -> "EquivalenceKeys":
        """The inverse of `rows`."""
        query, positive, label, study = rows.unbind(dim=1)
        return cls(query, positive, label, study, negatives)


def equivalence_keys(records: Sequence[TrainingRecord]) -> EquivalenceKeys:
    """The keys of a batch's records.

    Texts are compared without regard to case and spaces, images by their files. An instruction is no content: the same
    question to the same image has the same answers, however the question is introduced.
    """

    def column(values: Sequence[int]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int64)

    return EquivalenceKeys(
        query=column([_content(record.query) for record in records]),
        positive=column([_content(record.positive) for record in records]),
        label=column(
            [_number("label", record.source, *sorted(record.labels)) if record.labels else _NONE for record in records]
        ),
        study=column([_number("study", record.study) if record.study else _NONE for record in records]),
        negatives=column([_content(item) for record in records for item in record.negatives]),
    )


def equivalent(keys: EquivalenceKeys) -> torch.Tensor:
    """Which candidates are as right for a query as its own, shape (records, candidates), its own False.

    Positive j is as right for query i as positive i where both are the same content, their labels or studies are the
    same, or both queries are. A candidate that is query i itself is left out too: a query never ranks itself.
    """
    contents = torch.cat([keys.positive, keys.negatives])
    same = (contents[None, :] == keys.positive[:, None]) | (contents[None, :] == keys.query[:, None])
    among_positives = keys.query[:, None] == keys.query[None, :]
    for column in (keys.label, keys.study):
        among_positives |= (column[:, None] == column[None, :]) & (column[:, None] != _NONE)
    count = len(keys.query)
    same[:, :count] |= among_positives
    same[:, :count].fill_diagonal_(False)
    return same


def _content(item: EmbeddingInput) -> int:
    text = " ".join(item.text.casefold().split())
    return _number("content", text, *(str(path) for path in item.images))


def _number(*parts: str) -> int:
    """An int64 that is not 0; two different contents share one with a chance of 2^-64."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "big", signed=True) or 1
