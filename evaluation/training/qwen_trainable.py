"""Qwen's vision-language embedding models with an adapter, as the trainer wants them: the recipe of MedEmb."""

from collections.abc import Sequence
from pathlib import Path

import torch

from evaluation.decoding import DecodedInput
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.protocol import Embedder
from evaluation.embedders.qwen_vl_families import load_qwen_vl
from evaluation.embedding.decoding_ahead import decode_named
from evaluation.inputs import EmbeddingInput
from evaluation.training.adapters import AdapterSettings, add_adapter
from evaluation.training.trainable import Tensors


class QwenTrainable:
    """A base model whose adapters are trained. It reads inputs exactly as the loaded embedder does."""

    def __init__(
        self,
        folder: Path,
        *,
        base_name: str,
        adapter: AdapterSettings,
        config: EncodeConfig,
        device: str,
        seed: int,
        gradient_checkpointing: bool = True,
    ) -> None:
        """Load the base in `folder`.

        Args:
            folder: of a repository of the config's family, checked for safety.
            base_name: the base's id on the hub, for the adapter's configuration.
            adapter: what is added.
            config: how inputs are read.
            device: a torch device.
            seed: of the adapter's start.
            gradient_checkpointing: compute states of a layer again in the backward pass instead of keeping them.

        Raises:
            ModelInvalid: the base cannot be loaded.
            TrainingRefused: the base lacks a layer that is to be adapted.
        """
        self._embedder = load_qwen_vl(folder, device=device, config=config)
        base = self._embedder.network
        if gradient_checkpointing:
            base.activation_checkpointing_enable()  # type: ignore[operator]
        self._adapted = add_adapter(base, adapter, seed=seed)
        self._adapted.peft_config["default"].base_model_name_or_path = base_name
        self._half = torch.device(device).type == "cuda" and config.text("gpu_dtype") == "bfloat16"

    @property
    def network(self) -> torch.nn.Module:
        """The base with its adapters."""
        network: torch.nn.Module = self._adapted
        return network

    @property
    def dimension(self) -> int:
        """Of the hidden states."""
        return self._embedder.description.dimension

    def read(self, item: EmbeddingInput) -> DecodedInput:
        """With all its images decoded."""
        return decode_named(item)

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """Tokens of whole prompts."""
        return self._embedder.token_counts(batch)

    def tensors(self, batch: Sequence[DecodedInput]) -> Tensors:
        """Token ids, mask, patches and grids."""
        return self._embedder.tensors(batch)

    def vectors(self, tensors: Tensors) -> torch.Tensor:
        """Unit-length states of the last tokens; in bfloat16 on a GPU, where adapters stay float32 themselves."""
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self._half):
            return self._embedder.vectors(tensors)

    def embedder(self) -> Embedder:
        """The same network through the embedder's own code."""
        return self._embedder

    def save(self, folder: Path) -> None:
        """adapter_config.json and adapter_model.safetensors."""
        self._adapted.save_pretrained(folder, safe_serialization=True, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)
