"""Loading the families on Qwen's vision-language models: they differ in how a prompt is written, and in nothing else."""

from collections.abc import Callable, Mapping
from pathlib import Path

from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.qwen3_vl import Qwen3VlFormat
from evaluation.embedders.qwen_vl import PromptFormat, QwenVlEmbedder
from evaluation.embedders.rzen_embed import RzenEmbedFormat
from evaluation.embedders.vlm2vec import Vlm2VecFormat
from evaluation.vocabulary import EmbedderFamily

_FORMATS: Mapping[EmbedderFamily, Callable[[EncodeConfig], PromptFormat]] = {
    EmbedderFamily.QWEN3_VL: Qwen3VlFormat,
    EmbedderFamily.QWEN2_VL: Vlm2VecFormat,
    EmbedderFamily.RZEN_EMBED: RzenEmbedFormat,
}


def load_qwen_vl(
    folder: Path, *, device: str, config: EncodeConfig, adapter_folder: Path | None = None
) -> QwenVlEmbedder:
    """Load a repository of the config's family, with the adapter where one is given.

    Raises:
        ModelInvalid: files are missing, damaged or incomplete.
        AdapterMismatch: the adapter does not fit.
    """
    prompt_format = _FORMATS[config.family](config)
    return QwenVlEmbedder(
        folder, prompt_format=prompt_format, adapter_folder=adapter_folder, device=device, config=config
    )
