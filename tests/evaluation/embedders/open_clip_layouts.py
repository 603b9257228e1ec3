"""Small random checkpoints under open_clip's and OpenAI's names, and their forward passes written out from the papers."""

import math

import torch
from torch.nn import functional

from tests.evaluation.embedders.official_networks import Random, State

WIDTH, LAYERS, INNER = 128, 2, 192  # heads of 64
CLIP_MEAN, CLIP_DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


def clip_blocks(random: Random, prefix: str, width: int = WIDTH) -> State:
    state: State = {}
    for layer in range(LAYERS):
        block = f"{prefix}transformer.resblocks.{layer}"
        state |= random.norm(f"{block}.ln_1", width) | random.norm(f"{block}.ln_2", width)
        state[f"{block}.attn.in_proj_weight"] = random.weight(3 * width, width)
        state[f"{block}.attn.in_proj_bias"] = random.vector(3 * width)
        state |= random.linear(f"{block}.attn.out_proj", width, width)
        state |= random.linear(f"{block}.mlp.c_fc", INNER, width) | random.linear(f"{block}.mlp.c_proj", width, INNER)
    return state


def clip_image_state(random: Random, *, pixels: int, patch: int, dimension: int) -> State:
    return {
        "visual.class_embedding": random.vector(WIDTH),
        "visual.conv1.weight": random.weight(WIDTH, 3, patch, patch),
        "visual.positional_embedding": random.vector((pixels // patch) ** 2 + 1, WIDTH),
        **random.norm("visual.ln_pre", WIDTH),
        **random.norm("visual.ln_post", WIDTH),
        **clip_blocks(random, "visual."),
        "visual.proj": random.weight(WIDTH, dimension),
    }


def clip_text_state(random: Random, *, words: int, tokens: int, dimension: int, prefix: str = "") -> State:
    return {
        f"{prefix}token_embedding.weight": random.vector(words, WIDTH),
        f"{prefix}positional_embedding": random.vector(tokens, WIDTH),
        **random.norm(f"{prefix}ln_final", WIDTH),
        **clip_blocks(random, prefix),
        f"{prefix}text_projection": random.weight(WIDTH, dimension),
    }


def timm_image_state(random: Random, *, pixels: int, patch: int, dimension: int) -> State:
    state: State = {
        "visual.trunk.cls_token": random.vector(1, 1, WIDTH),
        "visual.trunk.pos_embed": random.vector(1, (pixels // patch) ** 2 + 1, WIDTH),
        "visual.trunk.patch_embed.proj.weight": random.weight(WIDTH, 3, patch, patch),
        "visual.trunk.patch_embed.proj.bias": random.vector(WIDTH),
        **random.norm("visual.trunk.norm", WIDTH),
        "visual.head.proj.weight": random.weight(dimension, WIDTH),
    }
    for layer in range(LAYERS):
        block = f"visual.trunk.blocks.{layer}"
        state |= random.norm(f"{block}.norm1", WIDTH) | random.norm(f"{block}.norm2", WIDTH)
        state |= random.linear(f"{block}.attn.qkv", 3 * WIDTH, WIDTH)
        state |= random.linear(f"{block}.attn.proj", WIDTH, WIDTH)
        state |= random.linear(f"{block}.mlp.fc1", INNER, WIDTH) | random.linear(f"{block}.mlp.fc2", WIDTH, INNER)
    return state


def attend(states: torch.Tensor, joined: State, out: State, *, heads: int, causal: bool) -> torch.Tensor:
    """softmax(q k / sqrt(width of a head)) v in each head, then the last matrix; `states` is (length, width)."""
    query, key, value = (states @ joined["weight"].T + joined["bias"]).chunk(3, dim=1)
    found = []
    for head in range(heads):
        part = slice(head * states.shape[1] // heads, (head + 1) * states.shape[1] // heads)
        scores = query[:, part] @ key[:, part].T / math.sqrt(states.shape[1] // heads)
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
        found.append(scores.softmax(dim=1) @ value[:, part])
    return torch.cat(found, dim=1) @ out["weight"].T + out["bias"]


def _part(state: State, name: str) -> State:
    return {key.removeprefix(f"{name}."): tensor for key, tensor in state.items() if key.startswith(f"{name}.")}


def _norm(state: State, name: str, states: torch.Tensor, epsilon: float) -> torch.Tensor:
    return functional.layer_norm(states, states.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"], epsilon)


def clip_transformer(state: State, prefix: str, states: torch.Tensor, *, quick: bool, causal: bool) -> torch.Tensor:
    for layer in range(LAYERS):
        block = _part(state, f"{prefix}transformer.resblocks.{layer}")
        joined = {"weight": block["attn.in_proj_weight"], "bias": block["attn.in_proj_bias"]}
        inner = _norm(block, "ln_1", states, 1e-5)
        states = states + attend(
            inner, joined, _part(block, "attn.out_proj"), heads=states.shape[1] // 64, causal=causal
        )
        inner = functional.linear(_norm(block, "ln_2", states, 1e-5), block["mlp.c_fc.weight"], block["mlp.c_fc.bias"])
        inner = inner * torch.sigmoid(1.702 * inner) if quick else functional.gelu(inner)
        states = states + functional.linear(inner, block["mlp.c_proj.weight"], block["mlp.c_proj.bias"])
    return states


def clip_image_forward(state: State, picture: torch.Tensor, *, quick: bool) -> torch.Tensor:
    """One picture, (3, side, side)."""
    patch = state["visual.conv1.weight"].shape[-1]
    patches = functional.conv2d(picture[None], state["visual.conv1.weight"], stride=patch)[0].flatten(1).T
    states = torch.cat([state["visual.class_embedding"][None], patches]) + state["visual.positional_embedding"]
    states = _norm(state, "visual.ln_pre", states, 1e-5)
    states = clip_transformer(state, "visual.", states, quick=quick, causal=False)
    return _norm(state, "visual.ln_post", states[0], 1e-5) @ state["visual.proj"]


def clip_text_forward(state: State, tokens: list[int], *, quick: bool, prefix: str = "") -> torch.Tensor:
    """The state at the end mark, which is the last token."""
    states = state[f"{prefix}token_embedding.weight"][tokens] + state[f"{prefix}positional_embedding"][: len(tokens)]
    states = clip_transformer(state, prefix, states, quick=quick, causal=True)
    return _norm(state, f"{prefix}ln_final", states[-1], 1e-5) @ state[f"{prefix}text_projection"]


def timm_image_forward(state: State, picture: torch.Tensor) -> torch.Tensor:
    """One picture, (3, side, side), to the projected first state."""
    trunk = _part(state, "visual.trunk")
    patch = trunk["patch_embed.proj.weight"].shape[-1]
    patches = functional.conv2d(
        picture[None], trunk["patch_embed.proj.weight"], trunk["patch_embed.proj.bias"], stride=patch
    )[0]
    states = torch.cat([trunk["cls_token"][0], patches.flatten(1).T]) + trunk["pos_embed"][0]
    for layer in range(LAYERS):
        block = _part(trunk, f"blocks.{layer}")
        inner = _norm(block, "norm1", states, 1e-6)
        states = states + attend(
            inner, _part(block, "attn.qkv"), _part(block, "attn.proj"), heads=states.shape[1] // 64, causal=False
        )
        inner = functional.linear(_norm(block, "norm2", states, 1e-6), block["mlp.fc1.weight"], block["mlp.fc1.bias"])
        states = states + functional.linear(functional.gelu(inner), block["mlp.fc2.weight"], block["mlp.fc2.bias"])
    return state["visual.head.proj.weight"] @ _norm(trunk, "norm", states[0], 1e-6)
