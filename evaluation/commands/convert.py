"""`convert` turns the official pickle of a named system into a safetensors folder, for whoever runs this board."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evaluation.conversion.registry import find_conversion


def convert(
    system: Annotated[str, typer.Argument(help="A system of 'models' that has a conversion.")],
    *,
    file: Annotated[Path, typer.Option("--file", help="The official file, under its official name.")],
    sha256: Annotated[str, typer.Option("--sha256", help="Its sha256, from a source you trust.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to make.")],
    tokenizer: Annotated[
        Path | None, typer.Option("--tokenizer", help="Folder of the tokenizer's files, where the system needs one.")
    ] = None,
    second_file: Annotated[
        Path | None, typer.Option("--second-file", help="The second official file, where the system has two.")
    ] = None,
    second_sha256: Annotated[str, typer.Option("--second-sha256", help="Its sha256.")] = "",
) -> None:
    """Convert an official checkpoint; 'run --model FOLDER' then evaluates it."""
    # Here, so that the other commands do not load torch.
    from evaluation.conversion.writing import OfficialFile, convert_file  # noqa: PLC0415

    second = None if second_file is None else OfficialFile(second_file, second_sha256)
    convert_file(find_conversion(system), file=file, sha256=sha256, out=out, tokenizer=tokenizer, second=second)
    Console().print(f"{system}: written to {out}", markup=False, highlight=False, soft_wrap=True)
