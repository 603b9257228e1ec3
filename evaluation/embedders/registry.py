"""Which family a model folder belongs to, and how to load it. Importing this module loads no framework."""

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluation.embedders.encode_config import default_encode_config
from evaluation.embedders.encode_config import encode_config as find_encode_config
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.safety.folder import check_adapter_safety, check_folder_safety
from evaluation.embedders.safety.repository import (
    OPEN_CLIP_CONFIG,
    adapter_problems,
    document_problems,
    folder_file_names,
    read_modules,
    read_object,
    safety_problems,
)
from evaluation.errors import ModelUnsupported
from evaluation.vocabulary import EmbedderFamily

__all__ = [
    "adapter_problems",
    "check_adapter_safety",
    "check_folder_safety",
    "detect_family",
    "document_problems",
    "family_of_config",
    "load_embedder",
    "safety_problems",
]

_FAMILY_OF_TYPE = {
    "clip": EmbedderFamily.CLIP,
    "siglip": EmbedderFamily.SIGLIP,
    "siglip2": EmbedderFamily.SIGLIP,
    "blip-2": EmbedderFamily.BLIP2,
    "qwen3_vl": EmbedderFamily.QWEN3_VL,
    "qwen2_vl": EmbedderFamily.QWEN2_VL,
    "medboard-chance": EmbedderFamily.CHANCE,
    "medboard-lite-dual": EmbedderFamily.LITE_DUAL,
    "medboard-biovil": EmbedderFamily.BIOVIL,
    "medboard-medimageinsight": EmbedderFamily.MEDIMAGEINSIGHT,
    "medboard-merlin": EmbedderFamily.MERLIN,
    "medboard-open-clip": EmbedderFamily.OPEN_CLIP,
    "medboard-unimed-clip": EmbedderFamily.UNIMED_CLIP,
    "medboard-pmc-clip": EmbedderFamily.PMC_CLIP,
    "medboard-medclip": EmbedderFamily.MEDCLIP,
}
_TEXT_MODULES = frozenset({"Transformer", "Pooling", "Normalize", "Dense", "LayerNorm", "Dropout", "StaticEmbedding"})
_LOADERS = {
    EmbedderFamily.CLIP: "evaluation.embedders.clip:load_clip",
    EmbedderFamily.SIGLIP: "evaluation.embedders.siglip:load_siglip",
    EmbedderFamily.BLIP2: "evaluation.embedders.blip2:load_blip2",
    EmbedderFamily.QWEN3_VL: "evaluation.embedders.qwen_vl_families:load_qwen_vl",
    EmbedderFamily.QWEN2_VL: "evaluation.embedders.qwen_vl_families:load_qwen_vl",
    EmbedderFamily.RZEN_EMBED: "evaluation.embedders.qwen_vl_families:load_qwen_vl",
    EmbedderFamily.SENTENCE_TRANSFORMERS: "evaluation.embedders.sentence_transformers:load_sentence_transformers",
    EmbedderFamily.LITE_DUAL: "evaluation.embedders.lite_dual:load_lite_dual",
    EmbedderFamily.CHANCE: "evaluation.embedders.chance:load_chance",
    EmbedderFamily.BIOVIL: "evaluation.embedders.biovil:load_biovil",
    EmbedderFamily.MEDIMAGEINSIGHT: "evaluation.embedders.medimageinsight:load_medimageinsight",
    EmbedderFamily.MERLIN: "evaluation.embedders.merlin:load_merlin",
    EmbedderFamily.OPEN_CLIP: "evaluation.embedders.open_clip:load_open_clip",
    EmbedderFamily.UNIMED_CLIP: "evaluation.embedders.unimed_clip:load_unimed_clip",
    EmbedderFamily.PMC_CLIP: "evaluation.embedders.pmc_clip:load_pmc_clip",
    EmbedderFamily.MEDCLIP: "evaluation.embedders.medclip:load_medclip",
}
_RZEN_EMBED = "rzenembed"
ADAPTABLE_FAMILIES = frozenset({EmbedderFamily.QWEN3_VL, EmbedderFamily.QWEN2_VL, EmbedderFamily.RZEN_EMBED})


def family_of_config(
    config: Mapping[str, Any], file_names: Collection[str], modules: Sequence[Any] | None
) -> EmbedderFamily:
    """The family of a repository, from its parsed config.json (`{}` where absent) and modules.json (None where absent).

    The architecture decides first: a SigLIP that also ships modules.json is loaded as SigLIP, because the
    sentence-transformers way pads its texts wrongly. RzenEmbed shares its architecture with VLM2Vec and is known by the
    name that its config.json gives.

    Raises:
        ModelUnsupported: no family matches; the message names what was found and what can be loaded.
    """
    model_type = config.get("model_type")
    family = _FAMILY_OF_TYPE.get(model_type) if isinstance(model_type, str) else None
    if family is EmbedderFamily.QWEN2_VL:
        name = config.get("_name_or_path")
        return EmbedderFamily.RZEN_EMBED if isinstance(name, str) and _RZEN_EMBED in name.lower() else family
    if family is not None:
        return family
    if OPEN_CLIP_CONFIG in file_names:
        return EmbedderFamily.OPEN_CLIP
    if modules is not None:
        _require_text_modules(modules)
        return EmbedderFamily.SENTENCE_TRANSFORMERS
    if not config and "adapter_config.json" in file_names:
        raise ModelUnsupported(
            "The repository holds an adapter without its base model; give the base model's id, and this one as its adapter."
        )
    known = ", ".join(sorted(_FAMILY_OF_TYPE))
    raise ModelUnsupported(
        f"The model type {model_type!r} cannot be loaded; known are {known}, repositories of open_clip, and text repositories with modules.json."
    )


def detect_family(folder: Path) -> EmbedderFamily:
    """The family of a model folder.

    Raises:
        ModelInvalid: the folder or one of its configuration files cannot be read.
        ModelUnsupported: no family matches.
    """
    return family_of_config(_config_document(folder), folder_file_names(folder), read_modules(folder))


def load_embedder(
    folder: Path, *, adapter_folder: Path | None = None, device: str = "cpu", encode_config: str = ""
) -> Embedder:
    """Load the model in `folder`, with the adapter in `adapter_folder` where one is given, after the safety checks.

    Args:
        folder: a model repository's files.
        adapter_folder: a PEFT LoRA adapter repository's files; for models of Qwen's vision-language kind only.
        device: a torch device such as `cpu` or `cuda:0`.
        encode_config: the name of a registered config of the model's family; "" is its system's own, or its family's first.

    Raises:
        ModelUnsafe, ModelUnsupported, ModelInvalid, AdapterMismatch.
    """
    check_folder_safety(folder)
    document = _config_document(folder)
    family = family_of_config(document, folder_file_names(folder), read_modules(folder))
    config = find_encode_config(family, encode_config) if encode_config else default_encode_config(family, document)
    module_name, _, function_name = _LOADERS[family].partition(":")
    load: Callable[..., Embedder] = getattr(import_module(module_name), function_name)
    if adapter_folder is None:
        return load(folder, device=device, config=config)
    if family not in ADAPTABLE_FAMILIES:
        raise ModelUnsupported(f"Models of the family {family} take no adapter; submit {folder.name} without one.")
    check_adapter_safety(adapter_folder)
    return load(folder, adapter_folder=adapter_folder, device=device, config=config)


def _config_document(folder: Path) -> dict[str, Any]:
    """The parsed config.json, `{}` where there is none."""
    return read_object(folder / "config.json") if "config.json" in folder_file_names(folder) else {}


def _require_text_modules(modules: Sequence[Any]) -> None:
    for module in modules:
        kind = str(module.get("type")) if isinstance(module, Mapping) else repr(module)
        if kind.rpartition(".")[2] not in _TEXT_MODULES:
            known = ", ".join(sorted(_TEXT_MODULES))
            raise ModelUnsupported(f"modules.json uses {kind}; text models are loaded from {known}.")
