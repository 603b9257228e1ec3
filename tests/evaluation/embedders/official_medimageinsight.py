"""A small MedImageInsight checkpoint of random weights under the official names."""

import json
from pathlib import Path

import torch

from tests.evaluation.embedders.official_networks import Random, State, convert_tiny, write_byte_pairs

WIDTHS, DEPTHS, HEAD, WINDOW = (32, 32, 64, 64), (1, 1, 2, 1), 32, 12
KERNELS, STRIDES = (7, 3, 3, 3), (4, 2, 2, 2)
WIDTH, LAYERS, DIMENSION, POSITIONS = 128, 2, 20, 77
START, END = "<|startoftext|>", "<|endoftext|>"
WORDS = 2 * 256 + 2


def block_state(random: Random, name: str, attention: str, width: int) -> State:
    state = {}
    for conv in ("conv1", "conv2"):
        state |= {
            f"{name}.{conv}.fn.dw.weight": random.weight(width, 1, 3, 3),
            f"{name}.{conv}.fn.dw.bias": random.vector(width),
        }
    state |= random.norm(f"{name}.{attention}.norm", width) | random.norm(f"{name}.ffn.norm", width)
    state |= random.linear(f"{name}.{attention}.fn.qkv", 3 * width, width)
    state |= random.linear(f"{name}.{attention}.fn.proj", width, width)
    state |= random.linear(f"{name}.ffn.fn.net.fc1", 4 * width, width)
    return state | random.linear(f"{name}.ffn.fn.net.fc2", width, 4 * width)


def official_state() -> State:
    random = Random(8)
    state = {
        "logit_scale": torch.tensor(4.6),
        "image_projection": random.weight(WIDTHS[-1], DIMENSION),
        "lang_projection": random.weight(WIDTH, DIMENSION),
        "lang_encoder.token_embedding.weight": random.vector(WORDS, WIDTH),
        "lang_encoder.positional_embedding": random.vector(POSITIONS, WIDTH),
        **random.norm("lang_encoder.ln_final", WIDTH),
        **random.norm("image_encoder.norms", WIDTHS[-1]),
    }
    for layer in range(LAYERS):
        name = f"lang_encoder.resblocks.{layer}"
        state |= {
            f"{name}.attn.in_proj_weight": random.weight(3 * WIDTH, WIDTH),
            f"{name}.attn.in_proj_bias": random.vector(3 * WIDTH),
            **random.linear(f"{name}.attn.out_proj", WIDTH, WIDTH),
            **random.norm(f"{name}.ln_1", WIDTH),
            **random.norm(f"{name}.ln_2", WIDTH),
            **random.linear(f"{name}.mlp.c_fc", 4 * WIDTH, WIDTH),
            **random.linear(f"{name}.mlp.c_proj", WIDTH, 4 * WIDTH),
        }
    channels = 3
    for stage, (width, depth) in enumerate(zip(WIDTHS, DEPTHS, strict=True)):
        name = f"image_encoder.convs.{stage}"
        state |= {
            f"{name}.proj.weight": random.weight(width, channels, KERNELS[stage], KERNELS[stage]),
            f"{name}.proj.bias": random.vector(width),
            **random.norm(f"{name}.norm", channels if stage else width),
        }
        for block in range(depth):
            name = f"image_encoder.blocks.{stage}.{block}"
            state |= block_state(random, f"{name}.spatial_block", "window_attn", width)
            state |= block_state(random, f"{name}.channel_block", "channel_attn", width)
        channels = width
    return state


def convert_medimageinsight(base: Path) -> Path:
    """The converted folder; the official file lies beside it."""
    tokenizer = write_byte_pairs(base / "tokenizer", (START, END), end_of_word="</w>")
    settings = {"bos_token": START, "eos_token": END, "unk_token": END, "pad_token": END, "model_max_length": 77}
    (tokenizer / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CLIPTokenizer", **settings}))
    return convert_tiny("medimageinsight", official_state(), base / "official", tokenizer=tokenizer)
