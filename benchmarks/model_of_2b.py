"""A model of random weights in the shape of Qwen3-VL-Embedding-2B: what it says means nothing, what it costs is real."""

from pathlib import Path

import torch

from evaluation.embedders.tiny import write_random_qwen3_vl

_TEXT = {
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 5_000_000,
        "mrope_section": [24, 20, 20],
        "mrope_interleaved": True,
    },
}
_VISION = {
    "depth": 24,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_heads": 16,
    "num_position_embeddings": 2304,
    "deepstack_visual_indexes": [5, 11, 17],
}


def write_model_of_2b(folder: Path, *, seed: int, device: str) -> None:
    """Write its repository, in bfloat16; the weights are drawn on the device."""
    write_random_qwen3_vl(folder, seed, text=_TEXT, vision=_VISION, dtype=torch.bfloat16, device=device)
