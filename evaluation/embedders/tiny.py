"""Writers of tiny repositories with random weights, complete and loadable like real ones.

They exercise the whole path of a family in well under a second and know nothing about medicine. The same seed gives
the same bytes. Tokenizers read bytes, so every text is distinct without a vocabulary from elsewhere.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    CLIPConfig,
    CLIPModel,
    PreTrainedTokenizerFast,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    SiglipConfig,
    SiglipModel,
)

_WIDTH = 32
_IMAGE_SIZE = 64
_PATCH_SIZE = 16
_TOWER = {
    "hidden_size": _WIDTH,
    "intermediate_size": 2 * _WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
_SPREAD = 0.2
_RANK = 4
_ADAPTED = ("q_proj", "v_proj")
_START, _END = "<|startoftext|>", "<|endoftext|>"
_TURN_END = "<|im_end|>"
_QWEN_ROPE = {"rope_type": "default", "rope_theta": 5_000_000, "mrope_interleaved": True}
_QWEN_MARKS = ("<|im_start|>", _TURN_END, "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")


def write_chance(folder: Path, *, dimension: int = 64, seed: int = 0) -> None:
    """Write a repository of the embedder that guesses."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "config.json", {"model_type": "medboard-chance", "dimension": dimension, "seed": seed})


def write_tiny_clip(folder: Path, seed: int, *, text_length: int = 77) -> None:
    """Write a CLIP repository of random weights: 32 dimensions, 64 px, texts of `text_length` tokens, one a byte."""
    tokenizer = _byte_tokenizer((_START, _END), starts_with=_START, ends_with=_END)
    start, end = tokenizer.token_to_id(_START), tokenizer.token_to_id(_END)
    config = CLIPConfig(
        text_config={
            **_TOWER,
            "vocab_size": tokenizer.get_vocab_size(),
            "max_position_embeddings": text_length,
            "bos_token_id": start,
            "eos_token_id": end,
            "pad_token_id": end,
            "initializer_range": _SPREAD,
            "projection_dim": _WIDTH,
        },
        vision_config={
            **_TOWER,
            "image_size": _IMAGE_SIZE,
            "patch_size": _PATCH_SIZE,
            "initializer_range": _SPREAD,
            "projection_dim": _WIDTH,
        },
        projection_dim=_WIDTH,
    )
    _save(CLIPModel, config, folder, seed)
    _save_tokenizer(tokenizer, folder, bos_token=_START, eos_token=_END, pad_token=_END, model_max_length=text_length)
    _write_json(
        folder / "preprocessor_config.json",
        {
            "image_processor_type": "CLIPImageProcessor",
            "do_center_crop": True,
            "crop_size": {"height": _IMAGE_SIZE, "width": _IMAGE_SIZE},
            "do_resize": True,
            "size": {"shortest_edge": _IMAGE_SIZE},
            "resample": 3,
            "do_normalize": True,
            "image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711],
            "do_convert_rgb": True,
        },
    )


def write_tiny_siglip(folder: Path, seed: int, *, text_length: int = 64) -> None:
    """Write a SigLIP repository of random weights: 32 dimensions, 64 px, texts of `text_length` tokens, one a byte."""
    tokenizer = _byte_tokenizer((_END,), ends_with=_END)
    end = tokenizer.token_to_id(_END)
    config = SiglipConfig(
        text_config={
            **_TOWER,
            "vocab_size": tokenizer.get_vocab_size(),
            "max_position_embeddings": text_length,
            "projection_size": _WIDTH,
            "bos_token_id": end,
            "eos_token_id": end,
            "pad_token_id": end,
        },
        vision_config={**_TOWER, "image_size": _IMAGE_SIZE, "patch_size": _PATCH_SIZE},
    )
    _save(SiglipModel, config, folder, seed)
    _save_tokenizer(tokenizer, folder, eos_token=_END, pad_token=_END, model_max_length=text_length)
    _write_json(
        folder / "preprocessor_config.json",
        {
            "image_processor_type": "SiglipImageProcessor",
            "do_resize": True,
            "size": {"height": _IMAGE_SIZE, "width": _IMAGE_SIZE},
            "resample": 3,
            "do_rescale": True,
            "do_normalize": True,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
            "do_convert_rgb": True,
        },
    )


def write_tiny_qwen3_vl(folder: Path, seed: int) -> None:
    """Write a Qwen3-VL repository of random weights with the real one's marks: 32 dimensions, patches of 16 px."""
    text = {
        **_TOWER,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "initializer_range": _SPREAD,
        "rope_parameters": {**_QWEN_ROPE, "mrope_section": [4, 2, 2]},
    }
    vision = {
        "depth": 2,
        "hidden_size": _WIDTH,
        "intermediate_size": 2 * _WIDTH,
        "num_heads": 2,
        "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0, 1],
        "initializer_range": _SPREAD,
    }
    write_random_qwen3_vl(folder, seed, text=text, vision=vision)


def write_random_qwen3_vl(
    folder: Path,
    seed: int,
    *,
    text: Mapping[str, Any],
    vision: Mapping[str, Any],
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> None:
    """Write a Qwen3-VL repository of random weights, of any size.

    Args:
        folder: made if it does not exist.
        seed: of the weights.
        text: sizes of the language model, as in Qwen3VLTextConfig; what the tokenizer decides is added.
        vision: sizes of the image tower, as in Qwen3VLVisionConfig; patches have 16 px.
        dtype: of the weights.
        device: where they are drawn.
    """
    tokenizer = _byte_tokenizer((_END, *_QWEN_MARKS))
    config = Qwen3VLConfig(
        text_config={**text, "vocab_size": tokenizer.get_vocab_size(), "max_position_embeddings": 32_768},
        vision_config={**vision, "out_hidden_size": text["hidden_size"], "patch_size": _PATCH_SIZE},
        image_token_id=tokenizer.token_to_id("<|image_pad|>"),
        video_token_id=tokenizer.token_to_id("<|video_pad|>"),
        vision_start_token_id=tokenizer.token_to_id("<|vision_start|>"),
        vision_end_token_id=tokenizer.token_to_id("<|vision_end|>"),
        tie_word_embeddings=True,
    )
    _save(Qwen3VLForConditionalGeneration, config, folder, seed, dtype=dtype, device=device)
    _save_tokenizer(tokenizer, folder, eos_token=_TURN_END, pad_token=_END, model_max_length=32_768)
    _write_json(
        folder / "preprocessor_config.json",
        {
            "image_processor_type": "Qwen2VLImageProcessorFast",
            "size": {"shortest_edge": 4_096, "longest_edge": 1_843_200},
            "patch_size": _PATCH_SIZE,
            "temporal_patch_size": 2,
            "merge_size": 2,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
        },
    )


def write_tiny_qwen3_vl_adapter(
    folder: Path, base_folder: Path, seed: int, *, base_name: str = "demo/qwen3-vl-tiny"
) -> None:
    """Write a LoRA adapter of random weights for the attention layers of the model in `base_folder`.

    Keys are those of an adapter trained on the whole generating model, whose names are longer than the embedder's.
    """
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, (rows, columns) in _attention_shapes(base_folder).items():
        tensors[f"base_model.model.{name}.lora_A.weight"] = _random((_RANK, columns), generator)
        tensors[f"base_model.model.{name}.lora_B.weight"] = _random((rows, _RANK), generator)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    _write_json(
        folder / "adapter_config.json",
        {
            "peft_type": "LORA",
            "task_type": "FEATURE_EXTRACTION",
            "base_model_name_or_path": base_name,
            "r": _RANK,
            "lora_alpha": 2 * _RANK,
            "lora_dropout": 0.0,
            "bias": "none",
            "target_modules": list(_ADAPTED),
            "inference_mode": True,
        },
    )


def _attention_shapes(base_folder: Path) -> dict[str, list[int]]:
    """The layers that the tiny adapter changes, with (rows, columns) of their weights."""
    shapes = {}
    with safe_open(base_folder / "model.safetensors", framework="pt") as weights:
        for key in sorted(weights.keys()):
            module = key.removesuffix(".weight")
            if "language_model.layers." in module and module.endswith(_ADAPTED):
                shapes[module] = weights.get_slice(key).get_shape()
    return shapes


def _random(shape: tuple[int, int], generator: torch.Generator) -> torch.Tensor:
    return torch.randn(shape, generator=generator) * _SPREAD


def _save(
    model_class: Any,
    config: Any,
    folder: Path,
    seed: int,
    *,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> None:
    with torch.random.fork_rng(devices=[]), torch.device(device):
        torch.manual_seed(seed)
        model = model_class(config)
    folder.mkdir(parents=True, exist_ok=True)
    model.to(dtype).save_pretrained(folder, safe_serialization=True)
    (folder / "generation_config.json").unlink(missing_ok=True)


def _byte_tokenizer(marks: tuple[str, ...], *, starts_with: str = "", ends_with: str = "") -> Tokenizer:
    """One token a byte, and the given marks after them."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={symbol: number for number, symbol in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks])
    edges = [mark for mark in (starts_with, ends_with) if mark]
    if edges:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=" ".join(part for part in (starts_with, "$A", ends_with) if part),
            special_tokens=[(mark, tokenizer.token_to_id(mark)) for mark in edges],
        )
    return tokenizer


def _save_tokenizer(tokenizer: Tokenizer, folder: Path, **settings: Any) -> None:
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="right", **settings).save_pretrained(folder)


def _write_json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")
