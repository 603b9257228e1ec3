"""Text models that ship their own modules.json, run by sentence-transformers with its own modules only."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from sentence_transformers import SentenceTransformer
from transformers import AutoModel

from evaluation.embedders.dual_encoder import DualEncoder
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.loading import (
    compute_dtype,
    count_parameters,
    dtype_name,
    loading_faults,
    require_complete,
)
from evaluation.embedders.safety.repository import read_modules
from evaluation.errors import InputUnsupported, ModelInvalid
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily, InputKind

_TEXTS_AT_ONCE = 64
_HEADS_WITHOUT_USE = ("pooler.",)


class TextTower:
    """One tower, for texts; text and instruction are embedded as parts, like in models with two towers."""

    def __init__(self, folder: Path, *, device: str, config: EncodeConfig) -> None:
        dtype = compute_dtype(device, config)
        self._model = _load(folder, device, dtype)
        dimension = self._model.get_embedding_dimension()
        if dimension is None:
            raise ModelInvalid(f"{folder.name}: its modules do not tell the dimension of an embedding.")
        self.description = ModelDescription(
            family=EmbedderFamily.SENTENCE_TRANSFORMERS,
            architecture=" + ".join(type(module).__name__ for module in self._model),
            dimension=int(dimension),
            parameters=count_parameters(self._model),
            kinds=(InputKind.TEXT,),
            encode_config=config.described(
                max_text_tokens=self._model.max_seq_length,
                prompt=self._model.prompts.get(self._model.default_prompt_name or "", ""),
                dtype=dtype_name(dtype),
            ),
        )

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Refuse.

        Raises:
            InputUnsupported: always.
        """
        raise InputUnsupported(f"{self.description.architecture} embeds texts only.")

    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors as the repository's modules make them, shape (len(texts), dimension)."""
        rows: FloatMatrix = self._model.encode(
            list(texts), batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True
        )
        return rows.astype(np.float32, copy=False)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with its marks, after the cut; zeros where the modules need no padding."""
        counts: list[int] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            part = list(texts[start : start + _TEXTS_AT_ONCE])
            mask = self._model.preprocess(part).get("attention_mask")
            counts.extend([0] * len(part) if mask is None else mask.sum(dim=1).tolist())
        return counts

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text, behind the default prompt, is longer than the modules read; modules without limit cut none."""
        limit = self._model.max_seq_length
        if limit is None or not math.isfinite(limit):
            return [False] * len(texts)
        prompt = self.description.encode_config["prompt"]
        tokens = self._model.tokenizer([prompt + text for text in texts], verbose=False)["input_ids"]
        return [len(ids) > limit for ids in tokens]


def load_sentence_transformers(folder: Path, *, device: str, config: EncodeConfig) -> DualEncoder:
    """Load a text repository.

    Raises:
        ModelInvalid: files are missing, damaged or incomplete.
    """
    return DualEncoder(TextTower(folder, device=device, config=config))


def _load(folder: Path, device: str, dtype: torch.dtype) -> Any:
    for module in read_modules(folder) or []:
        if module["type"].endswith(".Transformer"):
            _require_weights(folder / module.get("path", ""))
    with loading_faults(folder):
        return SentenceTransformer(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": dtype, "use_safetensors": True},
        ).eval()


def _require_weights(folder: Path) -> None:
    """sentence-transformers hides which weights were missing, so they are loaded once before to see."""
    with loading_faults(folder):
        _, info = AutoModel.from_pretrained(
            folder,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    require_complete(folder, info, unused=_HEADS_WITHOUT_USE)
