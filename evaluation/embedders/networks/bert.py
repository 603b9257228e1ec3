"""BERT encoders built from their tensors, for systems that use one as their text tower."""

from pathlib import Path

from transformers import BertConfig, BertModel

from evaluation.embedders.loading import loading_faults
from evaluation.embedders.networks.from_tensors import Tensors, count_numbered, extent

_HEAD_WIDTH = 64


def build_bert(tensors: Tensors) -> BertModel:
    """The encoder without its pooler that these tensors fill, with names as in transformers' BertModel.

    Heads are 64 wide, as in every published BERT from `base` up.

    Raises:
        ModelInvalid: a tensor is missing.
    """
    words = "embeddings.word_embeddings.weight"
    width = extent(tensors, words, 1)
    config = BertConfig(
        vocab_size=extent(tensors, words, 0),
        hidden_size=width,
        num_hidden_layers=count_numbered(tensors, "encoder.layer."),
        num_attention_heads=max(1, width // _HEAD_WIDTH),
        intermediate_size=extent(tensors, "encoder.layer.0.intermediate.dense.weight", 0),
        max_position_embeddings=extent(tensors, "embeddings.position_embeddings.weight", 0),
        type_vocab_size=extent(tensors, "embeddings.token_type_embeddings.weight", 0),
    )
    with loading_faults(Path("the text encoder")):
        return BertModel(config, add_pooling_layer=False)
