"""The training files of a folder, indexed once, and the order in which their records are seen.

Files are never held in memory: the index keeps where each line begins, and a batch reads its own lines. The order is a
function of the seed alone, so that a position (epoch, batch) is all that a resumed training needs to know of it.
"""

import hashlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import DataMissing, TrainingRefused
from evaluation.training.records import RecordReader, TrainingRecord

TRAINING_FOLDER = "Train_Data"

_CHARACTERS_A_TOKEN = 4
_TOKENS_AN_IMAGE = 256
_REMEMBERED = 20_000  # records that were read
_COLUMNS = 5  # of the index, one number a record each

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OrderSettings:
    """How an epoch is put into batches.

    Attributes:
        pairs: the most records in a batch, over all processes.
        sub_batch: 0 mixes all records. Otherwise so many records of one source and instruction stand together, because
            negatives of the same kind are the hard ones.
        weights: how often a source's records are seen an epoch; 1 where none is given. With 0.5 each is seen in one of
            two epochs, with 2 twice in each.
        seed: of the order.
    """

    pairs: int = 256
    sub_batch: int = 64
    weights: Mapping[str, float] = field(default_factory=dict)
    seed: int = 42


class TrainingData:
    """All records of a folder's `Train_Data/*.jsonl`, by position: files by name, lines in order.

    `folder` is the suite's. `sources` are the files' names without ending, `source` the number of each record's, `kinds` numbers (source,
    instruction) of each record, `estimates` guesses its tokens from its length and its number of images. `sha256`
    covers the files' bytes.
    """

    def __init__(self, folder: Path) -> None:
        """Read and check every record.

        Raises:
            DataMissing: the folder has no training records, or an image of one is not there.
            RecordInvalid: a line is no record; the message names file and line.
        """
        self.folder = folder
        self._files = sorted((folder / TRAINING_FOLDER).glob("*.jsonl"))
        self._reader = RecordReader(folder)
        self._known: dict[int, TrainingRecord] = {}
        self.sources = tuple(file.stem for file in self._files)
        digest = hashlib.sha256()
        kinds: dict[tuple[int, str], int] = {}
        columns = [array("q") for _ in range(_COLUMNS)]
        for number, file in enumerate(self._files):
            for line_number, (offset, line) in enumerate(_lines(file), start=1):
                digest.update(line)
                record = self._reader.record(line, source=file.stem, where=f"{file}, line {line_number}")
                kind = kinds.setdefault((number, record.query.instruction), len(kinds))
                for column, value in zip(columns, (number, offset, line_number, kind, _estimate(record)), strict=True):
                    column.append(value)
        if not columns[0]:
            raise DataMissing(
                f"{folder / TRAINING_FOLDER} holds no training records; build a suite with a train split, or install it."
            )
        table = [np.array(column, dtype=np.int64) for column in columns]
        self.source, self._offsets, self._line_numbers, self.kinds, self.estimates = table
        self.sha256 = digest.hexdigest()

    def __len__(self) -> int:
        return len(self.source)

    def counts(self) -> dict[str, int]:
        """How many records each source has."""
        counted = np.bincount(self.source, minlength=len(self.sources))
        return dict(zip(self.sources, counted.tolist(), strict=True))

    def read(self, positions: Sequence[int] | Positions) -> list[TrainingRecord]:
        """The records at these positions, in that order.

        Raises:
            RecordInvalid, DataMissing: a file or image was changed since it was indexed.
        """
        wanted = [int(position) for position in positions]
        missing = sorted({position for position in wanted if position not in self._known})
        if len(self._known) + len(missing) > _REMEMBERED:
            self._known.clear()
            missing = sorted(set(wanted))
        for position in missing:
            file = self._files[self.source[position]]
            with file.open("rb") as stream:
                stream.seek(int(self._offsets[position]))
                where = f"{file}, line {self._line_numbers[position]}"
                self._known[position] = self._reader.record(stream.readline(), source=file.stem, where=where)
        return [self._known[position] for position in wanted]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a training stands in its data: the next batch is `batch` of `epoch`, both from 0."""

    epoch: int = 0
    batch: int = 0


def require_sources(data: TrainingData, settings: OrderSettings) -> None:
    """Refuse settings that do not fit the data.

    Raises:
        TrainingRefused: naming the setting.
    """
    unknown = sorted(set(settings.weights) - set(data.sources))
    if unknown:
        raise TrainingRefused(
            f"There is no source {unknown[0]!r} to give a weight; there are {', '.join(data.sources)}."
        )
    wrong = [name for name, weight in settings.weights.items() if not (np.isfinite(weight) and weight >= 0)]
    if wrong:
        raise TrainingRefused(f"The weight of {wrong[0]!r} is {settings.weights[wrong[0]]}; give 0 or more.")
    if settings.pairs < 2 or settings.sub_batch < 0:  # noqa: PLR2004 - a pair has no negative but in another
        raise TrainingRefused(f"{settings.pairs} pairs in sub-batches of {settings.sub_batch}; give at least 2 pairs.")
    if not any(len(members) for members in _epoch(data, settings, 0)):
        raise TrainingRefused("The weights leave no record for the first epoch; raise them.")


def batches(data: TrainingData, settings: OrderSettings, start: Position) -> Iterator[tuple[Position, Positions]]:
    """Endlessly (place, positions of records) of each batch from `start` on; the same seed gives the same batches."""
    epoch, skipped = start.epoch, start.batch
    while True:
        whole = epoch_batches(data, settings, epoch)
        for number, members in enumerate(whole[skipped:], start=skipped):
            yield Position(epoch, number), members
        epoch, skipped = epoch + 1, 0


def epoch_batches(data: TrainingData, settings: OrderSettings, epoch: int) -> list[Positions]:
    """The batches of one epoch: each record that the weights ask for stands in exactly one."""
    random = np.random.default_rng([settings.seed, epoch, 1])
    drawn = np.concatenate(_epoch(data, settings, epoch))
    drawn = drawn[random.permutation(len(drawn))]
    if not settings.sub_batch:
        return [drawn[start : start + settings.pairs] for start in range(0, len(drawn), settings.pairs)]
    parts = _sub_batches(drawn, data.kinds[drawn], min(settings.sub_batch, settings.pairs))
    return _filled([parts[number] for number in random.permutation(len(parts))], settings.pairs)


def _epoch(data: TrainingData, settings: OrderSettings, epoch: int) -> list[Positions]:
    """The records of each source that this epoch sees: a stretch of an endless row of permutations."""
    drawn = []
    for number, name in enumerate(data.sources):
        members = np.flatnonzero(data.source == number).astype(np.int64)
        share = settings.weights.get(name, 1.0) * len(members)
        drawn.append(_stretch(members, round(epoch * share), round((epoch + 1) * share), [settings.seed, 0, number]))
    return drawn


def _stretch(members: Positions, start: int, end: int, seed: list[int]) -> Positions:
    if start == end:
        return members[:0]
    first, last = start // len(members), (end - 1) // len(members)
    rows = [members[np.random.default_rng([*seed, turn]).permutation(len(members))] for turn in range(first, last + 1)]
    return np.concatenate(rows)[start - first * len(members) : end - first * len(members)]


def _sub_batches(drawn: Positions, kinds: Positions, size: int) -> list[Positions]:
    parts = []
    for kind in np.unique(kinds):
        members = drawn[kinds == kind]
        parts += [members[start : start + size] for start in range(0, len(members), size)]
    return parts


def _filled(parts: Sequence[Positions], pairs: int) -> list[Positions]:
    """Whole sub-batches together, as many as a batch holds."""
    filled: list[list[Positions]] = [[]]
    size = 0
    for part in parts:
        if filled[-1] and size + len(part) > pairs:
            filled.append([])
            size = 0
        filled[-1].append(part)
        size += len(part)
    return [np.concatenate(members) for members in filled]


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of a file."""
    offset = 0
    with file.open("rb") as stream:
        for line in stream:
            yield offset, line
            offset += len(line)


def _estimate(record: TrainingRecord) -> int:
    return sum(
        1 + len(item.instruction + item.text) // _CHARACTERS_A_TOKEN + _TOKENS_AN_IMAGE * len(item.images)
        for item in record.inputs
    )
