"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

SuiteOption = Annotated[Path, typer.Option("--suite", help="Folder of the suite.")]
TasksOption = Annotated[
    list[str] | None, typer.Option("--tasks", help="Only this task; give it again for more. All installed by default.")
]
OutOption = Annotated[Path, typer.Option("--out", help="Result file to write.")]
AdapterOption = Annotated[str, typer.Option("--adapter", help="Folder or hub id of a PEFT adapter.")]
DeviceOption = Annotated[str, typer.Option("--device", help="Torch device, e.g. cpu or cuda:0.")]
EncodeConfigOption = Annotated[
    str,
    typer.Option("--encode-config", help="A registered encode config of the model's family; its default if left out."),
]
StoreOption = Annotated[
    Path | None, typer.Option("--store", help="Folder of vectors kept for later runs; on a local disk.")
]
StoreBytesOption = Annotated[int, typer.Option("--store-bytes", help="The most bytes that --store may hold.", min=1)]

STORE_BYTES = 10 * 1024**3
DEFAULT_ENDPOINT = "https://huggingface.co"
