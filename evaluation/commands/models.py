"""`models` lists the families of models that can be evaluated, and what their repositories must hold."""

from rich.console import Console
from rich.table import Table

from evaluation.vocabulary import EmbedderFamily

_NEEDS = {
    EmbedderFamily.CLIP: ("text, image, images, volume", "config.json with model_type clip, safetensors, tokenizer"),
    EmbedderFamily.SIGLIP: (
        "text, image, images, volume",
        "config.json with model_type siglip, safetensors, tokenizer",
    ),
    EmbedderFamily.QWEN3_VL: (
        "text, image, images, volume, mixed",
        "config.json with model_type qwen3_vl, safetensors, tokenizer; with a PEFT LoRA adapter if wanted",
    ),
    EmbedderFamily.SENTENCE_TRANSFORMERS: ("text", "modules.json of sentence-transformers' own modules, safetensors"),
    EmbedderFamily.LITE_DUAL: ("text, image, images, volume", "a folder written by 'train lite-dual'"),
    EmbedderFamily.CHANCE: ("everything", "config.json with model_type medboard-chance; or just the name 'chance'"),
}


def models() -> None:
    """List the model families that can be evaluated and what each needs."""
    table = Table(title="Model families")
    for heading in ("family", "embeds", "needs"):
        table.add_column(heading, overflow="fold")
    for family, needs in _NEEDS.items():
        table.add_row(family, *needs)
    console = Console()
    console.print(table)
    console.print("'minilm' is the all-MiniLM-L6-v2 that comes with this program (text only).", highlight=False)
