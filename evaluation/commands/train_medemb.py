"""`train medemb`: an adapter on a vision-language embedding model, on one device or many."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evaluation.embedders.determinism import prepare_determinism
from evaluation.errors import TrainingRefused

_LONGEST_WAIT = timedelta(hours=12)  # of the other processes while the first one scores the dev suite


def train_medemb_command(
    suite: Annotated[Path, typer.Option(help="Folder with Train_Data: the release, or a suite with a train split.")],
    base: Annotated[Path, typer.Option(help="Folder of the base model, such as Qwen3-VL-Embedding-2B.")],
    out: Annotated[Path, typer.Option(help="Where the adapter goes; must not exist or be empty.")],
    *,
    base_name: Annotated[str, typer.Option(help="The base's id on the hub; the folder's name if left out.")] = "",
    steps: Annotated[int, typer.Option(help="Steps of the optimizer.", min=1)] = 5_000,
    pairs: Annotated[int, typer.Option(help="Records in a batch, over all devices.", min=2)] = 1_024,
    sub_batch: Annotated[int, typer.Option(help="Records of one source together; 0 mixes all.", min=0)] = 64,
    weight: Annotated[
        list[str] | None, typer.Option(help="SOURCE=N: how often a source is seen an epoch; give it again for more.")
    ] = None,
    temperature: Annotated[float, typer.Option(help="Of the loss.", min=0.001)] = 0.02,
    mask_equivalent: Annotated[bool, typer.Option(help="Leave out clinically equivalent candidates.")] = True,
    margin: Annotated[float | None, typer.Option(help="Leave out candidates so much closer than the positive.")] = None,
    symmetric: Annotated[bool, typer.Option(help="Also find the query for each positive.")] = False,
    rank: Annotated[int, typer.Option(help="Of the adapter.", min=1)] = 32,
    alpha: Annotated[int, typer.Option(help="Of the adapter.", min=1)] = 32,
    dropout: Annotated[float, typer.Option(help="Of the adapter.", min=0, max=0.9)] = 0.05,
    dora: Annotated[bool, typer.Option(help="Train directions and lengths apart (DoRA).")] = False,
    learning_rate: Annotated[float, typer.Option(help="The highest.")] = 5e-5,
    warm_up: Annotated[int, typer.Option(help="Steps until it is reached.", min=0)] = 250,
    chunk_tokens: Annotated[int, typer.Option(help="Padded tokens through a device at once.", min=1)] = 16_384,
    kept_tokens: Annotated[
        int, typer.Option(help="Padded tokens whose states are kept; those beyond are embedded twice.", min=0)
    ] = 0,
    gradient_checkpointing: Annotated[bool, typer.Option(help="Trade time for memory within a chunk.")] = True,
    encode_config: Annotated[str, typer.Option(help="A registered encode config of the base's family.")] = "",
    dev_suite: Annotated[Path | None, typer.Option(help="A suite that is scored during training.")] = None,
    dev_every: Annotated[int, typer.Option(help="Steps between two scores; 0: at the end alone.", min=0)] = 500,
    checkpoint_every: Annotated[int, typer.Option(help="Steps between two checkpoints; 0: none.", min=0)] = 100,
    seed: Annotated[int, typer.Option(min=0)] = 42,
) -> None:
    """Train an adapter. Killed or interrupted, the same command goes on from the newest checkpoint."""
    # torch is loaded only when it is needed
    from accelerate import Accelerator, InitProcessGroupKwargs  # noqa: PLC0415 - see above

    from evaluation.commands.training_progress import TrainingProgress  # noqa: PLC0415 - see above
    from evaluation.training.adapters import AdapterSettings  # noqa: PLC0415 - see above
    from evaluation.training.dev_suite import DevSuite  # noqa: PLC0415 - see above
    from evaluation.training.loss import LossSettings  # noqa: PLC0415 - see above
    from evaluation.training.medemb import MedEmbSettings, train_medemb, work_folder  # noqa: PLC0415 - see above
    from evaluation.training.settings import TrainingSettings  # noqa: PLC0415 - see above
    from evaluation.training.sources import OrderSettings  # noqa: PLC0415 - see above
    from evaluation.training.tensorboard_log import TensorBoardLog  # noqa: PLC0415 - see above

    settings = MedEmbSettings(
        base=base,
        base_name=base_name or base.name,
        adapter=AdapterSettings(rank=rank, alpha=alpha, dropout=dropout, dora=dora),
        encode_config=encode_config,
        gradient_checkpointing=gradient_checkpointing,
        training=TrainingSettings(
            steps=steps,
            order=OrderSettings(pairs=pairs, sub_batch=sub_batch, weights=_weights(weight or []), seed=seed),
            loss=LossSettings(
                temperature=temperature, mask_equivalent=mask_equivalent, margin=margin, symmetric=symmetric
            ),
            learning_rate=learning_rate,
            warm_up=warm_up,
            chunk_tokens=chunk_tokens,
            kept_tokens=kept_tokens,
        ),
    )
    prepare_determinism()
    accelerator = Accelerator(kwargs_handlers=[InitProcessGroupKwargs(timeout=_LONGEST_WAIT)])
    console = Console(quiet=not accelerator.is_main_process)
    with (
        TrainingProgress(console, steps=steps) as progress,
        TensorBoardLog(work_folder(out) / "tensorboard", is_written=accelerator.is_main_process) as log,
    ):
        train_medemb(
            suite,
            out,
            settings=settings,
            accelerator=accelerator,
            listeners=(progress, log),
            dev=DevSuite(dev_suite) if dev_suite else None,
            dev_every=dev_every,
            checkpoint_every=checkpoint_every,
        )
    console.print(f"The adapter is in {out}.", soft_wrap=True)


def _weights(given: list[str]) -> dict[str, float]:
    weights = {}
    for text in given:
        source, _, number = text.rpartition("=")
        try:
            weights[source] = float(number)
        except ValueError as error:
            raise TrainingRefused(f"--weight {text!r} is not SOURCE=NUMBER.") from error
    return weights
