"""A CLIP checkpoint of a real model's shape and random weights, so that both sides run the same network."""

import json
from pathlib import Path

import torch
from transformers import CLIPConfig, CLIPModel

from evaluation.embedders.tiny import write_tiny_clip

IMAGE_SIZE = 224
_WIDTH, _LAYERS, _HEADS = 256, 6, 4


def write_random_clip(folder: Path, *, seed: int = 0) -> None:
    """Write a CLIP of 224 px, patches of 32 px, 6 layers of width 256 in each tower, with a tokenizer of bytes."""
    write_tiny_clip(folder, seed)
    small = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tower = {
        "hidden_size": _WIDTH,
        "intermediate_size": 4 * _WIDTH,
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": _HEADS,
        "projection_dim": _WIDTH,
    }
    config = CLIPConfig(
        text_config=small["text_config"] | tower,
        vision_config=small["vision_config"] | tower | {"image_size": IMAGE_SIZE, "patch_size": 32},
        projection_dim=_WIDTH,
    )
    torch.manual_seed(seed)
    CLIPModel(config).to(torch.float32).save_pretrained(folder, safe_serialization=True)
    path = folder / "preprocessor_config.json"
    processor = json.loads(path.read_text(encoding="utf-8"))
    processor["crop_size"] = {"height": IMAGE_SIZE, "width": IMAGE_SIZE}
    processor["size"] = {"shortest_edge": IMAGE_SIZE}
    path.write_text(json.dumps(processor), encoding="utf-8")
