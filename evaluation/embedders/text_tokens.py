"""Texts as tokens up to a limit, for systems whose tokenizers pad on the right."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from evaluation.embedders.loading import loading_faults
from evaluation.embedders.networks.from_tensors import unit_rows
from evaluation.errors import ModelInvalid
from evaluation.types import FloatMatrix


def read_tokenizer(tokenizer_class: Any, folder: Path, *, files: tuple[str, ...]) -> Any:
    """The tokenizer of a system whose class is known, from tokenizer.json or from all of `files`.

    Raises:
        ModelInvalid: its files are missing or damaged.
    """
    if not (folder / "tokenizer.json").is_file() and not all((folder / name).is_file() for name in files):
        raise ModelInvalid(f"{folder.name} has no tokenizer ({', '.join(files)}); convert again with --tokenizer.")
    with loading_faults(folder):
        return tokenizer_class.from_pretrained(folder, local_files_only=True)


class TextTokens:
    """A tokenizer with what a system does to a text before it, and with the most tokens that the system reads."""

    def __init__(
        self,
        tokenizer: Any,
        *,
        max_tokens: int,
        device: str,
        prepare: Callable[[str], str] = str.strip,
        always_full: bool = False,
    ) -> None:
        """`always_full` pads every text to the most tokens, for systems that read their padding."""
        tokenizer.padding_side = tokenizer.truncation_side = "right"
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._device = device
        self._prepare = prepare
        self._always_full = always_full

    def tensors(self, texts: Sequence[str]) -> Any:
        """`input_ids` and `attention_mask`, (len(texts), longest or most), cut at the limit with the end mark kept."""
        return self._tokenizer(
            [self._prepare(text) for text in texts],
            padding="max_length" if self._always_full else "longest",
            truncation=True,
            max_length=self._max_tokens,
            return_tensors="pt",
        ).to(self._device)

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with its marks, and with padding where that is read, after the cut."""
        if self._always_full:
            return [self._max_tokens] * len(texts)
        return [min(length, self._max_tokens) for length in self._lengths(texts)]

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than what is read of it."""
        return [length > self._max_tokens for length in self._lengths(texts)]

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        tokens = self._tokenizer([self._prepare(text) for text in texts], verbose=False)
        return [len(ids) for ids in tokens["input_ids"]]


class TokenCounts:
    """What towers say of their texts' tokens, which `_tokens` makes."""

    _tokens: TextTokens

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with its marks, and with padding where that is read, after the cut."""
        return self._tokens.counts(texts)

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than what is read of it."""
        return self._tokens.cuts(texts)


class TokenTextSide(TokenCounts):
    """The text half of towers: `_text` gives one row a text from token ids and mask."""

    _text: Any

    @torch.inference_mode()
    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Unit vectors of texts, shape (len(texts), dimension).

        Raises:
            InputUnsupported: a text holds what the system's tokenizer must not be given.
        """
        inputs = self._tokens.tensors(texts)
        return unit_rows(self._text(inputs["input_ids"], inputs["attention_mask"]))
