"""How long probe texts are: the difference between the two sides, and tokens against what models take."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import MappingProxyType

from evaluation.errors import ModelInvalid
from evaluation.probe_types import Probe, ProbeSet

TokenCounter = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of texts, with the special ones that a model adds."""

TEXT_LIMITS: Mapping[str, int] = MappingProxyType(
    {"SigLIP": 64, "CLIP": 77, "BERT with 256 tokens": 256, "BERT with 512 tokens": 512}
)
"""The most tokens that a model family reads; whatever is beyond is cut off, and with it a negation at the end.

From the families' published configurations: CLIP and its medical descendants 77, SigLIP 64, BiomedCLIP's text side 256,
BERT's 512 positions.
"""

_SPECIAL_TOKENS = 2
_LETTERS_PER_TOKEN = 2
_PIECE = re.compile(r"[^\W_]+|[^\w\s]|_")


@dataclass(frozen=True, slots=True)
class LengthDifference:
    """Mean length of the positives less that of the negatives, over the probes of some sets.

    `mean` is signed; `largest` is the greatest absolute difference of one probe.
    """

    mean: float
    largest: float


def word_count(text: str) -> int:
    """Words between spaces."""
    return len(text.split())


def length_difference(probes: Sequence[Probe], length: Callable[[str], int]) -> LengthDifference:
    """The difference in a length; at least one probe is needed."""
    differences = [probe_difference(probe, length) for probe in probes]
    return LengthDifference(mean=fmean(differences), largest=max(map(abs, differences)))


def probe_difference(probe: Probe, length: Callable[[str], int]) -> float:
    """Mean length of one probe's positives less that of its negatives."""
    return fmean(map(length, probe.positives)) - fmean(map(length, probe.negatives))


def distinct_texts(sets: Sequence[ProbeSet]) -> tuple[str, ...]:
    """Every text of some sets once, in their order."""
    return tuple(
        dict.fromkeys(
            text for probe_set in sets for probe in probe_set.probes for text in (*probe.positives, *probe.negatives)
        )
    )


def token_bound(texts: Sequence[str]) -> list[int]:
    """What no subword tokenizer in use is expected to exceed: a token for every two letters or digits of a word.

    A mark of punctuation counts as one token, and two are added for start and end. That is more than WordPiece makes of
    any probe (a test compares them); the vocabularies of CLIP and SigLIP are no smaller than WordPiece's.
    """
    return [
        _SPECIAL_TOKENS + sum(math.ceil(len(piece) / _LETTERS_PER_TOKEN) for piece in _PIECE.findall(text))
        for text in texts
    ]


def tokenizer_of(folder: Path) -> TokenCounter:
    """Counts with the `tokenizer.json` of a model's folder, special tokens included.

    Raises:
        ModelInvalid: the folder has no such file, or it cannot be read.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415 (only who gives a tokenizer needs the package)

    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ModelInvalid(f"{path} does not exist. Name a folder with a tokenizer.json.")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises Exception itself
        raise ModelInvalid(f"{path} is no tokenizer: {error}. Save it again.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda texts: [len(encoding.ids) for encoding in tokenizer.encode_batch(list(texts))]
