"""BiomedCLIP and other repositories of open_clip: open_clip_config.json beside open_clip_model.safetensors.

The towers are those of transformers, filled with open_clip's tensors, so neither open_clip nor timm nor torchvision is
needed, and nothing is looked up on a hub (open_clip itself asks there for the sizes of a BERT). Images go through
CLIP's or timm's plain vision transformer, texts through CLIP's text transformer or a BERT.
Source: https://github.com/mlfoundations/open_clip; Zhang et al. 2023 (BiomedCLIP).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import nn
from transformers import BertTokenizer, CLIPTokenizer

from evaluation.embedders.clean_texts import clean_text
from evaluation.embedders.dual_encoder import ALL_KINDS, DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.loading import compute_dtype, count_parameters, dtype_name
from evaluation.embedders.networks.bert import build_bert
from evaluation.embedders.networks.clip_names import image_tensors, text_tensors
from evaluation.embedders.networks.clip_towers import build_clip_image_tower, build_clip_text_tower
from evaluation.embedders.networks.from_tensors import Tensors, below, extent, fill, read_tensors, unit_rows
from evaluation.embedders.networks.plain_vit import build_vit, vit_tensors
from evaluation.embedders.open_clip_layout import ImageTower, OpenClipLayout, TextTower, read_layout
from evaluation.embedders.safety.repository import OPEN_CLIP_CONFIG
from evaluation.embedders.text_tokens import TextTokens, TokenTextSide, read_tokenizer
from evaluation.errors import ModelInvalid
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily

MODEL_TYPE = "medboard-open-clip"
WEIGHT_NAMES = ("open_clip_model.safetensors", "model.safetensors")

_UNUSED = ("logit_scale", "logit_bias", "attn_mask", "text.attn_mask", "text.transformer.embeddings.position_ids")
_TIMM_HEAD = {"head.proj.weight": "projection.weight"}
_UNUSED_BELOW = "text.transformer.pooler."


class OpenClipImageNetwork(nn.Module):
    """Pictures (n, 3, side, side) to vectors (n, dimension)."""

    def __init__(self, tensors: Tensors, layout: OpenClipLayout) -> None:
        super().__init__()
        self.projection: nn.Linear | None = None
        if layout.image_tower is ImageTower.CLIP:
            self.encoder: Any = build_clip_image_tower(
                below(tensors, "encoder."), activation=layout.activation, head_width=layout.image_head_width
            )
        else:
            self.encoder = build_vit(below(tensors, "encoder."))
            dimension, width = (extent(tensors, "projection.weight", axis) for axis in (0, 1))
            self.projection = nn.Linear(width, dimension, bias=False)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """CLIP's own projection, or the first state of a plain transformer projected."""
        if self.projection is None:
            vectors: torch.Tensor = self.encoder(pixel_values=pixels).image_embeds
        else:
            vectors = self.projection(self.encoder(pixel_values=pixels).last_hidden_state[:, 0])
        return vectors


class OpenClipTextNetwork(nn.Module):
    """Tokens to vectors (n, dimension)."""

    def __init__(self, tensors: Tensors, layout: OpenClipLayout) -> None:
        super().__init__()
        self.projection: nn.Module | None = None
        if layout.text_tower is TextTower.CLIP:
            self.encoder: Any = build_clip_text_tower(
                below(tensors, "encoder."), activation=layout.activation, heads=layout.text_heads
            )
        else:
            self.encoder = build_bert(below(tensors, "encoder."))
            self.projection = _text_projection(tensors)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """CLIP's own projection at the end mark, or the first state of a BERT projected."""
        output = self.encoder(input_ids=tokens, attention_mask=mask)
        if self.projection is None:
            vectors: torch.Tensor = output.text_embeds
        else:
            vectors = self.projection(output.last_hidden_state[:, 0])
        return vectors


class OpenClipTowers(TokenTextSide):
    """Both encoders; every vector has unit length."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig, family: EmbedderFamily) -> None:
        self._layout = layout = read_layout(folder)
        self._dtype, self._device = compute_dtype(device, config), device
        image, text = open_clip_tensors(read_tensors(folder, names=WEIGHT_NAMES), layout)
        placing: Any = {"folder": folder, "dtype": self._dtype, "device": device}
        self._image = fill(OpenClipImageNetwork(image, layout), image, **placing)
        self._text = fill(OpenClipTextNetwork(text, layout), text, **placing)
        _require_fitting(layout, self._image.encoder.config, self._text.encoder.config)
        tokenizer = (
            read_tokenizer(BertTokenizer, folder, files=("vocab.txt",))
            if layout.text_tower is TextTower.BERT
            else read_tokenizer(CLIPTokenizer, folder, files=("vocab.json", "merges.txt"))
        )
        self._tokens = TextTokens(tokenizer, max_tokens=layout.max_text_tokens, device=device, prepare=clean_text)
        self.description = ModelDescription(
            family=family,
            architecture=f"open_clip: {layout.image_tower} and {layout.text_tower}",
            dimension=_dimension(text),
            parameters=count_parameters(self._image) + count_parameters(self._text),
            kinds=ALL_KINDS,
            encode_config=config.described(
                image_pixels=layout.squares.pixels,
                max_text_tokens=layout.max_text_tokens,
                dtype=dtype_name(self._dtype),
            ),
        )

    @torch.inference_mode()
    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit vectors of images, shape (len(images), dimension)."""
        pixels = self._layout.squares.tensors(images).to(device=self._device, dtype=self._dtype)
        return unit_rows(self._image(pixels))


def load_open_clip(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a repository of open_clip.

    Raises:
        ModelInvalid: files are missing or damaged, or weights do not fit.
        ModelUnsupported: the network is not one of those above.
    """
    return DualEncoder(OpenClipTowers(folder, device=device, config=config, family=EmbedderFamily.OPEN_CLIP))


def open_clip_tensors(
    tensors: Tensors, layout: OpenClipLayout
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """The tensors of the image network and of the text network; what neither has stays with the texts' and is refused."""
    used = {
        name: tensor for name, tensor in tensors.items() if name not in _UNUSED and not name.startswith(_UNUSED_BELOW)
    }
    visual = below(used, "visual.")
    image = image_tensors(visual) if layout.image_tower is ImageTower.CLIP else vit_tensors(below(visual, "trunk."))
    image = _under_encoder(image)
    if layout.image_tower is ImageTower.TIMM:
        beside = {name: tensor for name, tensor in visual.items() if not name.startswith("trunk.")}
        image |= {_TIMM_HEAD.get(name, name): tensor for name, tensor in beside.items()}
    return image, _text_tensors({name: t for name, t in used.items() if not name.startswith("visual.")}, layout)


def _require_fitting(layout: OpenClipLayout, image: Any, text: Any) -> None:
    """Refuse pictures and texts of other sizes than the towers have places for.

    Raises:
        ModelInvalid: naming both sizes.
    """
    pixels, most = layout.squares.pixels, int(text.max_position_embeddings)
    if image.image_size != pixels:
        raise ModelInvalid(f"{OPEN_CLIP_CONFIG}: image_size is {pixels}, and the weights are for {image.image_size}.")
    if layout.max_text_tokens > most:
        raise ModelInvalid(
            f"{OPEN_CLIP_CONFIG}: context_length is {layout.max_text_tokens:,}, and the weights have {most:,} places."
        )


def _text_tensors(tensors: Tensors, layout: OpenClipLayout) -> dict[str, torch.Tensor]:
    if layout.text_tower is TextTower.CLIP:
        # A text tower of its own lies below `text.`; in the older form its tensors lie at the top.
        return _under_encoder(text_tensors({name.removeprefix("text."): t for name, t in tensors.items()}))
    text = _under_encoder(below(tensors, "text.transformer."))
    text |= {f"projection.{name}": t for name, t in below(tensors, "text.proj.").items()}
    return text | {name: t for name, t in tensors.items() if not name.startswith(("text.transformer.", "text.proj."))}


def _under_encoder(tensors: Tensors) -> dict[str, torch.Tensor]:
    return {f"encoder.{name}": tensor for name, tensor in tensors.items()}


def _text_projection(tensors: Tensors) -> nn.Module:
    """None, one matrix, or two with a GELU between, as the tensors say; none has biases."""
    if "projection.0.weight" in tensors:
        hidden, width = (extent(tensors, "projection.0.weight", axis) for axis in (0, 1))
        dimension = extent(tensors, "projection.2.weight", 0)
        return nn.Sequential(nn.Linear(width, hidden, bias=False), nn.GELU(), nn.Linear(hidden, dimension, bias=False))
    if "projection.weight" in tensors:
        dimension, width = (extent(tensors, "projection.weight", axis) for axis in (0, 1))
        return nn.Linear(width, dimension, bias=False)
    return nn.Identity()


def _dimension(text: Tensors) -> int:
    names = ("encoder.text_projection.weight", "projection.2.weight", "projection.weight")
    name = next((name for name in names if name in text), "encoder.embeddings.word_embeddings.weight")
    return extent(text, name, 1 if name.startswith("encoder.embeddings") else 0)
