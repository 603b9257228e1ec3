"""`models` lists the systems that are known by name, and the families of models with what their repositories hold."""

from rich.console import Console
from rich.table import Table

from evaluation.embedders.encode_config import ENCODE_CONFIGS
from evaluation.embedders.systems import KnownSystem, known_systems
from evaluation.vocabulary import EmbedderFamily

UNKNOWN = "?"

_CONVERTED = "a folder written by 'convert'"
_NEEDS = {
    EmbedderFamily.CLIP: "config.json with model_type clip, safetensors, tokenizer",
    EmbedderFamily.SIGLIP: "config.json with model_type siglip, safetensors, tokenizer",
    EmbedderFamily.BLIP2: "config.json with model_type blip-2, safetensors, tokenizer",
    EmbedderFamily.QWEN3_VL: "config.json with model_type qwen3_vl, safetensors, tokenizer; with a LoRA adapter if wanted",
    EmbedderFamily.QWEN2_VL: "config.json with model_type qwen2_vl, safetensors, tokenizer; with its adapter",
    EmbedderFamily.RZEN_EMBED: "the repository of RzenEmbed",
    EmbedderFamily.OPEN_CLIP: "open_clip_config.json, safetensors, tokenizer; the open_clip extra",
    EmbedderFamily.MEDIMAGEINSIGHT: _CONVERTED,
    EmbedderFamily.BIOVIL: _CONVERTED,
    EmbedderFamily.MEDCLIP: _CONVERTED,
    EmbedderFamily.MERLIN: _CONVERTED,
    EmbedderFamily.PMC_CLIP: _CONVERTED,
    EmbedderFamily.UNIMED_CLIP: _CONVERTED,
    EmbedderFamily.SENTENCE_TRANSFORMERS: "modules.json of sentence-transformers' own modules, safetensors",
    EmbedderFamily.LITE_DUAL: "a folder written by 'train lite-dual'",
    EmbedderFamily.CHANCE: "config.json with model_type medboard-chance; or just the name 'chance'",
}


def models() -> None:
    """List the known systems, and the model families with their encode configs and what each needs."""
    console = Console()
    console.print(_systems_table())
    console.print(_families_table())
    console.print("'minilm' is the all-MiniLM-L6-v2 that comes with this program (text only).", highlight=False)


def _systems_table() -> Table:
    table = Table(title="Known systems", caption=f"{UNKNOWN}: not known for certain")
    for heading in ("system", "id", "family", "encode config", "embeds", "weights", "licence"):
        table.add_column(heading, overflow="fold")
    for heading in ("dimension", "parameters", "tokens", "pixels"):
        table.add_column(heading, justify="right", overflow="fold")
    for system in known_systems():
        table.add_row(
            system.title,
            system.id,
            system.family,
            system.encode_config,
            ", ".join(system.embeds),
            _weights(system),
            _licence(system),
            *map(_figure, (system.dimension, system.parameters, system.context_tokens, system.image_pixels)),
        )
    return table


def _families_table() -> Table:
    table = Table(title="Model families")
    for heading in ("family", "encode configs", "needs"):
        table.add_column(heading, overflow="fold")
    for family, configs in ENCODE_CONFIGS.items():
        table.add_row(family, ", ".join(config.name for config in configs), _NEEDS[family])
    return table


def _weights(system: KnownSystem) -> str:
    return f"{system.weights}: convert {system.conversion}" if system.conversion else system.weights


def _licence(system: KnownSystem) -> str:
    licence = system.licence or UNKNOWN
    return f"{licence}, gated" if system.gated else licence


def _figure(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"
