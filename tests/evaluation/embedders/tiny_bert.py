"""A small random BERT as systems use one for texts, and what transformers' own class makes of a text."""

import torch
from transformers import BertConfig, BertModel, BertTokenizer

from tests.evaluation.embedders.official_networks import State

BERT_WIDTH = 128


def bert(words: int, *, seed: int = 4, positions: int = 512) -> BertModel:
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=words,
        hidden_size=BERT_WIDTH,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=positions,
        initializer_range=0.3,
    )
    return BertModel(config).eval()


def bert_state(model: BertModel, prefix: str, *, pooler: bool = False) -> State:
    """With the numbers of the positions, as older releases of transformers stored them."""
    state = {f"{prefix}{name}": t.clone() for name, t in model.state_dict().items() if pooler or "pooler" not in name}
    positions = model.config.max_position_embeddings
    return state | {f"{prefix}embeddings.position_ids": torch.arange(positions)[None]}


def tokens_of(tokenizer: BertTokenizer, text: str, most: int) -> list[int]:
    """Cut at the most tokens, with the end mark kept."""
    found = tokenizer(text)["input_ids"]
    return found if len(found) <= most else [*found[: most - 1], found[-1]]
