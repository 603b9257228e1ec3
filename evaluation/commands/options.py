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
