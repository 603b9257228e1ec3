"""`check probes`: whether MedTEC's probe texts keep every rule, how many there are, and how long they are."""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from evaluation.probe_types import ProbeSet
from evaluation.suites.medtec.probe_building import build_probe_sets
from evaluation.suites.medtec.probe_checking import require_sound
from evaluation.suites.medtec.probe_lengths import (
    TEXT_LIMITS,
    TokenCounter,
    distinct_texts,
    length_difference,
    token_bound,
    tokenizer_of,
    word_count,
)
from evaluation.suites.medtec.probe_reading import PROBES, read_probe_file
from evaluation.suites.medtec.probe_writing import require_as_built
from evaluation.suites.medtec.vocabulary_reading import read_vocabulary
from evaluation.vocabulary import MODALITY_TITLES, Level, Modality, PhrasingStyle

app = typer.Typer(name="check", help="Check what comes with this program.", no_args_is_help=True)


@app.callback()
def check() -> None:
    """Check what comes with this program."""


@app.command("probes")
def check_probes_command(
    *,
    tokenizer: Annotated[
        Path | None, typer.Option(help="A model's folder with a tokenizer.json, to count tokens with.")
    ] = None,
    folder: Annotated[Path, typer.Option(help="Folder of the probe files; that of the program by default.")] = PROBES,
) -> None:
    """Check every rule on every probe text, and that the files are what the vocabularies give."""
    count_tokens = token_bound if tokenizer is None else tokenizer_of(tokenizer)
    found: list[ProbeSet] = []
    for modality in Modality:
        vocabulary = read_vocabulary(modality)
        path = folder / f"{modality}.yaml"
        sets = read_probe_file(path, modality)
        require_sound(vocabulary, sets, count_tokens)
        require_as_built(path, build_probe_sets(vocabulary))
        found += sets
    console = Console()
    console.print(_counts(found))
    console.print(_lengths(found, count_tokens))
    how = "at most, by letters" if tokenizer is None else f"counted with {tokenizer}"
    limits = ", ".join(f"{name} {limit}" for name, limit in TEXT_LIMITS.items())
    console.print(f"Tokens are {how}. Limits: {limits}.", soft_wrap=True, highlight=False)
    console.print(f"{len(found)} probe sets with {len(distinct_texts(found))} texts keep every rule.", highlight=False)


def _counts(sets: Sequence[ProbeSet]) -> Table:
    """How many probes there are for each modality and level."""
    table = Table(title="Probes by modality and level")
    table.add_column("Modality")
    for heading in ("Level", "Sets", "Concepts", "Probes", "Negatives", "Texts"):
        table.add_column(heading, justify="right")
    for (modality, level), group in groupby(sets, key=lambda each: (each.modality, each.level)):
        members = tuple(group)
        probes = [probe for each in members for probe in each.probes]
        sizes = sorted({len(probe.negatives) for probe in probes})
        table.add_row(
            MODALITY_TITLES[modality],
            level,
            str(len(members)),
            str(len({probe.concept for probe in probes})),
            str(len(probes)),
            str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}",
            str(len(distinct_texts(members))),
        )
    return table


def _lengths(sets: Sequence[ProbeSet], count_tokens: TokenCounter) -> Table:
    """How much positives and negatives differ in length at each level and style: mean and largest of a probe."""
    table = Table(title="Positives less negatives: mean (largest of a probe)")
    table.add_column("Level and style")
    for heading in ("Words", "Characters", "Tokens", "Most tokens"):
        table.add_column(heading, justify="right")
    counts = dict(zip(texts := distinct_texts(sets), count_tokens(texts), strict=True))
    for level in Level:
        for style in PhrasingStyle:
            members = tuple(each for each in sets if (each.level, each.style) == (level, style))
            if members:
                measures = [_difference(members, length) for length in (word_count, len, counts.__getitem__)]
                table.add_row(f"{level} {style}", *measures, str(max(counts[text] for text in distinct_texts(members))))
    return table


def _difference(sets: Sequence[ProbeSet], length: Callable[[str], int]) -> str:
    difference = length_difference([probe for each in sets for probe in each.probes], length)
    return f"{difference.mean:+.2f} ({difference.largest:.2f})"
