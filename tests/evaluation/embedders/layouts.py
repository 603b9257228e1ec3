"""Tiny repositories of random weights in the layouts that the systems' authors publish."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import Blip2Config, Blip2ForImageTextRetrieval, Qwen2VLConfig, Qwen2VLForConditionalGeneration

from evaluation.embedders import tiny

WIDTH = 32
ADAPTED = ("q_proj", "k_proj", "v_proj", "o_proj", "down_proj")
"""Of the adapter of VLM2Vec-V2.0: what its authors' list of names finds in a Qwen2-VL model, five a layer."""


def write_json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def write_qwen2_vl(folder: Path, seed: int, *, name: str = "", tied: bool = True) -> None:
    """Qwen2-VL as published: a flat config.json, keys `model.layers.*` and `visual.*`, weights in two files.

    With `name`, the config names the repository as RzenEmbed's does.
    """
    tokenizer = tiny._byte_tokenizer((tiny._END, *tiny._QWEN_MARKS))
    number = tokenizer.token_to_id
    text = {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": WIDTH,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "initializer_range": 0.2,
        "max_position_embeddings": 32_768,
        "bos_token_id": number(tiny._END),
        "eos_token_id": number(tiny._TURN_END),
        "rms_norm_eps": 1e-6,
    }
    vision = {"depth": 2, "embed_dim": WIDTH, "hidden_size": WIDTH, "num_heads": 2, "mlp_ratio": 2, "patch_size": 14}
    marks = {
        "image_token_id": number("<|image_pad|>"),
        "video_token_id": number("<|video_pad|>"),
        "vision_start_token_id": number("<|vision_start|>"),
        "vision_end_token_id": number("<|vision_end|>"),
    }
    rope = {"rope_type": "default", "rope_theta": 1_000_000.0, "mrope_section": [2, 3, 3]}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = Qwen2VLConfig(
            text_config={**text, "rope_parameters": rope},
            vision_config={**vision, "initializer_range": 0.2},
            tie_word_embeddings=tied,
            **marks,
        )
        model = Qwen2VLForConditionalGeneration(config)
    folder.mkdir(parents=True)
    model.to(torch.bfloat16).save_pretrained(folder, max_shard_size="150KB")
    (folder / "generation_config.json").unlink()
    write_json(
        folder / "config.json",
        {
            **({"_name_or_path": name} if name else {}),
            "architectures": ["Qwen2VLForConditionalGeneration"],
            "model_type": "qwen2_vl",
            "hidden_act": "silu",
            "attention_dropout": 0.0,
            **text,
            **marks,
            "vision_token_id": number("<|vision_end|>"),
            "rope_theta": 1_000_000.0,
            "rope_scaling": {"type": "default", "rope_type": "default", "mrope_section": [2, 3, 3]},
            "sliding_window": 32_768,
            "use_sliding_window": False,
            "max_window_layers": 2,
            "tie_word_embeddings": tied,
            "torch_dtype": "bfloat16",
            "transformers_version": "4.46.3",
            "use_cache": False,
            "vision_config": {**vision, "in_chans": 3, "model_type": "qwen2_vl", "spatial_patch_size": 14},
        },
    )
    tiny._save_tokenizer(tokenizer, folder, eos_token=tiny._TURN_END, pad_token=tiny._END, model_max_length=32_768)
    write_json(
        folder / "preprocessor_config.json",
        {
            "image_processor_type": "Qwen2VLImageProcessor",
            "processor_class": "Qwen2VLProcessor",
            "min_pixels": 3_136,
            "max_pixels": 12_845_056,
            "patch_size": 14,
            "temporal_patch_size": 2,
            "merge_size": 2,
            "image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711],
        },
    )


def read_tensors(folder: Path) -> dict[str, torch.Tensor]:
    """All weights of a repository, from one file or several."""
    return {key: tensor for path in sorted(folder.glob("*.safetensors")) for key, tensor in load_file(path).items()}


def write_adapter(
    folder: Path,
    base_folder: Path,
    seed: int,
    *,
    front: str = "base_model.model.model.",
    dora: bool,
    tail: str = "",
    modules: tuple[str, ...] = ADAPTED,
) -> None:
    """An adapter of random weights for every layer's modules of the given names.

    Args:
        front: what stands before `layers.` in a key: the old layout's by default, the new one's has `language_model.`.
        dora: whether lengths are learned apart from directions.
        tail: stands before the end of a key: "" as an adapter is saved, ".default" as its running model names it.
    """
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for key, weight in read_tensors(base_folder).items():
        module = key.removesuffix(".weight")
        if module.split(".")[-1] not in modules or ".layers." not in module:
            continue
        place = front + module[module.index("layers.") :]
        rows, columns = weight.shape
        tensors[f"{place}.lora_A{tail}.weight"] = 0.2 * torch.randn(4, columns, generator=generator)
        tensors[f"{place}.lora_B{tail}.weight"] = 0.2 * torch.randn(rows, 4, generator=generator)
        if dora:
            end = f"{tail}.weight" if tail else ""
            tensors[f"{place}.lora_magnitude_vector{end}"] = 1 + torch.rand(rows, generator=generator)
    folder.mkdir(parents=True)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    write_json(
        folder / "adapter_config.json",
        {
            "alpha_pattern": {},
            "auto_mapping": None,
            "base_model_name_or_path": "Qwen/Qwen2-VL-2B-Instruct",
            "bias": "none",
            "fan_in_fan_out": False,
            "inference_mode": True,
            "init_lora_weights": "gaussian",
            "lora_alpha": 16,
            "lora_dropout": 0.1,
            "modules_to_save": None,
            "peft_type": "LORA",
            "r": 4,
            "rank_pattern": {},
            "target_modules": ["qkv_proj", "o_proj", "gate_up_proj", "down_proj", "k_proj", "q_proj", "v_proj"],
            "task_type": None,
            "use_dora": dora,
            "use_rslora": False,
        },
    )


def write_blip2(folder: Path, seed: int, *, image_token: bool) -> None:
    """BLIP-2 for image-text retrieval as published, with its two configs: of 2023, and of 2024 with an image token."""
    tokenizer = tiny._byte_tokenizer(("[PAD]", "[CLS]", "[SEP]"), starts_with="[CLS]", ends_with="[SEP]")
    size = {"hidden_size": WIDTH, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    queries = {
        **size,
        "encoder_hidden_size": WIDTH,
        "vocab_size": tokenizer.get_vocab_size(),
        "max_position_embeddings": 512,
        "pad_token_id": tokenizer.token_to_id("[PAD]"),
        "use_qformer_text_input": True,
        "initializer_range": 0.2,
    }
    vision = {**size, "image_size": 56, "patch_size": 14, "initializer_range": 0.2}
    shared = {"image_text_hidden_size": 16, "num_query_tokens": 5, "initializer_range": 0.2}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = Blip2Config(vision_config=vision, qformer_config=queries, text_config={"model_type": "opt"}, **shared)
        model = Blip2ForImageTextRetrieval(config)
        torch.nn.init.normal_(model.query_tokens, std=0.5)
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    write_json(
        folder / "config.json",
        {
            "architectures": ["Blip2ForImageTextRetrieval"],
            "model_type": "blip-2",
            **shared,
            "initializer_factor": 1.0,
            "qformer_config": {**queries, "model_type": "blip_2_qformer"},
            "text_config": {"model_type": "opt"},
            "vision_config": {**vision, "model_type": "blip_2_vision_model"},
            "torch_dtype": "float32",
            "use_decoder_only_language_model": True,
            **({"image_token_index": tokenizer.get_vocab_size() - 1} if image_token else {}),
        },
    )
    tiny._save_tokenizer(
        tokenizer, folder, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", model_max_length=512
    )
    write_json(
        folder / "preprocessor_config.json",
        {
            "image_processor_type": "BlipImageProcessor",
            "processor_class": "Blip2Processor",
            "do_resize": True,
            "size": {"height": 56, "width": 56},
            "resample": 3,
            "do_rescale": True,
            "do_normalize": True,
            "image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711],
            "do_convert_rgb": True,
        },
    )
