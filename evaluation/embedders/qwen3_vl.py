"""Qwen3-VL-Embedding, with or without a LoRA adapter.

The prompt, its image marks and the token types are built here, because the processor of transformers needs torchvision.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from evaluation.decoding import DecodedInput
from evaluation.embedders.adapters import merge_adapter
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.kinds import require_kinds
from evaluation.embedders.loading import (
    compute_dtype,
    count_parameters,
    dtype_name,
    load_image_processor,
    load_tokenizer,
    load_weights,
)
from evaluation.errors import InputUnsupported, ModelInvalid
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily, InputKind

_IMAGE_MARK = "<|image_pad|>"
_MAX_ASPECT_RATIO = 200
_PROMPT = "<|im_start|>system\n{instruction}<|im_end|>\n<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n"


@dataclass(frozen=True, slots=True)
class _Prompt:
    text: str
    image_tokens: int
    patches: torch.Tensor | None
    grid: torch.Tensor | None


class Qwen3VlEmbedder:
    """The hidden state of the last token of a chat prompt.

    The system turn holds the instruction, the user turn the images in order and then the text, and the answer's opening
    mark follows. The slices of a volume are images in order.
    """

    def __init__(self, folder: Path, *, adapter_folder: Path | None, device: str, config: EncodeConfig) -> None:
        dtype = compute_dtype(device, config)
        base = load_weights(AutoModel, folder, dtype=dtype, device=device)
        self._model = base if adapter_folder is None else merge_adapter(base, adapter_folder).eval()
        self._tokenizer = load_tokenizer(folder)
        self._processor = load_image_processor(folder)
        self._device = device
        self._config = config
        self._image_id = int(self._model.config.image_token_id)
        if self._tokenizer.convert_tokens_to_ids(_IMAGE_MARK) != self._image_id or self._tokenizer.pad_token is None:
            raise ModelInvalid(f"{folder.name}: the tokenizer lacks a padding token or the image mark {_IMAGE_MARK}.")
        self.description = ModelDescription(
            family=EmbedderFamily.QWEN3_VL,
            architecture=type(self._model).__name__,
            dimension=int(self._model.config.text_config.hidden_size),
            parameters=count_parameters(self._model),
            kinds=tuple(InputKind),
            encode_config=config.described(dtype=dtype_name(dtype), adapter=adapter_folder is not None),
        )

    @torch.inference_mode()
    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        """Unit-length states of the last tokens, shape (len(batch), dimension).

        Raises:
            InputUnsupported: an image is over 200 times longer than wide, or a text holds the model's image mark.
        """
        require_kinds((decoded.source for decoded in batch), self.description)
        prompts = [self._prompt(decoded) for decoded in batch]
        tokens = self._tokenizer([prompt.text for prompt in prompts], padding="longest", return_tensors="pt")
        token_types = (tokens["input_ids"] == self._image_id).int()
        for decoded, prompt, count in zip(batch, prompts, token_types.sum(dim=1).tolist(), strict=True):
            if count != prompt.image_tokens:
                raise InputUnsupported(f"{decoded.source.label}: its text holds {_IMAGE_MARK}, a mark of the model.")
        inputs = {"input_ids": tokens["input_ids"], "attention_mask": tokens["attention_mask"]}
        patches = [prompt.patches for prompt in prompts if prompt.patches is not None]
        if patches:
            grids = [prompt.grid for prompt in prompts if prompt.grid is not None]
            inputs |= {
                "pixel_values": torch.cat(patches),
                "image_grid_thw": torch.cat(grids),
                "mm_token_type_ids": token_types,
            }
        moved = {name: tensor.to(self._device) for name, tensor in inputs.items()}
        states = self._model(**moved, use_cache=False).last_hidden_state
        pooled = last_token_states(states, moved["attention_mask"]).float()
        rows: FloatMatrix = torch.nn.functional.normalize(pooled, dim=-1).cpu().numpy()
        return rows

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """Tokens of each whole prompt: the marks, the instruction, the text and every image's visual tokens."""
        require_kinds((decoded.source for decoded in batch), self.description)
        texts = [self._prompt_text(decoded.source.instruction, self._cut(decoded.source.text)) for decoded in batch]
        counts = [len(ids) for ids in self._tokenizer(texts)["input_ids"]]
        return [count + self._visual_tokens(decoded) for count, decoded in zip(counts, batch, strict=True)]

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text has more tokens than the config allows."""
        return [self._cut(text) != text for text in texts]

    def _prompt_text(self, instruction: str, content: str) -> str:
        default = self._config.text("default_instruction")
        return _PROMPT.format(instruction=system_instruction(instruction, default=default), content=content)

    def _visual_tokens(self, decoded: DecodedInput) -> int:
        """What `_prompt` puts before the text: each image's tokens with a mark on both sides."""
        if not decoded.images:
            return 0
        _require_aspect(decoded)
        processor = self._processor
        limit = pixel_limit(len(decoded.images), is_volume=decoded.source.is_volume, config=self._config)
        side = processor.patch_size * processor.merge_size
        smallest = self._config.whole("min_pixels")
        return sum(
            2 + (height // side) * (width // side)
            for height, width in (
                smart_resize(image.height, image.width, factor=side, min_pixels=smallest, max_pixels=limit)
                for image in decoded.images
            )
        )

    def _prompt(self, decoded: DecodedInput) -> _Prompt:
        pixels = self._image_inputs(decoded)
        tokens = pixels["image_grid_thw"].prod(dim=1) // self._processor.merge_size**2 if pixels else ()
        marks = "".join(f"<|vision_start|>{_IMAGE_MARK * int(count)}<|vision_end|>" for count in tokens)
        text = self._prompt_text(decoded.source.instruction, marks + self._cut(decoded.source.text))
        if not pixels:
            return _Prompt(text, 0, None, None)
        return _Prompt(text, int(sum(tokens)), pixels["pixel_values"], pixels["image_grid_thw"])

    def _image_inputs(self, decoded: DecodedInput) -> Any:
        """Patches and grids of all images of one input, None without images."""
        if not decoded.images:
            return None
        _require_aspect(decoded)
        limit = pixel_limit(len(decoded.images), is_volume=decoded.source.is_volume, config=self._config)
        size = {"shortest_edge": self._config.whole("min_pixels"), "longest_edge": limit}
        return self._processor(images=list(decoded.images), size=size, return_tensors="pt")

    def _cut(self, text: str) -> str:
        """The text up to the most tokens that the config allows."""
        most = self._config.whole("max_text_tokens")
        if len(text.encode("utf-8", "surrogatepass")) <= most:
            return text
        encoded = self._tokenizer(
            text, add_special_tokens=False, truncation=True, max_length=most, return_offsets_mapping=True
        )
        return text[: encoded["offset_mapping"][-1][1]]


def load_qwen3_vl(
    folder: Path, *, device: str, config: EncodeConfig, adapter_folder: Path | None = None
) -> Qwen3VlEmbedder:
    """Load a Qwen3-VL-Embedding repository.

    Raises:
        ModelInvalid: files are missing, damaged or incomplete.
        AdapterMismatch: the adapter does not fit.
    """
    return Qwen3VlEmbedder(folder, adapter_folder=adapter_folder, device=device, config=config)


def _require_aspect(decoded: DecodedInput) -> None:
    for image in decoded.images:
        if max(image.size) > _MAX_ASPECT_RATIO * min(image.size):
            raise InputUnsupported(f"{decoded.source.label}: {image.width} x {image.height} pixels is too long.")


def system_instruction(instruction: str, *, default: str) -> str:
    """The instruction as the model was trained to read it: the default where empty, and ending in punctuation."""
    stripped = instruction.strip()
    if not stripped:
        return default
    return stripped if unicodedata.category(stripped[-1]).startswith("P") else f"{stripped}."


def pixel_limit(count: int, *, is_volume: bool, config: EncodeConfig) -> int:
    """The most pixels one of `count` images may keep, so that all together keep at most `max_total_pixels`."""
    largest = config.whole("max_slice_pixels" if is_volume else "max_pixels")
    return max(config.whole("min_pixels"), min(largest, config.whole("max_total_pixels") // count))


def last_token_states(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The state at the last unmasked position of each row, on whichever side the padding is; (n, t, d) to (n, d)."""
    positions = torch.arange(mask.shape[1], device=mask.device)
    last = (mask * positions).argmax(dim=1)
    return states[torch.arange(len(states), device=states.device), last]
